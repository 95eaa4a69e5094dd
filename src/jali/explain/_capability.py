"""Ask a model for what an explainer needs, or say what is missing and which explainers would fit."""

from __future__ import annotations

from jali import parts
from jali.core import Differentiable, JaliError, Linear, Model, Schema


def linear(name: str, model: Model, schema: Schema) -> Linear:
    """The model as a linear one in model space."""
    found = model if isinstance(model, Linear) else _probe(model, schema)
    if found is None:
        raise JaliError(
            f"{name} needs a model that is linear in its columns, and {_named(model)} is not: "
            f"{_instead(model)}audit a linear model."
        )
    return found


def differentiable(name: str, model: Model, schema: Schema) -> Differentiable:
    """The model with exact gradients in model space."""
    found = model if isinstance(model, Differentiable) else _probe(model, schema)
    if not isinstance(found, Differentiable):
        raise JaliError(
            f"{name} needs gradients, and {_named(model)} has none: "
            f"{_instead(model)}audit a linear model or a network (logistic, mlp)."
        )
    return found


def _probe(model: Model, schema: Schema) -> Linear | None:
    probe = getattr(model, "linear", None)
    return None if probe is None else probe(schema)


def _named(model: Model) -> str:
    return str(getattr(model, "name", type(model).__name__))


def _instead(model: Model) -> str:
    """The explainers that want no more than this model has."""
    able = {"labels", "gradient"} if isinstance(model, Differentiable) else {"labels"}
    fitting = [name for name in parts.names("explain") if _wants(name) in able]
    return f"choose an explainer that fits ({', '.join(fitting)}), or " if fitting else "leave this explainer out, or "


def _wants(name: str) -> str:
    """What an explainer wants of a model; one that only wraps another leaves that to it."""
    return str(getattr(parts.find("explain", name), "wants", ""))
