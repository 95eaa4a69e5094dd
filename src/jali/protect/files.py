"""Protected explainers as files: JSON and npz, without pickle and without training rows."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.protocols import Linear, Model
from jali.core.values import Schema
from jali.defend.explain.k_groups import KGroups
from jali.explain.native.groups import PreparedGroups
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from jali.protect.explainer import ProtectedExplainer
from jali.protect.methods import Method, method_of
from jali.protect.received import ABOUT, FORMAT, About, Arrays, checked
from jali.store import read_arrays, together, write_arrays, write_text

ARRAYS = "protected.npz"
PROBES = 200  # groups whose nearest rows show that a model is the one that the groups were made for
MOST = 2.0**53  # of a setting of groups, and of the ends of whole numbers


def save(explainer: ProtectedExplainer, folder: Path) -> Path:
    """Write what the explainer needs to answer, and no training row; a model of the user's own is not written."""
    arrays = _arrays(explainer)
    about = {
        "format": FORMAT,
        "method": explainer.method.text,
        "grid": explainer.method.grid,
        "schema": asdict(_without_extremes(explainer)) | {"outcome": explainer.schema.outcome},
        "guarantee": explainer.guarantee.to_dict(),
    }
    with together():
        write_arrays(folder / ARRAYS, arrays)
        write_text(folder / ABOUT, json.dumps(about, indent=1, ensure_ascii=False))
    return folder / ABOUT


def load(folder: Path, about: About, model: Model | None = None) -> ProtectedExplainer:
    """Read an explainer; about: its text. model: the one that it was made for, where that is the user's own."""
    arrays = read_arrays(folder / ARRAYS)
    schema = about.table
    if "coef" in arrays or "weight0" in arrays:
        own = _restored(folder, arrays, schema)
        method = Method(about.method, None, registry.build("model", about.method, modules=()))
        ready = method.explainer_for(own).prepare(own, schema, None, np.random.default_rng(0))
        return ProtectedExplainer(schema, own, method, ready, about.guarantee)
    if model is None:
        raise JaliError("These groups were made for a model of your own, which is not in the file: pass it as model=….")
    ready = _groups(folder, arrays, schema, model)
    found = model.logits(_probes(ready)).argmax(axis=1)
    if not np.array_equal(found, arrays["decided"]):
        raise JaliError("This is not the model that the groups were made for: pass that one, or make new groups.")
    part = registry.build("explain", about.method, modules=())  # the file may be somebody else's: it imports nothing
    if not isinstance(part, KGroups):
        raise JaliError(f"{folder / ABOUT}: groups are made by k_groups, not by {about.method!r}.")
    method = replace(method_of(part, None, about.grid), text=about.method)
    return ProtectedExplainer(schema, model, method, ready, about.guarantee)


def _without_extremes(explainer: ProtectedExplainer) -> Schema:
    """The schema for a file of groups: where a column begins and ends is one person's value, unless it was declared.

    The groups do not use it. The outermost ends of groups, which the file holds anyway, stand in its place.
    """
    schema = explainer.schema
    if not isinstance(explainer.ready, PreparedGroups):
        return schema
    regions = explainer.ready.regions
    columns = []
    for j, column in enumerate(schema.columns):
        if column.kind != "category" and column.known == "observed":
            low = regions.low[:, j].min(initial=np.inf)
            high = regions.high[:, j].max(initial=-np.inf)
            ends = (float(low), float(high)) if low <= high else (-math.inf, math.inf)
            column = replace(column, low=ends[0], high=ends[1])
        columns.append(column)
    return replace(schema, columns=tuple(columns))


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


def _groups(folder: Path, arrays: Arrays, schema: Schema, model: Model) -> PreparedGroups:
    file = folder / ARRAYS
    kinds = {"low": "f", "high": "f", "allowed": "b", "label": "iu", "people": "iu", "settings": "f", "decided": "iu"}
    checked(file, arrays, kinds)
    regions = Regions(arrays["low"], arrays["high"], arrays["allowed"], schema)
    label = arrays["label"]
    people = arrays["people"]
    settings = arrays["settings"].astype(np.float64)
    sized = label.shape == people.shape == (len(regions),) and settings.shape == (3,)
    named = sized and ((label >= 0) & (label < len(schema.classes))).all()
    ordered = ((regions.low <= regions.high) & (regions.low < np.inf) & (regions.high > -np.inf)).all()
    ends = np.abs(np.stack([regions.low, regions.high])[:, :, [c.kind == "integer" for c in schema.columns]])
    ordered = ordered and (np.isinf(ends) | (ends <= MOST)).all()
    if not named or not ordered or not ((settings >= 0) & (settings <= MOST)).all():
        raise JaliError(f"{file}: its arrays do not fit each other or the table: make the explainer again.")
    k, floor, tries = settings.tolist()
    return PreparedGroups(model, regions, label, people, int(k), floor, int(tries))


def _probes(ready: PreparedGroups) -> npt.NDArray[np.float64]:
    """Rows (G, D) at the lower ends of groups; columns without ends are at their centre, or have the first category."""
    regions = ready.regions.pick(np.arange(min(PROBES, len(ready.regions))))
    centre = np.array([np.rint(c.centre) if c.kind == "integer" else c.centre for c in regions.schema.columns])
    return np.where(np.isfinite(regions.low), regions.low, centre)


def _restored(folder: Path, arrays: Arrays, schema: Schema) -> Model:
    encoding = Encoding(schema)
    file = folder / ARRAYS
    model: Model
    if "coef" in arrays:
        checked(file, arrays, {"coef": "f", "intercept": "f"})
        model = LinearModel(encoding, arrays["coef"], arrays["intercept"])
    else:
        depth = sum(name.startswith("weight") for name in arrays)
        checked(file, arrays, {f"{kind}{i}": "f" for kind in ("weight", "bias") for i in range(depth)})
        weights = tuple(arrays[f"weight{i}"] for i in range(depth))
        biases = tuple(arrays[f"bias{i}"] for i in range(depth))
        ends = zip(weights, biases, (*weights[1:], np.zeros((len(schema.classes), 0))), strict=True)
        if any(w.ndim != 2 or b.shape != w.shape[1:] or len(after) != w.shape[1] for w, b, after in ends):
            raise JaliError(f"{file}: its layers do not fit each other or the table: make the explainer again.")
        if len(weights[0]) != len(encoding.source):
            raise JaliError(f"{file}: its layers do not fit the table: make the explainer again.")
        model = Network(encoding, weights, biases)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = model.logits(np.zeros((1, len(schema.columns))))
    if scores.shape != (1, len(schema.classes)) or not np.isfinite(scores).all():
        raise JaliError(f"{file}: its weights do not fit the classes: make the explainer again.")
    return model
