"""Rows moved by small steps, and how the score of the true label reacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.softmax import log_sum_exp
from jali.core.values import Bools, Floats, Ints, Schema

Ask = Callable[[Floats], Floats]  # logits (n, C) of raw rows (n, D)


def largest(value: Floats, share: float) -> Bools:
    """Which features (n, P) are the share of largest absolute attribution (n, P) in their row, at least one.

    >>> largest(np.array([[1.0, -3.0, 2.0]]), 0.5)
    array([[False,  True,  True]])
    """
    count = max(1, round(share * value.shape[1]))
    order = np.argsort(-np.abs(value), axis=1, kind="stable")
    out = np.zeros(value.shape, dtype=bool)
    np.put_along_axis(out, order[:, :count], values=True, axis=1)
    return out


def check_width(name: str, value: Floats, schema: Schema) -> None:
    """Refuse attributions that are not one number per encoded feature, as those of a user's explainer may be."""
    wide = len(Encoding(schema).source)
    if value.shape[1] != wide:
        raise JaliError(
            f"{name} moves the columns with the largest attributions, and this explainer gives {value.shape[1]} "
            f"numbers per record, not one for each column: leave the signal out, or return {len(schema.columns)}."
        )


def log_odds(logits: Floats, y: Ints) -> Floats:
    """Log-odds (n,) of the classes y (n,)."""
    rows = np.arange(len(y))
    others = logits.copy()
    others[rows, y] = -np.inf
    return np.asarray(logits[rows, y] - log_sum_exp(others))


def peak(x: Floats, y: Ints, ask: Ask, schema: Schema, moves: Sequence[Floats]) -> Floats:
    """How far (n,) the log-odds of y (n,) at rows x (n, D) lie above their mean at x + m and x - m.

    moves: steps m (n, P) in encoded features; a step in a column of whole numbers is at least 1. A column that cannot
    move as far both ways stays: one step alone would measure the slope.
    """
    encoding = Encoding(schema)
    here = encoding.encode(x)
    columns = [schema.columns[j] for j in encoding.source]
    least = np.array([1 / c.spread if c.kind == "integer" else 0.0 for c in columns])
    around = []
    for move in moves:
        step = np.sign(move) * np.maximum(np.abs(move), least)
        up = encoding.decode(here + step)
        down = encoding.decode(here - step)
        even = np.isclose(up - x, x - down)
        around += [log_odds(ask(np.where(even, rows, x)), y) for rows in (up, down)]
    return np.asarray(log_odds(ask(x), y) - np.mean(around, axis=0))


def check_shares(name: str, shares: Sequence[float]) -> None:
    """Refuse an empty list, and shares outside (0, 1]."""
    if not shares or not all(0 < share <= 1 for share in shares):
        raise JaliError(f"{name}: shares must list numbers above 0 and up to 1, not {shares}.")
