"""Explainers of other libraries by name; those that are not installed here say what to install."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Dataset
from tests.explain.networks import SCHEMA, rows, twins
from tests.explaining import explained

HOPED = dataclasses.replace(SCHEMA, favourable=1)
PAIRS = {
    "IntegratedGradients": "integrated_gradients(steps=50)",
    "InputXGradient": "input_x_gradient",
}


def train(n=60):
    X = rows(n, 2)
    return Dataset(X, np.arange(n) % 3, SCHEMA)


def told(name, model, X, data=None):
    return explained(registry.build("explain", name), model, X, SCHEMA, data, np.random.default_rng(0))


@pytest.mark.parametrize("method", PAIRS)
def test_captums_attributions_equal_ours(method):
    pytest.importorskip("captum")
    for model in twins():
        theirs = told(f'captum(method="{method}")', model, rows()).value
        ours = told(PAIRS[method], model, rows()).value
        np.testing.assert_allclose(theirs, ours, atol=1e-5)


def test_shap_reads_trees_as_tree_shap_does():
    pytest.importorskip("shap")
    trainer = registry.build(
        "model", 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=3")'
    )
    data = train()
    model = trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])[0]
    theirs, ours = (told(name, model, rows(), data).value for name in ("shap", "tree_shap"))
    np.testing.assert_allclose(theirs, ours, atol=1e-9)


def test_shaps_kernel_explainer_adds_up_to_the_probability():
    pytest.importorskip("shap")
    from scipy.special import softmax

    model, data = twins()[0], train()
    value = told('shap(algorithm="kernel", background=5, columns=0)', model, rows(6), data).value
    rng = np.random.default_rng(0)
    some = data.X[rng.permutation(len(data))[:5]]
    chance = softmax(model.logits(rows(6)), axis=1)
    of = chance.argmax(axis=1)
    gain = chance[np.arange(6), of] - softmax(model.logits(some), axis=1).mean(axis=0)[of]
    np.testing.assert_allclose(value.sum(axis=1), gain, atol=1e-6)


@pytest.mark.parametrize(("name", "library"), [("lime_tabular", "lime"), ("dice", "dice_ml")])
def test_a_missing_library_is_named_with_what_to_install(name, library):
    if importlib.util.find_spec(library):
        pytest.skip("it is installed")
    with pytest.raises(JaliError, match=f"{name} needs {library}, which is not installed: pip install 'jali-audit"):
        explained(registry.build("explain", name), twins()[0], rows(2), HOPED, train(), np.random.default_rng(0))


def test_a_torch_module_of_a_users_with_captum():
    attr = pytest.importorskip("captum.attr")
    from types import SimpleNamespace

    from jali.adapters.explainers.recognise import recognised

    ours, theirs = twins()
    feed = theirs.encoding.encode
    model = SimpleNamespace(logits=ours.logits, estimator=theirs.module, feed=feed, position=np.arange(3))
    data = train()
    part = recognised(lambda m, background: attr.InputXGradient(m), model, data)
    value = part.prepare(model, SCHEMA, data, np.random.default_rng(0)).explain(rows(), np.random.default_rng(0)).value
    np.testing.assert_allclose(value, told("input_x_gradient", ours, rows()).value, atol=1e-5)


@pytest.mark.parametrize("text", ["shap(background=0)", "lime_tabular(samples=1)", "dice(count=0)"])
def test_settings_are_checked(text):
    with pytest.raises(JaliError, match="must be at least"):
        registry.build("explain", text)


def test_the_real_lime_and_dice_explain_a_network():
    pytest.importorskip("lime")
    pytest.importorskip("dice_ml")
    value = told("lime_tabular(samples=100)", twins()[0], rows(3), train()).value
    assert np.abs(value).sum() > 0
    model, X = twins()[0], rows(20)
    part = registry.build("explain", "dice")
    out = explained(part, model, X, HOPED, train(200), np.random.default_rng(0))
    after = model.logits(out.rows).argmax(axis=1)
    assert out.found.any()
    assert (after[out.found] == 1).mean() > 0.8
