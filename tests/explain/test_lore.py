from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.gaussian_mixture import GaussianMixture
from jali.explain._attribution import slopes
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.neighbourhood import GENERATORS
from jali.explain._surrogate.records import Records
from jali.explain.lore import Lore
from jali.text.rules import hits, rule_support, support
from tests.contracts.test_explain import people
from tests.explaining import explained

every = pytest.mark.parametrize("generator", GENERATORS)
NETWORK = "mlp(hidden=[50], epochs=60)"
FOREST = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=20")'


def setting(n: int = 400, box: str = FOREST):
    data = people(n, 0)
    return data, registry.build("model", box).fit(data, np.ones((n, 1), bool), [np.random.default_rng(0)])[0]


def explain(model, X, train, seed=0, **fields):
    return explained(Lore(**fields), model, X, train.schema, train, np.random.default_rng(seed))


def fresh(model, X, train, seed=99, **fields):
    """Neighbourhoods that no tree has seen."""
    return Lore(**fields).neighbourhood(
        Records(model, X, Marginals.of(train.X, train.schema)), np.random.default_rng(seed)
    )


def agreement(made, near) -> np.ndarray:
    rows = zip(made.models, near.rows, near.labels, strict=True)
    return np.array([np.mean(m.logits(r).argmax(axis=1) == label) for m, r, label in rows])


@every
def test_the_factual_rule_is_true_of_its_record_and_the_others_are_not(generator):
    data, model = setting()
    X = people(15, 1).X
    label, made = model.logits(X).argmax(axis=1), explain(model, X, data, generator=generator, samples=400)
    assert made.found.all()
    assert hits(made, model, X).all()
    assert np.mean([len(local.rules()) > 1 for local in made.models]) > (0.8 if generator == "counterfactual" else 0)
    for x, y, local in zip(X, label, made.models, strict=True):
        factual, *others = local.rules()
        assert factual.covers(x[None])[0]
        assert factual.outcome == y
        assert not any(rule.covers(x[None])[0] or rule.outcome == y for rule in others)


def changed(rule, x, train):
    """The record with each value that a rule forbids replaced by the nearest among all people that it allows."""
    row, terms = x.copy(), [term for term in rule.premise if not term.holds(x[None])[0]]
    for term in terms:
        column = train.schema.columns[term.column]
        if column.kind == "category":
            allowed = train.X[np.isin(train.X[:, term.column], term.codes), term.column]
            row[term.column] = np.bincount(allowed.astype(int)).argmax()
        else:
            up = x[term.column] <= term.low
            step = 1 if column.kind == "integer" else 1e-12
            row[term.column] = np.floor(term.low / step + 1) * step if up else np.floor(term.high / step) * step
    return row, len(terms)


@every
def test_counterfactual_rules_need_the_fewest_changes_among_those_that_the_black_box_confirms(generator):
    data, model = setting()
    X = people(10, 1).X
    for x, local in zip(X, explain(model, X, data, samples=400, generator=generator).models, strict=True):
        factual, *others = local.rules()
        rest = [rule for rule in local.tree.rules() if rule.outcome != factual.outcome]
        there = {rule: changed(rule, x, data) for rule in rest}
        right = {r: n for r, (z, n) in there.items() if model.logits(z[None]).argmax() == r.outcome}
        assert set(others) == {rule for rule, count in right.items() if count == min(right.values())}


@pytest.mark.parametrize(
    ("name", "box"),
    [("breast_cancer", FOREST), ("lending", FOREST), pytest.param("breast_cancer", NETWORK, marks=pytest.mark.slow)],
)
def test_trees_agree_with_the_black_box_on_neighbourhoods_they_have_not_seen(name, box):
    data = registry.build("data", name).load()
    own, X = data.rows(np.arange(500)), data.X[500:508]
    model = registry.build("model", box).fit(own, np.ones((500, 1), bool), [np.random.default_rng(0)])[0]
    made, near = explain(model, X, own), fresh(model, X, own)
    assert near.both.all()
    assert agreement(made, near).mean() >= 0.95


def test_counterfactual_rules_hold_for_the_black_box_in_the_neighbourhood_they_come_from():
    data, model = setting()
    X, seed = people(10, 1).X, int(np.random.default_rng(0).integers(2**31))
    made, near = explain(model, X, data, samples=400), fresh(model, X, data, seed, samples=400)
    for local, rows, labels in zip(made.models, near.rows, near.labels, strict=True):
        for rule in local.rules():
            there = rule.covers(rows)
            assert there.any()
            assert (labels[there] == rule.outcome).all()


def test_sentences_say_what_is_and_what_would_have_to_be_otherwise():
    data, model = setting()
    x = people(5, 1).X[:1]
    factual, other, *_ = explain(model, x, data, generator="counterfactual").models[0].rules()
    assert factual.sentence(data.schema).startswith("If ")
    assert factual.change(x[0], data.schema).startswith("Nothing would have to change")
    assert "(now " in other.change(x[0], data.schema)


@every
def test_three_classes(generator):
    data = GaussianMixture(n=1500, d=6, separation=4.0).load()
    own, X = data.rows(np.arange(1000)), data.X[1000:1012]
    model = registry.build("model", "logistic").fit(own, np.ones((1000, 1), bool), [np.random.default_rng(0)])[0]
    made, near = (f(model, X, own, generator=generator, samples=600) for f in (explain, fresh))
    assert near.both.all()
    assert hits(made, model, X).all()
    assert agreement(made, near).mean() > 0.8
    assert {rule.outcome for local in made.models for rule in local.rules()} == {0, 1, 2}


def test_the_seed_settles_everything_and_another_gives_other_rows():
    data, model = setting()
    X = people(4, 1).X
    one, again, other = (explain(model, X, data, seed, samples=200, trees=2) for seed in (1, 1, 2))
    assert [local.rules() for local in one.models] == [local.rules() for local in again.models]
    assert [local.rules() for local in one.models] != [local.rules() for local in other.models]


def test_a_tree_errs_on_no_row_that_it_was_grown_on():
    data, model = setting()
    X, seed = people(6, 1).X, int(np.random.default_rng(0).integers(2**31))
    made = explain(model, X, data, samples=400)
    np.testing.assert_array_equal(agreement(made, fresh(model, X, data, seed, samples=400)), 1.0)


@pytest.mark.parametrize("generator", ["genetic", "random"])
def test_the_check_is_on_near_rows_that_no_tree_was_grown_on(generator):
    data, model = setting()
    X = people(6, 1).X
    last = int(np.random.default_rng(0).integers(2**31, size=3)[-1])
    made = explain(model, X, data, samples=200, trees=2, generator=generator, check=True)
    near = fresh(model, X, data, last, samples=200)
    np.testing.assert_array_equal(made.fidelity, agreement(made, near))
    assert made.fidelity.min() < 1
    plain = explain(model, X, data, samples=200, trees=2, generator=generator)
    assert plain.fidelity is None
    assert [local.rules() for local in plain.models] == [local.rules() for local in made.models]


def test_neighbourhoods_are_local():
    data, model = setting()
    X = people(15, 1).X
    records = Records(model, X, Marginals.of(data.X, data.schema))
    far = {g: records.distance(fresh(model, X, data, generator=g).rows).mean() for g in GENERATORS}
    assert far["genetic"] < 0.5 * far["random"]
    assert far["counterfactual"] < far["random"]


def test_merged_trees_are_steadier():
    """Trees of two seeds agree on rows that neither has seen, more so where each is merged from five."""
    data, model = setting()
    X = people(20, 1).X
    near = fresh(model, X, data, samples=300)

    def steady(trees: int) -> float:
        two = [explain(model, X, data, seed, samples=300, trees=trees) for seed in (1, 2)]
        pairs = zip(two[0].models, two[1].models, near.rows, strict=True)
        return float(np.mean([a.logits(r).argmax(axis=1) == b.logits(r).argmax(axis=1) for a, b, r in pairs]))

    assert steady(5) > steady(1)
    assert hits(explain(model, X, data, samples=300, trees=5), model, X).all()


def test_order_and_blocks_change_nothing(monkeypatch):
    data, model = setting()
    X = people(9, 1).X
    rules = [local.rules() for local in explain(model, X, data, samples=200).models]
    assert [local.rules() for local in explain(model, X[::-1], data, samples=200).models] == rules[::-1]
    monkeypatch.setattr(slopes, "CELLS", 1)
    assert [local.rules() for local in explain(model, X, data, samples=200).models] == rules


def test_rules_say_how_many_training_rows_they_cover():
    data, model = setting()
    local = explain(model, people(1, 1).X, data).models[0]
    count = support(local.rules(), data.X)
    np.testing.assert_array_equal(count, [rule.covers(data.X).sum() for rule in local.rules()])
    assert support(local.tree.rules(), data.X).sum() == len(data)


def test_people_share_their_factual_rule_with_as_many_as_it_covers():
    data, model = setting()
    made = explain(model, data.X[:6], data, samples=300)
    want = [local.rules()[0].covers(data.X).sum() for local in made.models]
    np.testing.assert_array_equal(rule_support(made, data.X[:6], data.X), want)
    assert min(want) >= 1  # they were trained on, and the rule is true of them


def test_the_black_box_answers_all_records_in_one_call_of_a_generation():
    data, model = setting()

    class Counting:
        calls = 0

        def logits(self, X):
            self.calls += 1
            return model.logits(X)

    one, many = Counting(), Counting()
    explain(one, people(1, 1).X, data, samples=200)
    explain(many, people(30, 1).X, data, samples=200)
    assert one.calls == many.calls < 20


def test_one_class_everywhere_is_one_leaf_and_not_found():
    data, _ = setting(50)

    class Same:
        def logits(self, X):
            return np.tile([0.0, 1.0], (len(X), 1))

    made = explain(Same(), data.X[:4], data, samples=100)
    assert not made.found.any()
    assert [local.rules()[0].sentence(data.schema) for local in made.models] == ["In all cases 1."] * 4


def test_constant_columns_and_a_training_set_of_one_row():
    schema = Schema((Column("a"), Column("still")))
    train = Dataset(np.column_stack([np.linspace(-1, 1, 50), np.full(50, 3.0)]), np.zeros(50), schema)

    class Sign:
        def logits(self, X):
            return np.stack([-X[:, 0], X[:, 0]], axis=1)

    made = explain(Sign(), train.X[:3], train, samples=100)
    assert made.found.all()
    assert all({term.column for rule in local.rules() for term in rule.premise} == {0} for local in made.models)
    assert not explain(Sign(), train.X[:3], train.rows(np.array([0])), samples=100).found.any()


def test_bad_input():
    data, model = setting(50)
    with pytest.raises(JaliError, match=r"lore reads the training set, but none was given: pass it as train"):
        explained(Lore(), model, data.X, data.schema, None, np.random.default_rng(0))
    with pytest.raises(JaliError, match="generator must be one of genetic, mixed"):
        Lore(generator="greedy")
    for fields in ({"samples": 7}, {"generations": 0}, {"trees": 0}):
        with pytest.raises(JaliError, match="samples must be at least 8, generations and trees at least 1"):
            Lore(**fields)
    nobody = explain(model, data.X[:0], data)
    assert nobody.models == ()
    assert len(nobody.found) == 0


@pytest.mark.slow
def test_trees_agree_with_the_black_box_on_adult(real_data, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(real_data))
    data = registry.build("data", "adult").load()
    own, X = data.rows(np.arange(3000)), data.X[3000:3020]
    model = registry.build("model", FOREST).fit(own, np.ones((3000, 1), bool), [np.random.default_rng(0)])[0]
    made, near = explain(model, X, own), fresh(model, X, own)
    assert near.both.all()
    assert hits(made, model, X).all()
    assert all(local.rules()[0].covers(x[None])[0] for local, x in zip(made.models, X, strict=True))
    assert agreement(made, near).mean() >= 0.95


# --- what is not found, and how far rules hold ---------------------------------------------------------------------


def numeric():
    """Twenty numbers and a linear model that reads all of them: no tree of few splits has its boundary."""
    data = GaussianMixture(n=700, d=20, classes=2, separation=2.0).load()
    own = data.rows(np.arange(600))
    model = registry.build("model", "logistic").fit(own, np.ones((600, 1), bool), [np.random.default_rng(0)])[0]
    return own, model, data.X[600:620]


def test_a_record_without_a_counterfactual_rule_says_so():
    own, model, X = numeric()
    made = explain(model, X, own, samples=400)
    assert made.found.all()
    np.testing.assert_array_equal(made.countered, [len(local.rules()) > 1 for local in made.models])
    assert made.countered.mean() < 0.5
    for x, local, there in zip(X, made.models, made.countered, strict=True):
        last = local.sentences(x, own.schema)[-1]
        assert (last == "No rule with another outcome was found that the model confirms.") != there


def test_sentences_state_the_share_of_the_training_rows_for_which_they_hold():
    data, model = setting()
    X = people(12, 1).X
    made = explain(model, X, data, generator="counterfactual", samples=400)
    label = model.logits(data.X).argmax(axis=1)
    shares = []
    for x, local in zip(X, made.models, strict=True):
        told = local.sentences(x, data.schema)
        for rule, sentence in zip(local.rules(), told, strict=False):
            inside = rule.covers(data.X)
            if inside.sum() >= 10:
                shares.append((label[inside] == rule.outcome).mean())
                assert f"(true of {100 * shares[-1]:.0f} % of the training rows that this covers)" in sentence
            else:
                assert "% of the training rows" not in sentence
    assert min(shares) < 0.9  # a rule that holds for its record need not hold for everybody
