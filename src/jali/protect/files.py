"""Protected explainers as files: JSON and npz, without pickle and without training rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.protocols import Linear, Model
from jali.core.values import Column, Schema
from jali.explain.native.groups import PreparedGroups
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from jali.protect.explainer import ProtectedExplainer
from jali.protect.methods import Method, method_of
from jali.protect.protection import Protection
from jali.store import read_arrays, write_arrays, write_text

FORMAT = "jali.protected/1"
ABOUT = "protected.json"
ARRAYS = "protected.npz"
PROBES = 200  # groups whose nearest rows show that a model is the one that the groups were made for
Arrays = Mapping[str, npt.NDArray[Any]]


def save(explainer: ProtectedExplainer, folder: Path) -> Path:
    """Write what the explainer needs to answer, and no training row; a model of the user's own is not written."""
    arrays = _arrays(explainer)
    about = {
        "format": FORMAT,
        "method": explainer.method.text,
        "grid": explainer.method.grid,
        "schema": asdict(explainer.schema) | {"outcome": explainer.schema.outcome},
        "guarantee": explainer.guarantee.to_dict(),
    }
    write_arrays(folder / ARRAYS, arrays)
    write_text(folder / ABOUT, json.dumps(about, indent=1, ensure_ascii=False))
    return folder / ABOUT


def load(folder: Path, model: Model | None = None) -> ProtectedExplainer:
    """Read an explainer; model: the one that it was made for, where that is the user's own."""
    about = described(folder)
    arrays = read_arrays(folder / ARRAYS)
    schema = schema_of(about)
    guarantee = Protection.from_dict(about["guarantee"])
    if "coef" in arrays or "weight0" in arrays:
        own = _restored(arrays, schema)
        method = Method(about["method"], None, registry.build("model", about["method"], modules=()))
        ready = method.explainer_for(own).prepare(own, schema, None, np.random.default_rng(0))
        return ProtectedExplainer(schema, own, method, ready, guarantee)
    if model is None:
        raise JaliError("These groups were made for a model of your own, which is not in the file: pass it as model=….")
    ready = _groups(arrays, schema, model)
    found = model.logits(_probes(ready)).argmax(axis=1)
    if not np.array_equal(found, arrays["decided"]):
        raise JaliError("This is not the model that the groups were made for: pass that one, or make new groups.")
    method = method_of(about["method"], None, about["grid"])
    return ProtectedExplainer(schema, model, method, ready, guarantee)


def described(folder: Path) -> dict[str, Any]:
    """What the file says about the explainer; any other file is refused."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except OSError as error:
        raise JaliError(f"Cannot read {folder / ABOUT}: {error.strerror}.") from None
    except ValueError as error:
        raise JaliError(f"{folder / ABOUT} is not valid JSON: {error}.") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise JaliError(f"{folder / ABOUT} is no file of format {FORMAT}: give a folder that `save` wrote.")
    return about


def schema_of(about: Mapping[str, Any]) -> Schema:
    """The schema in the file."""
    given = dict(about["schema"])
    columns = tuple(Column(**(c | {"categories": tuple(c["categories"])})) for c in given.pop("columns"))
    image = given.pop("image")
    classes = tuple(given.pop("classes"))
    return Schema(columns, classes, image=None if image is None else tuple(image), **given)


def _arrays(explainer: ProtectedExplainer) -> Arrays:
    ready = explainer.ready
    if isinstance(ready, PreparedGroups):
        regions = ready.regions
        kept = {"low": regions.low, "high": regions.high, "allowed": regions.allowed, "label": ready.label}
        numbers = {"people": ready.people, "settings": np.array([ready.k, ready.floor, ready.tries])}
        return kept | numbers | {"decided": ready.model.logits(_probes(ready)).argmax(axis=1)}
    model = explainer.model
    if explainer.method.trainer is not None and isinstance(model, Network):
        layers = {f"weight{i}": w for i, w in enumerate(model.weights)}
        return layers | {f"bias{i}": b for i, b in enumerate(model.biases)}
    if explainer.method.trainer is not None and isinstance(model, Linear):
        return {"coef": model.coef, "intercept": model.intercept}
    raise JaliError(
        f"{explainer.method.text} reads the training rows or a key for every answer, and a file would have to hold "
        "them: make it again with jali.protect where it is used, or choose k_groups or a private model."
    )


def _groups(arrays: Arrays, schema: Schema, model: Model) -> PreparedGroups:
    k, floor, tries = arrays["settings"].tolist()
    regions = Regions(arrays["low"], arrays["high"], arrays["allowed"], schema)
    return PreparedGroups(model, regions, arrays["label"], arrays["people"], int(k), floor, int(tries))


def _probes(ready: PreparedGroups) -> npt.NDArray[np.float64]:
    """Rows (G, D) at the lower ends of groups; columns without ends are at their centre, or have the first category."""
    regions = ready.regions.pick(np.arange(min(PROBES, len(ready.regions))))
    centre = np.array([np.rint(c.centre) if c.kind == "integer" else c.centre for c in regions.schema.columns])
    return np.where(np.isfinite(regions.low), regions.low, centre)


def _restored(arrays: Arrays, schema: Schema) -> Model:
    encoding = Encoding(schema)
    if "coef" in arrays:
        return LinearModel(encoding, arrays["coef"], arrays["intercept"])
    depth = sum(name.startswith("weight") for name in arrays)
    weights = tuple(arrays[f"weight{i}"] for i in range(depth))
    return Network(encoding, weights, tuple(arrays[f"bias{i}"] for i in range(depth)))
