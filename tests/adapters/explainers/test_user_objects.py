"""What users' explainers are given as the model: the user's own object, whatever adapter stands between."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from jali.adapters.explainers.recognise import recognised
from jali.adapters.explainers.user_view import UserView
from jali.adapters.models.function import FunctionModel
from jali.adapters.models.http import HttpModel
from jali.adapters.models.recognise import as_estimator
from jali.adapters.models.regression import Regressor
from jali.core.values import Column, Dataset, Schema
from jali.data.tables.outcomes import Cut
from jali.models.given import Given

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
SCHEMA = Schema(tuple(Column(name) for name in "abc"), classes=("0", "1"))
DATA = Dataset(X, (X[:, 0] > 0).astype(int), SCHEMA)
WEIGHT = np.array([2.0, -1.0, 0.5])


def answer(explain, estimator, schema=SCHEMA):
    """Attributions of an explainer for an estimator, and the decisions."""
    data = Dataset(X, DATA.y, schema)
    model = Given(estimator, inputs="array").existing(data)
    part = recognised(explain, model, data)
    rng = np.random.default_rng(0)
    ready = part.prepare(model, schema, data, rng)
    return ready.explain(X, rng).value, model.logits(X).argmax(axis=1)


def module(outputs: int, flat: bool = False):
    torch = pytest.importorskip("torch")
    weight = np.stack([-WEIGHT, WEIGHT])[-outputs:]
    layer = torch.nn.Linear(3, outputs, bias=False)
    layer.load_state_dict({"weight": torch.tensor(weight, dtype=torch.float32)})
    return torch.nn.Sequential(layer, torch.nn.Flatten(0)) if flat else layer


@pytest.mark.parametrize(("outputs", "flat"), [(2, False), (1, False), (1, True)])
def test_captum_explains_a_module_towards_the_decision(outputs, flat):
    captum = pytest.importorskip("captum.attr")
    found, decision = answer(captum.InputXGradient, as_estimator(module(outputs, flat), [0, 1]))
    np.testing.assert_allclose(found, np.where(decision == 1, 1, -1)[:, None] * X * WEIGHT, atol=1e-6)


def test_a_module_arrives_as_a_module():
    torch = pytest.importorskip("torch")

    def gradient(model, rows):
        assert isinstance(model, torch.nn.Module)
        return model.weight.detach().numpy()[1] * rows

    found, _ = answer(gradient, as_estimator(module(2), [0, 1]))
    np.testing.assert_allclose(found, X * WEIGHT, atol=1e-6)


def test_a_regression_model_arrives_as_it_is_and_is_explained_for_its_number():
    schema = Schema(SCHEMA.columns, classes=("below 0", "at least 0"))
    model = LinearRegression().fit(X, X @ WEIGHT)
    found, decision = answer(lambda model, rows: model.coef_ * rows, Regressor(model, Cut(0.0, 1.0)), schema)
    np.testing.assert_allclose(found, np.where(decision == 1, 0.5, -0.5)[:, None] * X * WEIGHT, atol=1e-6)


def test_a_function_can_be_called_and_has_probabilities():
    def mine(rows):
        return 1 / (1 + np.exp(-rows @ WEIGHT))

    def explain(model, rows):
        np.testing.assert_allclose(model(rows), model.predict_proba(rows)[:, 1])
        assert set(model.predict(rows)) <= {0, 1}
        return rows * model(rows)[:, None] + 0.001

    found, _ = answer(explain, as_estimator(mine, [0, 1]))
    np.testing.assert_allclose(found, X * mine(X)[:, None] + 0.001)


def test_an_object_without_classes_arrives_as_it_is_and_an_endpoint_with_arrays():
    class Mine:
        def predict_proba(self, rows):
            return np.tile([0.2, 0.8], (len(rows), 1))

    mine = Mine()
    assert as_estimator(mine, [0, 1]).own is mine
    endpoint = as_estimator(HttpModel("http://localhost:1"), [0, 1])
    assert isinstance(endpoint.own, FunctionModel)


def test_lime_is_given_probabilities_of_a_module():
    class Local:
        """Explains as LIME does, by a function of arrays; here by differences."""

        def explain_instance(self, row, predict, labels, num_features):
            ahead = predict(row + 1e-2 * np.eye(3))
            slopes = (ahead - predict(row[None]))[:, labels[0]]
            return type("Map", (), {"as_map": lambda _: {labels[0]: list(enumerate(slopes))}})()

    found, decision = answer(lambda model, background: Local(), as_estimator(module(2), [0, 1]))
    assert (np.sign(found) == np.where(decision == 1, 1, -1)[:, None] * np.sign(WEIGHT)).all()


def test_the_view_of_a_model_reads_rows_of_the_user():
    model = Given(as_estimator(module(2), [0, 1]), inputs="array").existing(DATA)
    view = UserView.of(model, SCHEMA)
    score = X @ WEIGHT * 2
    np.testing.assert_allclose(view.probabilities(X)[:, 1], 1 / (1 + np.exp(-score)), atol=1e-6)


def test_attributions_by_name_are_put_in_their_places():
    pandas = pytest.importorskip("pandas")
    weights = as_estimator(lambda rows: 1 / (1 + np.exp(-rows @ WEIGHT)), [0, 1])

    def table(model, rows):
        values = pandas.DataFrame(rows * model(rows)[:, None] + 0.01, columns=list("abc"))
        return values[["c", "a", "b"]]

    from jali.adapters.explainers.recognise import Wanted

    found, _ = answer(Wanted(table, "attribution"), weights)
    by_name = Wanted(lambda model, rows: table(model, rows).to_dict("records"), "attribution")
    np.testing.assert_allclose(answer(by_name, weights)[0], found)
    np.testing.assert_allclose(found, X * weights(X)[:, None] + 0.01)
