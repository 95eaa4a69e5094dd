"""Closed forms of the smallest move inside a box that raises a linear score by a given gap.

minimise ||move||_p subject to weight . move >= gap and low <= move <= high, for many rows at once.
weight, low, high (n, P) with low <= 0 <= high, gap (n,); a column that may not move has low = high = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from jali.core.values import Bools, Floats

Cost = Literal["l1", "l2"]
Closed = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Bools]]
FLAT = 1e-12  # weights below this count as zero


def nearest_l2(weight: Floats, gap: Floats, low: Floats, high: Floats) -> tuple[Floats, Bools]:
    """Moves (n, P) of least l2 length, and whether they gain the gap (n,); otherwise they go as far as they can.

    move_j = clip(t weight_j, low_j, high_j) for the smallest t that gains it. The gain is piecewise linear in t,
    with breakpoints where columns reach their bounds.

    >>> nearest_l2(np.array([[3.0, 4.0]]), np.array([25.0]), np.full((1, 2), -9.0), np.full((1, 2), 9.0))
    (array([[3., 4.]]), array([ True]))
    """
    weight = np.where(np.abs(weight) > FLAT, weight, 0.0)
    gap = np.maximum(gap, 0.0)
    steep = (weight * weight).sum(axis=1)
    move = weight * np.divide(gap, steep, out=np.zeros_like(gap), where=steep > 0)[:, None]
    reached = (steep > 0) | (gap == 0)
    stopped = ((move < low) | (move > high)).any(axis=1) & reached
    if stopped.any():
        move[stopped], reached[stopped] = _boxed(weight[stopped], gap[stopped], low[stopped], high[stopped])
    return move, reached


def _boxed(weight: Floats, gap: Floats, low: Floats, high: Floats) -> tuple[Floats, Bools]:
    """The least l2 moves of rows in which a column reaches its bound."""
    usable = weight != 0
    turn = np.where(usable, np.where(weight > 0, high, low) / np.where(usable, weight, 1.0), 0.0)
    order = np.argsort(turn, axis=1)
    turn, square = np.take_along_axis(turn, order, axis=1), np.take_along_axis(weight**2, order, axis=1)
    rise = np.cumsum(square[:, ::-1], axis=1)[:, ::-1]  # gain per unit of t while these columns still move
    with np.errstate(invalid="ignore"):
        step = np.nan_to_num(np.diff(turn, axis=1, prepend=0.0), nan=0.0, posinf=np.inf)
        gained = np.cumsum(np.where(rise > 0, rise * step, 0.0), axis=1)
    reached = gained[:, -1] >= gap
    at = (gained < gap[:, None]).sum(axis=1).clip(max=turn.shape[1] - 1)[:, None]
    before, start = (np.take_along_axis(np.pad(a, ((0, 0), (1, 0))), at, axis=1) for a in (gained, turn))
    last = np.where(reached[:, None], np.maximum(np.take_along_axis(rise, at, axis=1), FLAT**2), 1.0)
    t = np.where(reached[:, None], start + (gap[:, None] - before) / last, turn[:, -1:])
    return np.clip(np.where(usable, t * weight, 0.0), low, high), reached


def nearest_l1(weight: Floats, gap: Floats, low: Floats, high: Floats) -> tuple[Floats, Bools]:
    """Moves (n, P) of least l1 length, and whether they gain the gap (n,); otherwise they go as far as they can.

    The column of largest |weight| moves alone until the gap is gained or its bound is reached, then the next one.

    >>> nearest_l1(np.array([[3.0, 4.0]]), np.array([25.0]), np.full((1, 2), -4.0), np.full((1, 2), 4.0))
    (array([[3., 4.]]), array([ True]))
    """
    gap, steep = np.maximum(gap, 0.0)[:, None], np.where(np.abs(weight) > FLAT, np.abs(weight), 0.0)
    room = np.where(weight > 0, high, -low)
    order = np.argsort(-steep, axis=1, kind="stable")
    steep, room = np.take_along_axis(steep, order, axis=1), np.take_along_axis(room, order, axis=1)
    gain = np.multiply(steep, room, out=np.zeros_like(steep), where=steep > 0)
    total = np.cumsum(gain, axis=1)
    before = np.concatenate([np.zeros_like(gap), total[:, :-1]], axis=1)
    taken = np.clip(gap - before, 0.0, gain)
    move = np.empty_like(taken)
    np.put_along_axis(move, order, np.divide(taken, steep, out=np.zeros_like(taken), where=steep > 0), axis=1)
    return move * np.sign(weight), total[:, -1] >= gap[:, 0]


NEAREST: dict[Cost, Closed] = {"l1": nearest_l1, "l2": nearest_l2}


def length(move: Floats, cost: Cost) -> Floats:
    """Length (n,) of moves (n, P)."""
    return np.asarray(np.abs(move).sum(axis=1) if cost == "l1" else np.sqrt((move * move).sum(axis=1)))
