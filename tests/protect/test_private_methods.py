"""Methods with differential privacy: when a claim holds, when it is void, and who pays."""

from __future__ import annotations

import os

import numpy as np
import pytest

import jali
from jali.core.errors import JaliError
from jali.privacy.ledger import BudgetError
from tests.protect.people import BOUNDS, DECLARED, SETTINGS, applicants, trained

STABLE = "clipped_logistic(bound=2.0, C=0.05)"


def test_a_private_model_explains_for_free_and_its_claim_is_checked(tmp_path):
    train, (others, labels), model = trained()
    protected = jali.protect(model, train, "dp_logistic(epsilon=5.0, bound=2.0)", **DECLARED)
    assert protected.guarantee.epsilon == 5.0
    assert not protected.guarantee.void
    answers = protected.explain(others)
    told = [a for a in answers if a.row]
    assert len(told) > 20
    assert set(protected.predict([a.row for a in told])) == {"yes"}
    assert protected.price((others, labels)).find("accuracy").plain > 0.8
    protected.save(tmp_path)
    again = jali.Protected.load(tmp_path)
    assert [a.sentence for a in again.explain(others)] == [a.sentence for a in answers]


def test_bounds_from_the_rows_and_seeds_make_a_claim_void():
    train, _, _ = trained()
    settings = {"favourable": "yes", "immutable": ["age", "sex"]}
    loose = jali.protect(None, train, "dp_logistic(epsilon=5.0, bound=2.0)", **settings)
    assert "were taken from the rows" in loose.guarantee.void
    assert str(loose.guarantee).startswith("VOID")
    seeded = jali.protect(None, train, "dp_logistic(epsilon=5.0, bound=2.0)", **DECLARED, seed=1)
    assert "was drawn from a seed" in seeded.guarantee.void
    twice = jali.protect(None, train, "dp_logistic(epsilon=5.0, bound=2.0)", **DECLARED, seed=1)
    assert np.array_equal(seeded.model.coef, twice.model.coef)
    fresh = [jali.protect(None, train, "dp_logistic(epsilon=5.0, bound=2.0)", **DECLARED) for _ in range(2)]
    assert not np.array_equal(fresh[0].model.coef, fresh[1].model.coef)


def test_private_networks_can_be_saved(tmp_path):
    pytest.importorskip("dp_accounting")
    train, (others, _), _ = trained()
    protected = jali.protect(None, train, "dp_sgd(mlp(hidden=[4], epochs=2), epsilon=8.0, rate=1.0)", **DECLARED)
    assert protected.guarantee.delta == 1e-5
    protected.save(tmp_path)
    again = jali.Protected.load(tmp_path)
    assert again.predict(others) == protected.predict(others)


def test_recourse_from_private_weights_needs_a_key(tmp_path):
    train, (others, _), model = trained()
    key = tmp_path / "recourse.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(32))
    method = f'dp_weights_recourse(weights=dp_logistic(epsilon=8.0, bound=2.0, C=0.1), beta=1.0, key="{key}")'
    protected = jali.protect(model, train, method, **DECLARED)
    assert not protected.guarantee.void
    assert any(a.row for a in protected.explain(others))
    with pytest.raises(JaliError, match="a file would have to hold"):
        protected.save(tmp_path / "saved")


@pytest.mark.parametrize("method", ["public_direction(epsilon=0.5)", "above_threshold(epsilon=0.5, reach=6.0)"])
def test_answers_are_paid_for_until_the_budget_is_spent(method, tmp_path):
    train, population, _ = trained()
    with pytest.raises(JaliError, match="budget=jali"):
        jali.protect(STABLE, train, method, population, **DECLARED)
    budget = jali.Budget(1.0, tmp_path / "answers.ledger")
    protected = jali.protect(STABLE, train, method, population, **DECLARED, budget=budget)
    others = applicants(40, 7)[0]
    denied = others[np.array(protected.predict(others)) == "no"]
    first = protected.explain(denied[:2])
    assert budget.answers_left(0.5) == 0
    assert [a.to_dict() for a in protected.explain(denied[:2])] == [a.to_dict() for a in first]
    assert protected.explain(others[np.array(protected.predict(others)) == "yes"])[0].sentence.endswith("already.")
    assert protected.explain(denied[:1].assign(job="astronaut"))[0].withheld
    with pytest.raises(BudgetError, match=r"costs epsilon = 0\.5"):
        protected.explain(denied[2:3])
    assert budget.state().answers == 2
    with pytest.raises(JaliError, match="another explainer"):
        protected.price(population)


def test_public_people_who_were_trained_on_are_not_public(tmp_path):
    train, _, _ = trained()
    budget = jali.Budget(1.0, tmp_path / "answers.ledger")
    protected = jali.protect(STABLE, train, "public_direction(epsilon=0.5)", train, **DECLARED, budget=budget)
    assert "rows of its public data are also in the data" in protected.guarantee.void


def test_people_with_several_rows_are_told_their_own_epsilon_and_pay_it(tmp_path):
    (table, labels), (others, decided), _ = trained()
    population = others.assign(person=1000 + np.arange(len(others))), decided
    named = table.assign(person=np.arange(len(table)) // 3), labels
    settings = DECLARED | {"groups": "person"}
    protected = jali.protect(None, named, "dp_logistic(epsilon=2.0, bound=2.0)", **settings)
    assert protected.guarantee.epsilon == 6.0
    assert "for people with up to 3 rows" in str(protected.guarantee)
    budget = jali.Budget(3.0, tmp_path / "answers.ledger")
    paid = jali.protect(STABLE, named, "public_direction(epsilon=0.5)", population, **settings, budget=budget)
    assert paid.guarantee.epsilon == 1.5
    denied = others[np.array(paid.predict(others)) == "no"]
    paid.explain(denied[:1])
    assert budget.state().spent == pytest.approx(1.5)


def test_a_model_without_a_stability_bound_is_refused(tmp_path):
    train, population, model = trained()
    budget = jali.Budget(1.0, tmp_path / "answers.ledger")
    with pytest.raises(JaliError, match="clipped_logistic"):
        jali.protect(model, train, "public_direction(epsilon=0.5)", population, **DECLARED, budget=budget)
    assert set(BOUNDS) == set(train[0].columns)
    assert SETTINGS["favourable"] == "yes"


@pytest.mark.parametrize(
    "method", ["k_groups", "k_rules(tree_surrogate(), k=10)", "k_rules(trepan(sample=50), k=10)", "private_background"]
)
def test_a_table_with_gaps_is_refused_in_one_sentence_by_what_reads_its_rows(method):
    (X, y), _, _ = trained()
    holes = X.assign(income=X["income"].where(np.arange(len(X)) % 7 > 0))
    with pytest.raises(JaliError, match="cannot explain rows with missing numbers, and column 'income' has"):
        jali.protect("logistic", (holes, y), method, **SETTINGS)


def test_a_private_model_of_a_table_with_gaps_answers_those_who_have_none():
    (X, y), (others, _), _ = trained()
    holes = X.assign(income=X["income"].where(np.arange(len(X)) % 7 > 0))
    protected = jali.protect(None, (holes, y), "dp_logistic(epsilon=50.0, bound=2.0)", **SETTINGS)
    asked = others.head(20).assign(income=others["income"].head(20).where(np.arange(20) > 0))
    answers = protected.explain(asked)
    assert "income" in answers[0].withheld
    assert any(answer.row for answer in answers)
