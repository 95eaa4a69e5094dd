"""Counterfactuals as sentences that a person can read: what would have to be otherwise, beside what is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jali.core import Column, Floats, Ints, JaliError, Schema
from jali.explanation import Counterfactual, Regions

WITHHELD = "There is no explanation that may be shown."


def sentences(X: Floats, there: Counterfactual, schema: Schema) -> list[str]:
    """One sentence for each of the records X (n, D): every column that would have to change, how, and from what.

    A column whose range or list holds the record's own value already is not mentioned. Where no class is favourable
    the sentence promises another outcome than now.

    >>> city = Column("city", "category", categories=("Antwerp", "Lier", "Ghent"))
    >>> schema = Schema((Column("age", "integer"), city), classes=("reject", "accept"), favourable=1)
    >>> allowed = np.array([[[0, 0, 0], [1, 0, 1]]])
    >>> regions = Regions(np.array([[24.0, 0]]), np.array([[27.0, 0]]), allowed, schema)
    >>> lisa = np.array([[21.0, 1.0]])
    >>> sentences(lisa, Counterfactual(regions.nearest(lisa), np.ones(1), regions), schema)[0]
    'If age were 3 to 6 higher (24 to 27, not 21) and city Antwerp or Ghent (not Lier), the outcome would be accept.'
    """
    if X.shape != there.rows.shape or X.shape[1] != len(schema.columns):
        raise JaliError(f"Sentences need a record of {len(schema.columns)} columns for each answer, not {X.shape}.")
    shown = there.shown(schema)
    return [_sentence(X[i], shown, i, schema) if found else WITHHELD for i, found in enumerate(there.found)]


def _sentence(x: Floats, shown: Regions, i: int, schema: Schema) -> str:
    changes: list[str] = []
    for j, column in enumerate(schema.columns):
        if column.kind == "category":
            change = _category(column, int(x[j]), np.flatnonzero(shown.allowed[i, j]))
        else:
            change = _number(float(x[j]), float(shown.low[i, j]), float(shown.high[i, j]))
        if change:
            changes.append(f"{column.name} {'' if changes else 'were '}{change}")
    hoped = "another one" if schema.favourable is None else schema.classes[schema.favourable]
    if not changes:
        return f"Nothing would have to change for the outcome to be {hoped}."
    return f"If {_listed(changes, 'and')}, the outcome would be {hoped}."


def _number(x: float, low: float, high: float) -> str:
    """How a number would have to change to lie from low to high, nothing if it does."""
    if low <= x <= high:
        return ""
    if x < low:
        return f"{_range(low - x, high - x)} higher ({_range(low, high)}, not {x:.6g})"
    return f"{_range(x - high, x - low)} lower ({_range(low, high)}, not {x:.6g})"


def _range(low: float, high: float) -> str:
    return f"{low:.6g}" if f"{low:.6g}" == f"{high:.6g}" else f"{low:.6g} to {high:.6g}"


def _category(column: Column, x: int, allowed: Ints) -> str:
    """What a category would have to be, nothing if it is."""
    names = [column.categories[v] for v in allowed]
    return "" if x in allowed else f"{_listed(names, 'or')} (not {column.categories[x]})"


def _listed(items: Sequence[str], last: str) -> str:
    return f" {last} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
