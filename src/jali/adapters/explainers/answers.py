"""Answers of explainers, whatever their library, as attributions.

n rows, D columns, K classes of the user's model, W numbers per row (usually D).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from jali.adapters.explainers.has import has
from jali.adapters.explainers.user_view import Tile
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats

Of = Literal["predicted", "second"]


def plain(answer: Any) -> Any:
    """An answer without its wrapping: a generator as a list, a tensor as an array, the only one of a tuple.

    >>> plain(iter([1, 2])), plain((3,))
    ([1, 2], 3)
    """
    if isinstance(answer, Iterator):
        return list(answer)
    if isinstance(answer, tuple) and len(answer) == 1:
        return plain(answer[0])
    if has(answer, "detach", "cpu"):
        return answer.detach().cpu().numpy()
    return answer


def attributions(answer: Any, tile: Tile, of: Of = "predicted") -> Floats:
    """Attributions (n, W) for the predicted class of each row; a row without an answer holds NaN.

    of: which class attributions without an axis of classes are about: the predicted one, or the second of two, as those
    of boosted trees are. Then they are half the margin, towards the predicted class.
    """
    answer = plain(answer)
    if answer is None:
        return np.full((len(tile), 1), np.nan)
    if has(answer, "values", "base_values"):  # shap.Explanation
        return _of_shap(np.asarray(answer.values), tile, of)
    if isinstance(answer, dict):
        return _of_names(answer, tile)
    if has(answer, "columns", "iloc"):
        answer = _in_order(answer, tile)
    if has(answer, "as_map"):
        return _of_lime(answer, tile)
    if has(answer, "features", "precision") and callable(answer.features):
        return _of_columns(answer.features(), answer.precision(), tile)
    if has(answer, "data") and isinstance(answer.data, dict):
        return _of_alibi(answer.data, tile, of)
    if isinstance(answer, list | tuple) and not _has_classes(answer, tile):
        return _row_by_row(answer, tile, of)
    if isinstance(answer, list | tuple):
        answer = np.stack([np.asarray(plain(one)) for one in answer], axis=2)
    return _picked(answer, tile, of)


def towards_decision(value: Floats, tile: Tile) -> Floats:
    """Half the attributions (n, W) of the margin of the second of two classes, signed towards the predicted class."""
    return np.asarray(np.where(tile.at == 1, 0.5, -0.5)[:, None] * value)


def _of_shap(values: Any, tile: Tile, of: Of) -> Floats:
    """Shapley values; without an axis of classes, those of two classes are about the second, or about its margin."""
    if len(tile) == 1 and (values.ndim == 1 or len(values) != 1):  # one row of an explanation
        values = values[None]
    two = len(tile.view.position) == 2
    return _picked(values, tile, "second" if two and values.ndim == 2 else of)


def _picked(given: Any, tile: Tile, of: Of) -> Floats:
    """Attributions (n, W) from numbers (n, W), or those of the predicted class from (n, W, K) or (K, n, W)."""
    values = _numbers(given)
    count = len(tile)
    classes = len(tile.view.position)
    if values.ndim == 1:
        values = values[None] if count == 1 else values[:, None]
    if values.ndim == 3 and values.shape[:2] == (classes, count) and values.shape[2] != classes:
        values = np.moveaxis(values, 0, 2)
    if values.ndim not in (2, 3) or len(values) != count:
        raise JaliError(
            f"{count} rows were explained, and the answer has shape {values.shape}: return one row of numbers for each "
            "row asked, in the same order."
        )
    if values.ndim == 2:
        return towards_decision(values, tile) if of == "second" else values
    if values.shape[2] == 1:
        return values[:, :, 0]
    if values.shape[2] != classes:
        raise JaliError(
            f"An answer of shape {values.shape} was given for a model of {classes} classes: the last axis must be the "
            "class, or leave it out and return the numbers of the predicted class."
        )
    return np.take_along_axis(values, tile.at[:, None, None], axis=2)[:, :, 0]


def _numbers(given: Any) -> Floats:
    array = given.to_numpy() if has(given, "to_numpy") else given
    try:
        return np.asarray(array, dtype=np.float64)
    except (ValueError, TypeError):
        raise JaliError(
            "Attributions are numbers, and this answer holds something else: return an array of floats, or write "
            'jali.explainer(…, kind="counterfactual") if these are rows.'
        ) from None


def _has_classes(answer: Any, tile: Tile) -> bool:
    """Whether a list holds the attributions (n, W) of each class, as older libraries return them."""
    shapes = [np.shape(plain(one)) for one in answer if isinstance(plain(one), np.ndarray)]
    each = len(shapes) == len(answer) == len(tile.view.position)
    return each and all(len(shape) == 2 and shape[0] == len(tile) for shape in shapes)


def _row_by_row(answers: Any, tile: Tile, of: Of) -> Floats:
    """Attributions (n, W) from one answer per row; None is no answer."""
    if len(answers) != len(tile):
        raise JaliError(f"{len(tile)} rows were explained, and {len(answers)} answers came back: return one per row.")
    if not len(answers):
        return np.zeros((0, 1))
    if all(isinstance(one, int | float) for one in answers):
        return _picked(np.array(answers), tile, of)
    each = [attributions(one, tile.pick(np.array([i])), of)[0] for i, one in enumerate(answers)]
    return stacked(each)


def stacked(each: list[Floats]) -> Floats:
    """Vectors (W,) of the rows as one array (n, W); those of rows without an answer are filled with NaN."""
    widths = {len(one) for one in each if not np.isnan(one).all()}
    if len(widths) > 1:
        raise JaliError(
            f"Each row needs as many attributions as the others, not {' and '.join(map(str, sorted(widths)))}."
        )
    width = widths.pop() if widths else 1
    return np.stack([one if len(one) == width else np.full(width, np.nan) for one in each])


def _of_lime(answer: Any, tile: Tile) -> Floats:
    """LIME's weights (1, D) of the predicted class; columns that it left out have 0."""
    weights = answer.as_map()
    label = int(tile.at[0])
    if label not in weights and len(weights) == 1:  # explained for the second of two classes, which is LIME's default
        (only,) = weights
        value = _of_columns([j for j, _ in weights[only]], [w for _, w in weights[only]], tile)
        return -value if len(tile.view.position) == 2 else value
    if label not in weights:
        raise JaliError(
            "LIME explained other classes than the predicted one: call explain_instance(…, labels=[class]) for that."
        )
    return _of_columns([j for j, _ in weights[label]], [w for _, w in weights[label]], tile)


def _of_columns(columns: Any, weight: Any, tile: Tile) -> Floats:
    """Weights (1, D) of some columns by position, 0 for the others."""
    out = np.zeros((1, len(tile.view.schema.columns)))
    out[0, list(columns)] = weight
    return out


def _of_names(weights: dict[Any, Any], tile: Tile) -> Floats:
    """Weights (1, D) of some columns by name, 0 for the others."""
    place = {column.name: j for j, column in enumerate(tile.view.schema.columns)}
    if unknown := [str(name) for name in weights if str(name) not in place]:
        raise JaliError(
            f"An attribution for each of the columns {', '.join(place)} was expected, and one of {unknown[0]!r} came."
        )
    return _of_columns([place[str(name)] for name in weights], list(weights.values()), tile)


def _in_order(table: Any, tile: Tile) -> Any:
    """A table with the columns of the data, in the order of the data; any other as it is."""
    at = {str(name): j for j, name in enumerate(table.columns)}
    names = [column.name for column in tile.view.schema.columns]
    return table.iloc[:, [at[name] for name in names]] if set(at) == set(names) else table


def _of_alibi(data: dict[str, Any], tile: Tile, of: Of) -> Floats:
    """Attributions of alibi: Shapley values by class, integrated gradients, or the columns of an anchor."""
    if "anchor" in data:
        return _of_columns(data["raw"]["feature"], data["precision"], tile)
    for name in ("shap_values", "attributions"):
        if name in data:
            return attributions(data[name], tile, of)
    raise JaliError(f"This answer holds {', '.join(map(str, data))}, and none of it is an attribution.")


def complete(value: Floats) -> Bools:
    """Which rows (n,) have finite attributions (n, W), whose squares can be added up."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.isfinite((value**2).sum(axis=1)))
