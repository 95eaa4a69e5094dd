from __future__ import annotations

import numpy as np
import pytest

from jali.audit import quality
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.linear import LinearModel

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 40, 10),
        Column("income", "number", 0, 200, 50, 25),
        Column("job", "category", categories=("a", "b", "c")),
        Column("fixed", mutable=False),
    ),
    favourable=1,
)
X = np.array([[30.0, 50.0, 0.0, 1.0], [40.0, 75.0, 2.0, 1.0], [50.0, 25.0, 1.0, 1.0]])
ROWS = np.array([[50.0, 50.0, 1.0, 1.0], [40.0, 125.0, 2.0, 1.0], [50.0, 25.0, 1.0, 1.0]])
THERE = Counterfactual(ROWS, np.array([True, True, False]))

RNG = np.random.default_rng(0)


def test_costs_by_hand():
    """Moves in model space: (2, 0, one-hot -1 +1), (0, 2), nothing."""
    np.testing.assert_array_equal(quality.cost(X, THERE, SCHEMA, "l0"), [3, 1, 0])
    np.testing.assert_allclose(quality.cost(X, THERE, SCHEMA, "l1"), [4, 2, 0])
    np.testing.assert_allclose(quality.cost(X, THERE, SCHEMA, "l2"), [np.sqrt(6), 2, 0])


def test_sparsity_is_the_share_of_raw_columns_and_ignores_rounding():
    noise = Counterfactual(ROWS + np.array([0, 1e-12, 0, 0]), THERE.found)
    np.testing.assert_array_equal(quality.sparsity(X, noise, SCHEMA), [0.5, 0.25, 0])


def test_validity_asks_the_model():
    coef = np.zeros((6, 2))
    coef[1, 1] = 1.0  # favourable above an income of 75
    model = LinearModel(Encoding(SCHEMA), coef, np.array([0.0, -1.0]))
    counterfactuals = Counterfactual(ROWS, np.array([True, True, True]))
    np.testing.assert_array_equal(quality.validity(model, X, counterfactuals, SCHEMA), [0, 1, 0])
    already = np.array([[30.0, 150.0, 0.0, 1.0]])
    done = Counterfactual(already + np.array([1, 0, 0, 0]), np.array([True]))
    assert quality.validity(model, already, done, SCHEMA)[0] == 0
    missing = Counterfactual(ROWS, np.zeros(3, bool))
    assert not quality.validity(model, X, missing, SCHEMA).any()


def test_without_a_favourable_class_any_other_one_is_valid():
    schema = Schema((Column("a"),), classes=("0", "1", "2"))
    model = LinearModel(Encoding(schema), np.array([[-1.0, 0.0, 1.0]]), np.array([-1.0, 0.0, -1.0]))
    counterfactuals = Counterfactual(np.array([[2.0], [-2.0], [0.5]]), np.ones(3, bool))
    np.testing.assert_array_equal(quality.validity(model, np.zeros((3, 1)), counterfactuals, schema), [1, 1, 0])


def test_plausibility_by_hand():
    """Rows at 0 and 10; class 1 has training rows at 1, 3, 8; class 0 at 4."""
    schema = Schema((Column("a"),))
    train = Dataset(np.array([[1.0], [3.0], [8.0], [4.0]]), [1, 1, 1, 0], schema)
    counterfactuals = Counterfactual(np.array([[0.0], [10.0], [0.0]]), np.ones(3, bool))
    np.testing.assert_allclose(quality.plausibility(counterfactuals, np.array([1, 1, 0]), train, k=2), [2, 4.5, 4])


def test_plausibility_against_a_neighbour_tree():
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}", spread=2.0) for j in range(6)))
    train = Dataset(rng.normal(size=(700, 6)), rng.integers(0, 2, 700), schema)
    counterfactuals = Counterfactual(rng.normal(size=(600, 6)), np.ones(600, bool))  # more than one block
    wanted = rng.integers(0, 2, 600)
    ours = quality.plausibility(counterfactuals, wanted, train, k=7)
    for c in (0, 1):
        far, _ = cKDTree(train.X[train.y == c] / 2).query(counterfactuals.rows[wanted == c] / 2, k=7)
        np.testing.assert_allclose(ours[wanted == c], far.mean(axis=1), rtol=1e-7)


def test_appraise_puts_all_measures_together_and_says_where_they_speak():
    """One column x, favourable above 1.5; training rows of class 1 at 2 and 5."""
    schema = Schema((Column("x"),), favourable=1)
    model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.array([0.0, -1.5]))
    train = Dataset(np.array([[2.0], [5.0], [0.0]]), [1, 1, 0], schema)
    counterfactuals = Counterfactual(np.array([[2.0], [1.0], [3.0]]), np.array([True, False, False]))
    value, speaks = quality.appraise(
        model, np.array([[0.0], [1.0], [3.0]]), counterfactuals, quality.Neighbourhood(train), RNG
    )
    at = {name: (value[k], speaks[k]) for k, name in enumerate(quality.MEASURES)}
    assert at["validity"][1].tolist() == [True, True, False]  # the third has what it hopes for
    assert at["validity"][0][:2].tolist() == [1, 0]
    for name, number in {"cost_l0": 1, "cost_l1": 2, "cost_l2": 2, "sparsity": 1, "plausibility": 1.5}.items():
        assert at[name][1].tolist() == [True, False, False]
        assert at[name][0][0] == pytest.approx(number)


def test_plausibility_is_silent_where_the_training_set_has_no_row_of_the_class():
    schema = Schema((Column("x"),), favourable=1)
    model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.zeros(2))
    train = Dataset(np.zeros((3, 1)), [0, 0, 0], schema)
    counterfactuals = Counterfactual(np.array([[1.0]]), np.array([True]))
    _, speaks = quality.appraise(model, np.array([[-1.0]]), counterfactuals, quality.Neighbourhood(train), RNG)
    assert speaks[:, 0].tolist() == [True] * 5 + [False] * 9


def test_plausibility_says_what_is_missing():
    train = Dataset(np.zeros((3, 1)), [0, 0, 0], Schema((Column("a"),)))
    counterfactuals = Counterfactual(np.zeros((1, 1)), np.array([True]))
    with pytest.raises(JaliError, match="class '1', and there are none"):
        quality.plausibility(counterfactuals, np.array([1]), train)
    with pytest.raises(JaliError, match="at least 1"):
        quality.plausibility(counterfactuals, np.array([0]), train, k=0)


def test_reliance_is_the_accuracy_that_hangs_on_quasi_identifiers():
    """The model reads the first column alone: with it the quasi-identifier, all accuracy beyond a coin hangs on it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    model_of = lambda schema: LinearModel(Encoding(schema), np.array([[0.0, 9.0], [0.0, 0.0]]), np.zeros(2))  # noqa: E731
    for column, want in ((0, 0.5), (1, 0.0)):
        roles = ["quasi" if j == column else "private" for j in range(2)]
        schema = Schema(tuple(Column(f"x{j}", role=role) for j, role in enumerate(roles)))
        value, counterfactuals = quality.reliance(model_of(schema), Dataset(X, X[:, 0] > 0, schema), rng)
        assert counterfactuals.all()
        assert value.mean() == pytest.approx(want, abs=0.04)
    plain = Schema((Column("a"), Column("b")))
    assert not quality.reliance(model_of(plain), Dataset(X, X[:, 0] > 0, plain), rng)[1].any()


@pytest.mark.parametrize(("role", "given", "asked"), [("private", False, 0), ("quasi", False, 2), ("quasi", True, 1)])
def test_reliance_asks_the_model_no_more_than_it_must(role, given, asked):
    schema = Schema((Column("a", role=role), Column("b")))
    model = LinearModel(Encoding(schema), np.array([[0.0, 9.0], [0.0, 1.0]]), np.zeros(2))
    rows = np.random.default_rng(1).normal(size=(50, 2))
    records = Dataset(rows, rows[:, 0] > 0, schema)
    calls = []

    class Counting:
        def logits(self, X):
            calls.append(len(X))
            return model.logits(X)

    predicted = model.logits(rows).argmax(axis=1) if given else None
    found = quality.reliance(Counting(), records, np.random.default_rng(2), predicted)
    assert calls == [50] * asked
    np.testing.assert_array_equal(found, quality.reliance(model, records, np.random.default_rng(2)))
    assert found[0].any() == (role == "quasi")
