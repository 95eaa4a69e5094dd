"""What people are told: sentences and values that are their own or a group's, and one sentence for every mistake."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import jali
from jali.core.errors import JaliError
from jali.defend.explain.k_groups import KGroups
from jali.defend.explain.private_background import PrivateBackground
from jali.explain.nice import NICE
from tests.protect.people import DECLARED, SETTINGS, applicants, trained


@pytest.fixture(scope="module")
def protected():
    train, _, model = trained()
    return jali.protect(model, train, "k_groups(k=8)", **SETTINGS)


def lone(train: pd.DataFrame, name: str) -> set:
    """Values that exactly one training person has."""
    counts = train[name].value_counts()
    return set(counts[counts == 1].index)


@pytest.mark.parametrize(
    ("method", "immutable"),
    [("k_groups(k=8)", ["age", "sex"]), ("k_anonymous(k=8)", ["sex"]), ("mutual", ["sex"])],
)
def test_no_value_is_one_persons_own_and_nothing_immutable_moves(method, immutable):
    train, others, model = trained()
    settings = SETTINGS | {"quasi": ["age", "sex", "job"], "immutable": immutable}
    answers = jali.protect(model, train, method, **settings).explain(others[0])
    given = [(person, a) for (_, person), a in zip(others[0].iterrows(), answers, strict=True) if a.row]
    assert len(given) > 10
    for person, answer in given:
        assert not set(immutable) & set(answer.region)
        assert all(answer.row[name] == person[name] for name in immutable)
        for name, shown in answer.region.items():
            ends = shown if isinstance(shown, tuple) else set()
            assert not set(ends) & lone(train[0], name)


def test_the_answers_hold(protected):
    _, others, model = trained()
    answers = protected.explain(others[0])
    rows = pd.DataFrame([a.row for a in answers if a.row])
    assert len(rows) > 50
    assert set(model.predict(rows)) == {"yes"}
    asked = model.predict(others[0]) == "no"
    assert np.mean([bool(a.row) for a in np.array(list(answers), dtype=object)[asked]]) > 0.9
    assert all(a.sentence == "The outcome is yes already." for a, no in zip(answers, asked, strict=True) if not no)


def test_the_forms_of_an_answer(protected):
    _, others, _ = trained()
    answers = protected.explain(others[0][:30])
    told = next(a for a in answers if a.row)
    assert told.sentence.startswith("If ")
    assert told.sentence.endswith(", the outcome would be yes.") or "% of the cases" in told.sentence
    assert json.loads(json.dumps(told.to_dict()))["outcome"] == "yes"
    assert len(answers.to_frame()) == 30
    assert len(json.loads(answers.to_json())["answers"]) == 30
    assert "at least 8 training people" in answers.guarantee
    assert "<li>" in answers._repr_html_()
    assert "k_groups" in protected._repr_html_()


def test_one_person_in_any_form(protected):
    _, (others, _), _ = trained()
    person = others.iloc[0]
    forms = [
        person,
        person.to_dict(),
        others[:1],
        [person.to_dict()],
        person.to_list(),
        others[others.columns[::-1]][:1],
    ]
    assert len({protected.explain(form)[0].sentence for form in forms}) == 1


def test_a_row_that_cannot_be_read_gets_a_sentence_and_others_their_answers(protected):
    _, (others, _), _ = trained()
    rows = others[:5].copy().astype({"income": float, "late": float})
    rows.loc[1, "income"] = np.nan
    rows.loc[2, "job"] = "astronaut"
    rows.loc[3, "late"] = 1.5
    answers = protected.explain(rows)
    assert [bool(a.withheld) for a in answers][1:4] == [True] * 3
    assert answers[1].withheld == "Column 'income' holds a missing value or something that is not a number."
    assert answers[2].withheld == "Column 'job' holds a category that is not known here."
    assert "astronaut" not in answers[2].sentence
    assert answers[3].withheld == "Column 'late' holds a number that is not whole."
    assert answers[0].sentence == protected.explain(others[:1])[0].sentence
    far = protected.explain(others[:1].assign(income=1e9, age=10**6))
    assert far[0].sentence


@pytest.mark.parametrize(
    ("rows", "what"), [({"age": 3}, "lack the column 'sex' and 3 more"), ([[1, 2]], "Rows must be"), ("x", "Rows must")]
)
def test_rows_of_another_form_are_refused(protected, rows, what):
    with pytest.raises(JaliError, match=what):
        protected.explain(rows)


def test_the_same_answer_whoever_asks_beside(protected):
    """No state: threads, order and company change nothing."""
    _, (others, _), _ = trained()
    together = [a.sentence for a in protected.explain(others[:12])]
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda i: protected.explain(others.iloc[i])[0].sentence, range(12)))
    assert together == alone


def test_asking_many_times_shows_parts_of_one_list(protected):
    """Tiny changes of the question, and the answers of several people together, stay within the list of groups."""
    _, (others, _), _ = trained()
    ready = protected.ready
    at = [c.name for c in protected.schema.columns].index("income")
    listed = set(zip(ready.regions.low[:, at], ready.regions.high[:, at], strict=True))
    seen = set()
    for shift in np.linspace(-3, 3, 5):
        for answer in protected.explain(others[:40].assign(income=others["income"][:40] + shift)):
            if answer.region and "income" in answer.region:
                seen.add(answer.region["income"])
    assert seen
    assert seen <= listed


def test_three_classes_and_no_favourable_one():
    X, _y = applicants(400, 2)
    X = X[["age", "income", "late"]]
    three = pd.cut(X["income"], [0, 20, 40, 1e9], labels=["low", "middle", "high"]).astype(str)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, three)
    answers = jali.protect(forest, (X, three), "k_groups(k=5)", immutable=["age"]).explain(X[:50])
    told = [a for a in answers if a.row]
    assert len(told) > 40
    assert all("the outcome would be another one" in a.sentence for a in told)
    hoped = jali.protect(forest, (X, three), "k_groups(k=5)", immutable=["age"], favourable="high").explain(X[:50])
    assert any("the outcome would be high" in a.sentence for a in hoped)


def test_thirty_people_and_arrays():
    X, y = applicants(30, 3)
    rows = X[["income", "late"]].to_numpy()
    model = LogisticRegression().fit(rows, y)
    protected = jali.protect(model, (rows, y), "k_groups(k=5)", favourable="yes")
    assert len(protected.explain(rows)) == 30


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "k_groups(k=1000)"}, "k = 1000 is more than the 400 people"),
        ({"method": "k_groups(k=350)"}, "fewer than k = 350 training people"),
        ({"favourable": "maybe"}, "favourable class 'maybe' is none"),
        ({"immutable": ["agee"]}, "no column 'agee'"),
        ({"immutable": ["age", "sex", "job", "income", "late"]}, "all are immutable"),
        ({"method": "k_grups"}, "did you mean k_groups"),
        ({"method": 5}, "method must be a name"),
        ({"method": "logistic"}, "has no privacy guarantee"),
        ({"method": "dp_weights_recourse(weights=dp_logistic(epsilon=1.0, bound=2.0))"}, "no key was given"),
        ({"method": "public_direction(epsilon=0.5)"}, "pass them as population"),
        ({"method": "scfe", "grid": {"income": 5}}, "grid has no meaning"),
        ({"budget": jali.Budget(1.0, "unused.ledger")}, "has no price"),
        ({"grid": {"job": 5}}, "'job' is not a column of numbers"),
        ({"bounds": {"income": 5}}, "must be .low, high"),
    ],
)
def test_a_mistake_is_one_sentence(options, what):
    train, _, model = trained()
    with pytest.raises(JaliError, match=what):
        jali.protect(model, train, **SETTINGS | options)


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("hardened(kernel_shap(), round=2, top=2)", "Most for or against"),
        ("k_rules(tree_surrogate(), k=10)", "If "),
        (KGroups(k=5), "If "),
        (PrivateBackground(NICE("sparsity"), epsilon=4.0), "If "),
    ],
)
def test_other_explainers_are_worded_and_priced(method, told):
    train, others, model = trained()
    protected = jali.protect(model, train, method, **DECLARED)
    answers = protected.explain(others[0][:20])
    assert any(a.sentence.startswith(told) for a in answers)
    measures = {line.measure for line in protected.price((others[0][:40], others[1][:40])).lines}
    kind = {"attribution": "deletion", "surrogate": "imitation", "counterfactual": "fidelity"}
    assert kind[protected.method.explainer_for(protected.model).gives] in measures


def test_no_value_of_the_rows_is_in_the_repr(protected):
    assert repr(protected) == f"k_groups(k=8): {protected.guarantee}"


def test_save_and_load(protected, tmp_path):
    train, (others, _), model = trained()
    protected.save(tmp_path)
    again = jali.Protected.load(tmp_path, model)
    assert [a.to_dict() for a in again.explain(others)] == [a.to_dict() for a in protected.explain(others)]
    assert again.guarantee == protected.guarantee
    other = clone(model).set_params(logisticregression__C=1e-4)
    with pytest.raises(JaliError, match="not the model"):
        jali.Protected.load(tmp_path, other.fit(*train))
    with pytest.raises(JaliError, match="pass it as model"):
        jali.Protected.load(tmp_path)
    with pytest.raises(JaliError, match="Cannot read"):
        jali.Protected.load(tmp_path / "nowhere")


def test_refusing_a_category_tells_which_ones_occur_so_they_must_be_declared():
    """Who asks with a job that nobody has is told so; where jobs were read from the rows, the guarantee says it."""
    train, (others, _), model = trained()
    asked = others[:1].assign(job="astronaut")
    for options, warned in ((SETTINGS, True), (DECLARED, False)):
        protected = jali.protect(model, train, **options)
        assert "category that is not known" in protected.explain(asked)[0].withheld
        assert any("which categories of sex, job occur" in c.text for c in protected.guarantee.conditions) == warned


def test_dates_are_words_and_an_immutable_one_never_moves():
    train, (others, _), _ = trained()
    began = pd.Timestamp("2020-01-01")

    def dated(table):
        days = pd.to_timedelta(table["age"] * 30 + table["late"], unit="D")
        return table.drop(columns="age").assign(joined=began + days)

    rows = dated(train[0])
    protected = jali.protect("logistic", (rows, train[1]), favourable="yes", immutable=["joined", "sex"])
    asked = dated(others)
    answers = protected.explain(asked)
    told = [(person, answer) for (_, person), answer in zip(asked.iterrows(), answers, strict=True) if answer.row]
    assert told
    for person, answer in told:
        assert answer.row["joined"] == person["joined"].date().isoformat()
        assert "joined" not in (answer.region or {})
    assert "not a date" in protected.explain(asked[:1].assign(joined="some day"))[0].withheld
    texts = asked[:20].assign(joined=asked["joined"].dt.strftime("%Y-%m-%d"))
    assert [a.to_dict() for a in protected.explain(texts)] == [a.to_dict() for a in answers[:20]]


def test_a_date_that_moves_is_written_as_one():
    rng = np.random.default_rng(0)
    since = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, 400), unit="D")
    rows = pd.DataFrame({"since": since, "late": rng.integers(0, 3, 400)})
    good = np.where((since < "2018-01-01") & (rows["late"] < 2), "yes", "no")
    protected = jali.protect("logistic", (rows, good), favourable="yes")
    told = [a for a in protected.explain(rows) if "since" in (a.region or {})]
    assert told
    for answer in told:
        low, high = answer.region["since"]
        assert "2000-01-01" < low <= high < "2030-01-01"
        assert low in answer.sentence
    assert protected.explain(rows).to_frame()["since"].dropna().str.startswith("20").all()
