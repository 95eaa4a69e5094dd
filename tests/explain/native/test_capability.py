from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.tables.images import pixels
from jali.explain.native.capability import differentiable, linear, trees
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from tests.explaining import explained

SCHEMA = Schema((Column("a"), Column("b")))


class Labels:
    """A model that answers and tells nothing else."""

    name = "OnlyLabels"

    def logits(self, X):
        return np.stack([X[:, 0], -X[:, 0]], axis=1)


def wants(name):
    return getattr(registry.find("explain", name), "wants", "")


def gives(name):
    return getattr(registry.find("explain", name), "gives", "")


def test_the_refusal_names_what_fits_a_model_without_gradients():
    with pytest.raises(JaliError, match="scfe needs gradients, and OnlyLabels has none") as refusal:
        differentiable("scfe", Labels(), SCHEMA)
    named = str(refusal.value).split("(")[1].split(")")[0].split(", ")
    assert named == [n for n in registry.names("explain") if wants(n) == "labels"]
    assert "scfe" not in named


def test_a_network_is_offered_gradients_where_it_is_not_linear():
    net = Network(Encoding(SCHEMA), (np.eye(2), np.eye(2)), (np.zeros(2), np.zeros(2)))
    with pytest.raises(JaliError, match="linear in its columns") as refusal:
        linear("linear_recourse", net, SCHEMA)
    assert "scfe" in str(refusal.value)
    assert "linear_recourse," not in str(refusal.value)
    assert differentiable("scfe", net, SCHEMA) is net


@pytest.mark.parametrize("name", ["input_x_gradient", "saliency", "integrated_gradients", "gradient_shap"])
def test_attributions_by_gradients_say_what_fits_instead(name):
    explainer = registry.build("explain", name)
    with pytest.raises(JaliError, match=f"{name} needs gradients, and OnlyLabels has none: .*kernel_shap, lime"):
        explained(explainer, Labels(), np.ones((2, 2)), SCHEMA, None, np.random.default_rng(0))


WRAPS = {"reason_codes", "shap", "lime_tabular"}  # these say it of what they wrap, or read the training rows first


@pytest.mark.parametrize("name", [n for n in registry.names("explain") if gives(n) == "attribution" and n not in WRAPS])
def test_pictures_of_another_shape_are_refused_in_one_sentence(name):
    schema = Schema(pixels(1, 8), image=(1, 8, 8))
    model = LinearModel(Encoding(schema), np.ones((64, 2)), np.zeros(2))
    if name in ("tree_shap", "tree_paths"):
        data = Dataset(np.random.default_rng(0).integers(0, 256, (40, 64)), np.arange(40) % 2, schema)
        trainer = registry.build("model", 'sklearn(estimator="sklearn.tree:DecisionTreeClassifier")')
        model = trainer.fit(data, np.ones((40, 1), dtype=bool), [np.random.default_rng(0)])[0]
    for shape in ((3, 49), (3, 65), (3, 8, 8)):
        with pytest.raises(
            JaliError, match=rf"{name} explains rows of 64 columns \(images of \(1, 8, 8\)\), not \(3, "
        ):
            explained(registry.build("explain", name), model, np.ones(shape), schema, None, np.random.default_rng(0))


def test_a_forest_is_offered_what_reads_trees():
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(40, 2)), np.arange(40) % 2, SCHEMA)
    trainer = registry.build(
        "model", 'sklearn(estimator="sklearn.ensemble:ExtraTreesClassifier", params="n_estimators=2")'
    )
    forest = trainer.fit(data, np.ones((40, 1), dtype=bool), [rng])[0]
    assert trees("tree_shap", forest) is forest
    with pytest.raises(JaliError, match="saliency needs gradients, and ExtraTreesClassifier has none") as refusal:
        differentiable("saliency", forest, SCHEMA)
    assert "tree_shap" in str(refusal.value)
    with pytest.raises(JaliError, match="tree_shap needs trees") as refusal:
        trees("tree_shap", Labels())
    assert "growing_spheres" in str(refusal.value)
    assert "saliency" not in str(refusal.value)
