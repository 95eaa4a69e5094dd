"""Regression models: two sides of a threshold, membership from the squared error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import jali
from jali.core.errors import JaliError
from jali.data.tables.in_memory import OwnTables
from jali.data.tables.outcomes import Cut, cut_at

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
T = X @ [2.0, 1.0, 0.0, -1.0] + 10 + RNG.normal(size=600)
TRAIN = (X[:200], T[:200])
REST = (X[200:], T[200:])
GAME = {"game": "given_model(members=200, shadows=1)", "attack": ["threshold"]}
FOREST = RandomForestRegressor(10, random_state=0).fit(*TRAIN)


def auc(found, signal="squared_error", attack="threshold"):
    return found.results.find(metric="auc", signal=signal, attack=attack)[0]


def test_the_table_has_the_sides_as_classes_and_the_numbers_as_outcome():
    data = OwnTables(TRAIN, REST, None, cut=Cut(10.0, 2.0, "below")).load()
    assert data.schema.classes == ("below 10", "at least 10")
    assert data.schema.favourable == 0
    assert (data.y == (T >= 10)).all()
    np.testing.assert_allclose(data.outcome, (T - 10) / 2)
    np.testing.assert_allclose(data.rows(np.array([3, 5])).outcome, (T[[3, 5]] - 10) / 2)


def test_squared_error_finds_a_planted_overfit_and_nothing_on_a_null():
    found = jali.audit(FOREST, train=TRAIN, population=REST, **GAME)
    assert auc(found).low > 0.6
    at = [str(name) for name in found.evidence.names].index("squared_error")
    by_hand = -np.log(np.maximum(((FOREST.predict(X) - T) / T[:200].std()) ** 2, 1e-12))
    np.testing.assert_allclose(found.evidence.value[at, :, 0], by_hand, atol=1e-6)
    other = RandomForestRegressor(10, random_state=0).fit(X[400:], T[400:])
    null = jali.audit(other, train=TRAIN, population=(X[200:400], T[200:400]), **GAME)
    assert auc(null).low < 0.5 < auc(null).high
    assert any("No threshold was given" in w for w in found.results.warnings)


def test_shadow_models_learn_the_numbers_themselves():
    seen = []

    def fit(X, y, seed):
        seen.append(np.isin(np.round(y, 9), np.round(T, 9)).all())
        return RandomForestRegressor(10, random_state=seed).fit(X, y)

    jali.audit(FOREST.predict, train=TRAIN, population=REST, fit=fit, **GAME)
    assert seen == [True]


def test_recourse_needs_a_threshold_and_reaches_it():
    line = LinearRegression().fit(*TRAIN)
    settings = {"train": TRAIN, "population": REST, "explain": ["linear_recourse"], **GAME}
    with pytest.raises(JaliError, match=r"linear_recourse gives recourse, .* only with a threshold"):
        jali.audit(line, **settings)
    found = jali.audit(line, threshold=11, **settings)
    assert found.results.facts["classes"] == ["below 11", "at least 11"]
    valid = found.results.find(metric="validity", explainer="linear_recourse")[0]
    assert valid.value == 1.0


@pytest.mark.parametrize(
    ("labels", "more", "says"),
    [
        (T[:200], {"threshold": 500}, "on one side of the threshold 500"),
        (T[:200], {"threshold": 10, "favourable": "yes"}, "favourable must be 'at least' or 'below'"),
        (T[:200], {"threshold": 10, "shadow": "mlp"}, "for a regression model give fit="),
        (np.where(T[:200] > 10, "a", "b"), {"threshold": 10}, "y of train holds no numbers"),
        (np.full(200, 3.5), {}, "All values of y are the same"),
        (np.where(T[:200] > 10, np.nan, 1.5), {}, "y of train has missing labels"),
        (np.where(T[:200] > 10, np.inf, 1.5), {}, "missing or infinite"),
    ],
)
def test_slips_are_one_sentence(labels, more, says):
    with pytest.raises(JaliError, match=says):
        jali.audit(FOREST, train=(X[:200], labels), population=REST, **more)


def test_a_classifier_has_no_threshold():
    sides = LogisticRegression().fit(X[:200], T[:200] > 10)
    with pytest.raises(JaliError, match="LogisticRegression is a classifier: leave it out"):
        jali.audit(sides, (X[:200], T[:200] > 10), (X[200:], T[200:] > 10), threshold=0.5)


def test_the_median_is_the_cut_where_no_threshold_is_given():
    cut = cut_at([1.0, 2.0, 6.0], None, None)
    assert (cut.threshold, cut.favourable) == (2.0, "")
    assert cut.spread == pytest.approx(np.std([1.0, 2.0, 6.0]))
    assert cut_at([1.0, 2.0, 6.0], 4, None).favourable == "at least"
