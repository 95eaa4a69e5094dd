import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.audit.shadow_copies import NAME

MEMBERS = 60


def people(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(3)
    return X, ((X[:, 0] > 0) ^ (rng.random(n) < 0.3)).astype(int)


def checked(model, fit):
    X, y = people()
    train, population = (X[:MEMBERS], y[:MEMBERS]), (X[MEMBERS:], y[MEMBERS:])
    game = f"given_model(members={MEMBERS}, shadows=2)"
    found = jali.audit(model.fit(*train), train, population, fit=fit, game=game, attack=["lira"]).results
    return found, [check.name for check in found.sanity if not check.passed]


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, LogisticRegression])
def test_a_fit_that_ignores_its_rows_makes_the_audit_invalid(kind):
    X, y = people()
    found, failed = checked(
        kind(random_state=0), lambda _X, _y, _seed: kind(random_state=0).fit(X[:MEMBERS], y[:MEMBERS])
    )
    assert not found.valid
    assert NAME in failed


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, LogisticRegression])
def test_a_fit_that_trains_does_not(kind):
    _, failed = checked(kind(random_state=0), lambda X, y, seed: kind(random_state=seed).fit(X, y))
    assert NAME not in failed


def test_models_that_agree_because_there_is_nothing_to_remember_do_not():
    class Rule:
        classes_ = np.array([0, 1])

        def fit(self, _X, _y):
            return self

        def predict_proba(self, X):
            return np.eye(2)[(X[:, 0] > 0).astype(int)]

    _, failed = checked(Rule(), lambda _X, _y, _seed: Rule())
    assert NAME not in failed


def test_a_fit_that_ignores_its_rows_and_uses_the_seed_is_warned_about():
    X, y = people()
    fit = lambda _X, _y, seed: DecisionTreeClassifier(random_state=seed).fit(X[:MEMBERS], y[:MEMBERS])  # noqa: E731
    found, _ = checked(DecisionTreeClassifier(random_state=0), fit)
    assert any("does fit train on the X and y that it is given" in text for text in found.warnings)
    trained = lambda X, y, seed: DecisionTreeClassifier(random_state=seed).fit(X, y)  # noqa: E731
    found, _ = checked(DecisionTreeClassifier(random_state=0), trained)
    assert not any("does fit train" in text for text in found.warnings)
