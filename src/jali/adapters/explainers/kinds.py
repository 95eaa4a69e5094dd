"""Which kind of explanation an answer is."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.adapters.explainers.answers import plain
from jali.adapters.explainers.callers import is_model
from jali.adapters.explainers.has import has
from jali.adapters.explainers.rows import read
from jali.adapters.explainers.user_view import Tile
from jali.core.errors import JaliError
from jali.core.explanation import Gives

ALIKE = 0.2  # share of cells that equal the record's, from which on numbers look like rows
DOUBT = (
    "This answer could be attributions or counterfactuals: write jali.explainer(…, kind='attribution') or "
    "jali.explainer(…, kind='counterfactual')."
)


def kind_of(answer: Any, tile: Tile, doubts: bool = True) -> Gives | None:
    """The kind of an answer about a tile, None if it is no answer; where it could be two kinds, doubts are raised."""
    answer = plain(answer)
    if answer is None or isinstance(answer, str | int | float | bool):
        return None
    if has(answer, "cf_examples_list"):
        return "counterfactual"
    if has(answer, "data") and isinstance(answer.data, dict):  # alibi
        return "counterfactual" if "cf" in answer.data else "attribution"
    if has(answer, "values", "base_values") or has(answer, "as_map") or has(answer, "features", "precision"):
        return "attribution"
    if has(answer, "columns", "iloc"):
        return _of_table(answer, tile, doubts)
    if isinstance(answer, list | tuple):
        return _of_list(answer, tile, doubts)
    return _of_array(answer, tile, doubts) if isinstance(answer, np.ndarray) else None


def _of_list(answers: Any, tile: Tile, doubts: bool) -> Gives | None:
    """The kind of a list: attributions by class, or one answer for each row."""
    given = [plain(one) for one in answers if one is not None]
    if not given:
        return "counterfactual" if len(answers) else None
    if all(is_model(one) for one in given):
        return "surrogate"
    if all(isinstance(one, dict) for one in given):
        return _of_table(_named(answers, tile), tile, doubts)
    if len(given) == len(answers) and all(np.ndim(one) == 1 and not has(one, "as_map") for one in given):
        return _of_array(np.array(given, dtype=object), tile, doubts)
    at = next(i for i, one in enumerate(answers) if one is not None)
    return kind_of(given[0], tile.pick(np.array([at])) if len(answers) == len(tile) else tile, doubts)


def _named(answers: Any, tile: Tile) -> Any:
    """Answers by the names of the columns, one for each row, as a table."""
    import pandas as pd

    names = [column.name for column in tile.view.schema.columns]
    return pd.DataFrame([one or {} for one in answers]).reindex(columns=names)


def _of_table(table: Any, tile: Tile, doubts: bool) -> Gives | None:
    """A table with the columns of the data holds counterfactuals, unless all its numbers are new."""
    names = {str(name) for name in table.columns}
    if not names >= {column.name for column in tile.view.schema.columns}:
        return "attribution"
    if len(table) != len(tile) or any(column.kind == "category" for column in tile.view.schema.columns):
        X, legal = read(table, tile.view.schema)
        return "counterfactual" if len(X) != len(tile) or legal.any() else "attribution"
    if doubts and not _alike(read(table, tile.view.schema)[0], tile) > 0:
        raise JaliError(DOUBT)
    return "counterfactual"


def _of_array(array: Any, tile: Tile, doubts: bool) -> Gives | None:
    """An array of numbers holds attributions, unless many equal those of the records; one of texts holds rows."""
    try:
        numbers = np.asarray(array, dtype=np.float64)
    except (ValueError, TypeError):
        return "counterfactual"
    if numbers.ndim not in (1, 2, 3):
        return None
    if doubts and numbers.shape == tile.X.shape and _alike(numbers, tile) > ALIKE:
        raise JaliError(DOUBT)
    return "attribution"


def _alike(numbers: Any, tile: Tile) -> float:
    """The share of cells (n, D) that equal the record's, among those that are not 0."""
    told = (tile.X != 0) & np.isfinite(tile.X)
    return float((numbers == tile.X)[told].mean()) if told.any() else 0.0
