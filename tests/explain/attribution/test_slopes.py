from __future__ import annotations

import captum.attr
import numpy as np
import pytest
import torch

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.explain._attribution import slopes
from jali.explain._attribution.slopes import Slopes, blocks, public_rows, scores
from jali.explain.native.placing import placed
from jali.models.fitted import network
from jali.models.fitted.torch_network import TorchModel
from tests.explain.networks import SCHEMA, rows, twins
from tests.explain.networks import captum as reference
from tests.explaining import explained
from tests.pictures import bars, members, streams


def test_a_torch_module_has_the_slopes_of_the_same_network():
    X = rows()
    ours, theirs = (Slopes.of("saliency", model, SCHEMA).records(X) for model in twins())
    np.testing.assert_array_equal(ours.of, theirs.of)
    np.testing.assert_allclose(ours.gradient(ours.Z), theirs.gradient(theirs.Z), atol=1e-5)


@pytest.mark.parametrize("hidden", [(), (50,), (40, 20)])
def test_averages_on_the_way_are_those_of_single_points(hidden, monkeypatch):
    monkeypatch.setattr(network, "MARGINS", 400)
    start, at, share = np.linspace(-1, 1, 9), np.array([0.1, 0.4, 1.0]), np.array([0.2, 0.5, 0.1])
    ours, theirs = (Slopes.of("integrated_gradients", model, SCHEMA).records(rows()) for model in twins(hidden))
    single = sum(w * ours.gradient(start + t * (ours.Z - start)) for t, w in zip(at, share, strict=True))
    np.testing.assert_allclose(ours.average(start, at, share), single, atol=1e-6)
    np.testing.assert_allclose(theirs.average(start, at, share), single, atol=1e-5)


def test_the_slopes_of_a_network_do_not_depend_on_blocks(monkeypatch):
    net, _ = twins()
    question = Slopes.of("saliency", net, SCHEMA).records(rows())
    whole = question.gradient(question.Z)
    monkeypatch.setattr(network, "MARGINS", 100)
    np.testing.assert_allclose(question.gradient(question.Z), whole, atol=1e-6)


def test_pictures_through_a_convolution_equal_captum():
    torch.manual_seed(0)
    layers = (
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(36, 5),
    )
    module = torch.nn.Sequential(torch.nn.Unflatten(1, (1, 8, 8)), *layers).eval()
    schema = Schema(tuple(Column(f"p{j}", spread=2.0) for j in range(64)), tuple("01234"), image=(1, 8, 8))
    model, X = TorchModel(Encoding(schema), module), np.random.default_rng(0).normal(size=(20, 64))
    for name, method, how in (
        ("input_x_gradient", captum.attr.InputXGradient, {}),
        ("saliency", captum.attr.Saliency, {}),
        ("integrated_gradients(steps=20)", captum.attr.IntegratedGradients, {"n_steps": 20, "internal_batch_size": 7}),
    ):
        found = explained(registry.build("explain", name), model, X, schema, None, np.random.default_rng(0)).value
        np.testing.assert_allclose(found, reference(method, model, X, **how), atol=1e-5)


def test_public_rows_are_legal_even_and_always_the_same():
    columns = (
        Column("age", "integer", 18, 90, 45, 15),
        Column("pay", "number", 0, 90, 30, 20),
        Column("job", "category", categories=("a", "b", "c", "d")),
    )
    X = public_rows(Schema(columns), 255)
    np.testing.assert_array_equal(X, public_rows(Schema(columns), 255))
    np.testing.assert_array_equal(X[0], [45, 30, 2])
    assert X[:, 1].min() == 0
    assert X[:, 0].max() <= 90
    np.testing.assert_array_equal(X[:, 0], np.rint(X[:, 0]))
    assert X[:, 0].mean() == pytest.approx(45, abs=1)
    assert np.bincount(X[:, 2].astype(int)).min() >= 63


def test_scores_are_those_of_the_class_asked_for():
    net, _ = twins()
    X = rows(6)
    of = np.array([0, 1, 2])
    got = scores(net, X.reshape(3, 2, -1), of)
    np.testing.assert_allclose(got, net.logits(X).reshape(3, 2, 3)[np.arange(3), :, of], atol=1e-6)


def test_blocks_cover_all_records_once(monkeypatch):
    monkeypatch.setattr(slopes, "CELLS", 100)
    assert [len(range(10)[some]) for some in blocks(10, 30)] == [3, 3, 3, 1]
    assert len(blocks(10, 1000)) == 10  # one record at least
    assert blocks(0, 1) == []


def test_what_a_column_of_categories_says_goes_to_the_one_the_record_has():
    X = rows(20)
    value = np.random.default_rng(0).normal(size=X.shape)
    out = placed(value, X, SCHEMA)
    np.testing.assert_allclose(out.sum(axis=1), value.sum(axis=1))
    np.testing.assert_array_equal(out[:, 6:] != 0, Encoding(SCHEMA).encode(X)[:, 6:] == 1)


# --- networks on pictures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trainer", ["convnet(epochs=2)", "vit(width=32, depth=2, epochs=2)"])
def test_attributions_of_pictures_are_those_of_captum_and_complete(trainer):
    pytest.importorskip("transformers", reason="the extra jali-audit[vision] is not installed")
    data = bars(60, channels=3)
    model = registry.build("model", trainer).fit(data, members(60, 1), streams(1))[0]
    X = data.X[:5]
    methods = {
        "input_x_gradient": (captum.attr.InputXGradient, {}),
        "saliency": (captum.attr.Saliency, {}),
        "integrated_gradients(steps=20)": (captum.attr.IntegratedGradients, {"n_steps": 20}),
    }
    for name, (method, how) in methods.items():
        found = explained(registry.build("explain", name), model, X, data.schema, None, np.random.default_rng(0)).value
        np.testing.assert_allclose(found, reference(method, model, X, **how), atol=1e-5)
    centre, top = np.full((1, X.shape[1]), 127.5), model.logits(X).argmax(axis=1)
    rise = model.logits(X)[np.arange(5), top] - model.logits(centre)[0, top]
    np.testing.assert_allclose(found.sum(axis=1), rise, atol=0.05 * np.abs(rise).max())
