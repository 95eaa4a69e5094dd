"""Explainer objects of other libraries as one function of rows: how each is called, and what it does to an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.adapters.explainers.has import has, library
from jali.adapters.explainers.user_view import Tile
from jali.adapters.models.torch_module import is_module, precision
from jali.core.explanation import Gives

Ask = Callable[[Tile], Any]
TEN = (
    "KernelExplainer keeps ten columns by default (l1_reg='num_features(10)') and sets all others to 0, so less is "
    "shown, and less leaks, than with all columns: call it with l1_reg=0 if you release all."
)
LIME = (
    "LIME draws a new sample for each explanation. This audit asks once with fixed seeds; somebody who asks several "
    "times can average the noise away, and would see more."
)
DICE = (
    "DiCE draws its counterfactuals at random. This audit reads one draw with fixed seeds; somebody who asks several "
    "times sees more of them."
)


@dataclass(frozen=True, eq=False)
class Caller:
    """An explainer object of one model as a function of a tile.

    one_by_one: whether it explains one row per call. gives: the kind of explanation, where the library has only one.
    second: whether attributions without an axis of classes are about the second of two classes. warns: what its
    defaults do to an audit.
    """

    ask: Ask
    one_by_one: bool = False
    gives: Gives | None = None
    second: bool = False
    warns: str = ""


def caller(thing: Any, model: Any) -> Caller | None:
    """How an explainer object is called; None if it is nothing that can be called. model: the user's own object."""
    if has(thing, "generate_counterfactuals"):
        return Caller(_dice(thing), True, "counterfactual", warns=DICE if _random(thing) else "")
    if has(thing, "explain_instance"):
        return Caller(_instance(thing, model), True, "attribution", warns=LIME if library(thing) == "lime" else "")
    if has(thing, "attribute") and callable(thing.attribute):
        return Caller(_captum(thing), False, "attribution")
    if has(thing, "eval_terms", "term_features_"):
        return Caller(_terms(thing), False, "attribution", second=True)
    if has(thing, "explain") and not callable(thing):
        return Caller(lambda tile: thing.explain(_array(tile.rows)), True)
    if callable(thing) and not has(thing, "predict"):
        ours = type(thing).__name__ == "KernelExplainer"
        second = library(thing) == "shap"
        return Caller(lambda tile: thing(tile.rows), second=second, warns=TEN if ours and second else "")
    return None


def is_model(thing: Any) -> bool:
    """Whether an object predicts and explains nothing, as a surrogate does."""
    return has(thing, "predict") and not has(thing, "eval_terms")


def _dice(thing: Any) -> Ask:
    def ask(tile: Tile) -> Any:
        try:
            return thing.generate_counterfactuals(table(tile), total_CFs=1, desired_class="opposite", verbose=False)
        except Exception as error:
            if "No counterfactuals found" in str(error):
                return None
            raise

    return ask


def _random(thing: Any) -> bool:
    """Whether DiCE searches at random or by a genetic algorithm; its k-d tree draws nothing."""
    return "kd" not in type(thing).__name__.lower()


def _instance(thing: Any, model: Any) -> Ask:
    """LIME and anchors: one row, and a function of arrays that gives probabilities (LIME) or labels (anchors)."""

    def ask(tile: Tile) -> Any:
        row = _array(tile.rows)[0]
        form = as_model_reads(tile.rows)
        if library(thing) == "anchor":
            return thing.explain_instance(row, lambda rows: model.predict(form(rows)))
        most = len(tile.view.schema.columns)
        label = int(tile.at[0])
        ask = model.predict_proba if has(model, "predict_proba") else tile.view.probabilities
        return thing.explain_instance(row, lambda rows: ask(form(rows)), labels=(label,), num_features=most)

    return ask


def _captum(thing: Any) -> Ask:
    """Captum: tensors, and the predicted class as target, which is easily forgotten."""

    def ask(tile: Tile) -> Any:
        import torch

        kind = precision(tile.view.thing) if is_module(tile.view.thing) else np.float32
        rows = torch.tensor(np.asarray(_array(tile.rows), dtype=kind))
        outputs = thing.forward_func(rows[:1]).shape if has(thing, "forward_func") else (1, len(tile.view.position))
        if len(outputs) == 2 and outputs[1] > 1:
            return thing.attribute(rows, target=torch.tensor(tile.at))
        found = thing.attribute(rows, target=0 if len(outputs) == 2 else None)  # about the second of two classes
        if tile.view.second:
            return found
        return found * torch.tensor(np.where(tile.at == 1, 1.0, -1.0), dtype=found.dtype)[:, None]

    return ask


def _terms(thing: Any) -> Ask:
    """Explainable boosting machines: their terms, each added in equal parts to its columns."""

    def ask(tile: Tile) -> Any:
        scores = np.asarray(thing.eval_terms(tile.rows), dtype=np.float64)
        out = np.zeros((len(scores), len(tile.view.schema.columns), *scores.shape[2:]))
        for term, columns in enumerate(thing.term_features_):
            for j in columns:
                out[:, j] += scores[:, term] / len(columns)
        return out

    return ask


def as_model_reads(rows: Any) -> Callable[[Any], Any]:
    """A function that turns arrays into what the model reads: a table with these columns and dtypes, or the array."""
    if not has(rows, "columns", "dtypes"):
        return np.asarray

    def form(array: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(np.asarray(array), columns=rows.columns).astype(dict(rows.dtypes))

    return form


def table(tile: Tile) -> Any:
    """The rows of a tile as a table with the names of the columns."""
    import pandas as pd

    rows = tile.rows
    return rows if has(rows, "columns") else pd.DataFrame(rows, columns=[c.name for c in tile.view.schema.columns])


def _array(rows: Any) -> Any:
    return rows.to_numpy() if has(rows, "to_numpy") else rows
