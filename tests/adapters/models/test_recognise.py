"""Models of any kind that users bring: recognised, asked, trained again, or refused in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.adapters.models.recognise import Trained, as_estimator, brought
from jali.core.errors import JaliError
from jali.models.fitted.answers import probabilities
from jali.models.fitted.estimator import fresh
from jali.models.given import Cloned

QUICK = {"game": "given_model(members=150, shadows=1)", "attack": ["threshold"]}


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


X, y = table()
TRAIN = (X[:150], y[:150])
REST = (X[150:], y[150:])
TREE = DecisionTreeClassifier(random_state=0).fit(*TRAIN)


def grown(X, y, seed):
    return DecisionTreeClassifier(random_state=seed).fit(X, y)


def losses(found):
    """The threshold attack on the loss of the target, which knows nothing but the target."""
    row = found.results.find(metric="auc", signal="loss", attack="threshold")[0]
    return row.value, row.low, row.high


@pytest.mark.parametrize(
    "model",
    [
        TREE.predict_proba,
        lambda X: TREE.predict_proba(X).tolist(),
        lambda X: pd.DataFrame(TREE.predict_proba(X)[:, ::-1], columns=[1, 0]),
        lambda X: TREE.predict_proba(X)[:, 1],
        lambda X: TREE.predict_proba(X)[:, [1]],
        lambda X: [{"1": p, 0: 1 - p} for p in TREE.predict_proba(X)[:, 1]],
    ],
    ids=["method", "lists", "named columns", "one number", "one column", "mappings"],
)
def test_a_function_gives_what_its_model_gives(model):
    np.testing.assert_allclose(as_estimator(model, [0, 1]).predict_proba(X), TREE.predict_proba(X))


def test_an_audit_of_a_function_is_that_of_its_model():
    plain = jali.audit(TREE, train=TRAIN, population=REST, fit=grown, **QUICK)
    found = jali.audit(TREE.predict_proba, train=TRAIN, population=REST, fit=grown, **QUICK)
    assert (found.evidence.value == plain.evidence.value).all()


def test_a_model_that_answers_with_labels_is_a_model_that_is_certain():
    found = as_estimator(TREE.predict, [0, 1]).predict_proba(X)
    np.testing.assert_array_equal(found, np.eye(2)[TREE.predict(X)])


def test_the_order_of_answers_is_checked_and_can_be_named():
    turned = lambda X: TREE.predict_proba(X)[:, ::-1]  # noqa: E731
    with pytest.raises(JaliError, match=r"0 % of the labels.*100 % for 1, 0.*classes=\['1', '0'\]"):
        jali.audit(turned, train=TRAIN, population=REST, **QUICK)
    found = jali.audit(turned, train=TRAIN, population=REST, classes=[1, 0], shadow="logistic", **QUICK)
    truth = TREE.predict_proba(X)[np.arange(600), y]
    at = [str(name) for name in found.evidence.names].index("loss")
    seen = found.evidence.observed[at, :, 0]
    by_hand = np.log(np.clip(truth, 1e-12, 1))
    np.testing.assert_allclose(found.evidence.value[at, seen, 0], by_hand[seen], atol=1e-6)
    assert any("trained by logistic, not as the model itself was" in w for w in found.results.warnings)
    with pytest.raises(JaliError, match="classes must name each class of y once"):
        jali.audit(turned, train=TRAIN, population=REST, classes=[1], **QUICK)


def test_without_shadow_models_the_audit_says_why():
    found = jali.audit(TREE.predict_proba, train=TRAIN, population=REST)
    assert any("cannot be trained again: give fit=" in w for w in found.results.warnings)
    assert found.results.facts["shadows per target"] == 0
    assert found.results.find(attack="quantile")
    with pytest.raises(JaliError, match="needs shadow models"):
        jali.audit(TREE.predict_proba, train=TRAIN, population=REST, **QUICK)
    with pytest.raises(JaliError, match="give one of them"):
        jali.audit(TREE, train=TRAIN, population=REST, fit=grown, shadow="mlp")


def failing(X, y, seed):
    raise RuntimeError("no memory\nsecond line")


@pytest.mark.parametrize(
    ("model", "more", "says"),
    [
        ("logistic", {}, "must be a fitted model of your own, not the text 'logistic'"),
        (DecisionTreeClassifier, {}, "is the class DecisionTreeClassifier"),
        (DecisionTreeClassifier(), {}, "is not fitted"),
        (5, {}, "neither predict_proba nor can be called"),
        (DecisionTreeClassifier().fit(X[:, :2], y), {}, "cannot read rows of this table: X has 3 features"),
        (DecisionTreeClassifier().fit(X, y.astype(str) + "!"), {}, "The model predicts '0!'"),
        (lambda X: np.ones((len(X), 3)) / 3, {}, r"shape \(150, 3\) for 150 rows: expected .* \(150, 2\)"),
        (lambda X: TREE.predict_proba(X)[:7], {}, "gave 7 answers for 150 rows"),
        (lambda X: TREE.predict_proba(X) * 3 - 1, {}, "numbers from -1 to 2: return predict_proba"),
        (lambda X: TREE.predict_proba(X) * np.nan, {}, "gave NaN or infinity for 150 of 150 rows"),
        (lambda X: X.nonsense, {}, "cannot read an array of float64 of shape .150, 3.: AttributeError"),
        (lambda X: ["maybe"] * len(X), {}, "gave one value for each row, such as 'maybe'"),
        (TREE, {"fit": lambda X, y, seed: None}, "returned nothing: end it with `return model`"),
        (TREE, {"fit": failing}, "failed: RuntimeError: no memory$"),
        (TREE, {"fit": 7}, "fit must be a function"),
        (TREE, {"shadow": "forest"}, "There is no model called 'forest'"),
    ],
)
def test_slips_are_one_sentence(model, more, says):
    with pytest.raises(JaliError, match=says) as raised:
        jali.audit(model, train=TRAIN, population=REST, **QUICK, **more)
    assert "\n" not in str(raised.value)


def test_rows_that_are_not_the_models_own_are_noticed():
    found = jali.audit(grown(TRAIN[0], 1 - TRAIN[1], 0), train=TRAIN, population=REST, **QUICK)
    assert any("are these the rows and labels that it was trained on?" in w for w in found.results.warnings)


def test_tables_may_differ_in_harmless_ways_only():
    named = pd.DataFrame(X, columns=list("abc"))
    tree = DecisionTreeClassifier(random_state=0).fit(named[:150], y[:150])
    plain = losses(jali.audit(tree, (named[:150], y[:150]), (named[150:], y[150:]), **QUICK))
    turned = jali.audit(
        tree, (named[:150], y[:150, None].astype(str)), (named[["c", "a", "b"]][150:], y[150:]), **QUICK
    )
    assert losses(turned) == plain
    with pytest.raises(JaliError, match="population lacks 'a'"):
        jali.audit(tree, (named[:150], y[:150]), (named[["b", "c"]][150:], y[150:]), **QUICK)
    with pytest.raises(JaliError, match=r"Column 'a' has type float64 in train and .* in population"):
        jali.audit(tree, (named[:150], y[:150]), (named[150:].astype({"a": str}), y[150:]), **QUICK)


class Unclonable(ClassifierMixin, BaseEstimator):
    """Changes a parameter in its constructor, as CatBoost does with categorical features: `clone` refuses it."""

    def __init__(self, columns=None, random_seed=None):
        self.columns = list(columns or [])
        self.random_seed = random_seed

    def fit(self, X, y):
        self.inner = LogisticRegression().fit(X, y)
        self.classes_ = self.inner.classes_
        return self

    def predict_proba(self, X):
        return self.inner.predict_proba(X)

    def predict(self, X):
        return self.inner.predict(X)


def test_what_cannot_be_cloned_is_rebuilt_from_its_parameters():
    from sklearn.base import clone

    model = Unclonable([1]).fit(*TRAIN)
    with pytest.raises(RuntimeError, match="Cannot clone"):
        clone(model)
    again = fresh(model)
    assert (again.columns, hasattr(again, "classes_")) == ([1], False)
    shadow = Cloned(model).fit(*TRAIN, np.random.default_rng(0))
    assert shadow.random_seed is not None
    np.testing.assert_allclose(shadow.predict_proba(X), model.predict_proba(X))


def test_a_trainer_of_the_user_may_return_any_kind():
    rng = np.random.default_rng(0)
    assert as_estimator(TREE, [0, 1]) is TREE
    for made in (lambda X, y, seed: grown(X, y, 0), lambda X, y: grown(X, y, 0).predict_proba):
        shadow = Trained(made, [0, 1]).fit(*TRAIN, rng)
        np.testing.assert_array_equal(shadow.predict_proba(X), TREE.predict_proba(X))
    seeds = []
    Trained(lambda X, y, seed: seeds.append(seed) or TREE, [0, 1]).fit(*TRAIN, np.random.default_rng(5))
    assert seeds == [int(np.random.default_rng(5).integers(2**31 - 1))]


def test_answers_by_hand():
    assert probabilities("f", np.array(["b", "a"]), ["a", "b"], 2).tolist() == [[0, 1], [1, 0]]
    assert probabilities("f", [2.0, 3.0], [2, 3], 2).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(JaliError, match=r"names the classes x, y, and 'a'"):
        probabilities("f", [{"x": 0.5, "y": 0.5}], ["a", "b"], 1)
    with pytest.raises(JaliError, match="rows of different lengths"):
        probabilities("f", [[0.5, 0.5], [1.0]], ["a", "b"], 2)


def test_xgboost_with_early_stopping_asks_for_fit():
    class XGBClassifier(Unclonable):
        def __init__(self, early_stopping_rounds=5):
            self.early_stopping_rounds = early_stopping_rounds

    model = XGBClassifier().fit(*TRAIN)
    found = brought(model, None, [0, 1], 150)
    assert found.refit is None
    assert "needs an eval_set when it is fitted: give fit=" in found.without
    assert brought(model, grown, [0, 1], 150).refit is not None


def test_a_function_may_change_the_rows_that_it_is_given():
    def emptied(rows):
        out = np.column_stack([1 - rows[:, 0], rows[:, 0]])
        rows[:] = 0.0
        return out

    rows = np.array([[0.25], [0.75]])
    model = as_estimator(emptied, [0, 1])
    assert model.predict_proba(rows).tolist() == model.predict_proba(rows).tolist() == [[0.75, 0.25], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "mine gave nothing: expected an array or list"),
        ((x for x in [0.5]), "mine gave one generator: expected"),
        ({"no": [0.5]}, "mine gave a mapping with the keys no: expected the classes no, yes"),
    ],
)
def test_answers_that_are_no_probabilities_are_named(answer, said):
    with pytest.raises(JaliError, match=said):
        probabilities("mine", answer, ["no", "yes"], 1)


def test_a_mapping_from_classes_to_columns_is_read():
    found = probabilities("mine", {"yes": [0.9, 0.2], "no": [0.1, 0.8]}, ["no", "yes"], 2)
    assert found.tolist() == [[0.1, 0.9], [0.8, 0.2]]


def test_classes_in_the_place_of_probabilities_are_said():
    smooth = LogisticRegression().fit(*TRAIN)
    for model, said in ((smooth.predict, True), (lambda X: smooth.predict(X).tolist(), True), (smooth, False)):
        found = jali.audit(model, TRAIN, REST, shadow="none", explain=[], attack=["threshold"])
        assert any("as if the model gave classes alone" in w for w in found.results.warnings) == said
