"""Check that a model has what an explainer needs; if not, the error names what is missing and what would fit."""

from __future__ import annotations

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable, Linear, Linearisable, Model, Trees, model_name
from jali.core.values import Schema


def linear(name: str, model: Model, schema: Schema) -> Linear:
    """The model as a linear function of the encoded features."""
    found = model if isinstance(model, Linear) else _probe(model, schema)
    if found is None:
        raise JaliError(
            f"{name} needs a model that is linear in its columns, and {model_name(model)} is not: "
            f"{_instead(model)}audit a linear model."
        )
    return found


def differentiable(name: str, model: Model, schema: Schema) -> Differentiable:
    """The model with exact gradients by the encoded features."""
    found = model if isinstance(model, Differentiable) else _probe(model, schema)
    if not isinstance(found, Differentiable):
        raise JaliError(
            f"{name} needs gradients, and {model_name(model)} has none: "
            f"{_instead(model)}audit a linear model or a network (logistic, mlp)."
        )
    return found


def trees(name: str, model: Model) -> Trees:
    """The model as a scikit-learn tree, forest or boosted ensemble that reads the columns without a pipeline."""
    if not isinstance(model, Trees) or not model.has_trees:
        raise JaliError(
            f"{name} needs trees that read the columns themselves, and {model_name(model)} has none: {_instead(model)}"
            "audit a tree, a forest or boosted trees of scikit-learn, outside a pipeline."
        )
    return model


def _has_trees(model: Model) -> bool:
    return isinstance(model, Trees) and model.has_trees


def _probe(model: Model, schema: Schema) -> Linear | None:
    return model.linear(schema) if isinstance(model, Linearisable) else None


def _instead(model: Model) -> str:
    """The advice to choose another explainer, with the names of those that this model supports."""
    has = {
        "gradient": isinstance(model, Differentiable),
        "linear": isinstance(model, Linear),
        "trees": _has_trees(model),
    }
    able = {"labels"} | {what for what, there in has.items() if there}
    fitting = [name for name in registry.names("explain") if registry.find("explain", name).wants in able]
    return f"choose an explainer that fits ({', '.join(fitting)}), or " if fitting else "leave this explainer out, or "
