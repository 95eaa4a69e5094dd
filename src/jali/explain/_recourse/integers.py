"""Whole numbers: from a point found by a continuous search to a legal point near it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Ints
from jali.explain._recourse.search import Points, nearer, polish
from jali.explain._recourse.task import Task

FURTHER = (1.0, 1.1, 1.3, 1.6, 2.0)  # factors by which a move is lengthened before rounding, until the row is valid
BACK = 200  # most steps of moving whole numbers back
SAME = 1e-9  # moves below this are rounding error


def units(encoding: Encoding) -> Floats:
    """Encoded size (P,) of one unit of each mutable whole number, zero for all other features."""
    columns = [encoding.schema.columns[j] for j in encoding.source]
    return np.array([1 / c.spread if c.mutable and c.kind == "integer" else 0.0 for c in columns])


def legal(task: Task, best: Points, unit: Floats) -> Points:
    """Round whole numbers away from the record, then move them back as far as the outcome allows."""
    return _retracted(task, _outward(task, best, unit), unit) if unit.any() else best


def settled(task: Task, best: Points, unit: Floats) -> Points:
    """Legal points whose other numbers are moved as near to the record as the fixed whole numbers allow."""
    whole = unit > 0
    rest = whole.any() and (task.low < task.high)[:, ~whole].any()
    return polish(task.held(whole, best[0]), *best) if rest else best


def with_whole_numbers_held(task: Task, near: Floats, search: Callable[[Task], Points], unit: Floats) -> Points:
    """Points whose whole numbers are as in the record, or at the units nearest to `near`, and other numbers searched.

    Rounding away from the record moves every whole number that a continuous search moved at all by a unit, also where
    other numbers alone would have been enough.
    """
    whole = unit > 0
    rest = whole.any() and (task.low < task.high)[:, ~whole].any()
    if not rest:
        return task.origin, np.zeros(len(task), dtype=bool)
    kept = search(task.held(whole, task.origin))
    nearest_units = search(task.held(whole, rounded(task, near, unit)))
    return nearer(task, kept, nearest_units)


def rounded(task: Task, z: Floats, unit: Floats) -> Floats:
    """Points with whole numbers rounded to the nearest unit from the record, whether or not the outcome stays."""
    way = z - task.origin
    count = np.divide(way, unit, out=np.zeros_like(way), where=unit > 0)
    return task.inside(task.origin + np.where(unit > 0, np.rint(count) * unit, way))


def frugal(task: Task, search: Callable[[Task], Points], unit: Floats) -> Points:
    """The points of a search, or nearer ones that it finds without columns whose single unit costs more than the move.

    Near the boundary, a search spreads its move over many columns by less than a unit each; rounding all of them to
    whole units would make the move much longer.
    """
    z, found = search(task)
    costly = found[:, None] & (unit > 0) & (unit >= task.spent(z)[:, None] * (1 - SAME))
    who = np.flatnonzero(costly.any(axis=1))
    if len(who):
        some = task.pick(who)
        best = nearer(some, (z[who], found[who]), search(some.held(costly[who], some.origin)))
        z[who], found[who] = best
    return z, found


def _outward(task: Task, best: Points, unit: Floats) -> Points:
    """Points rounded away from the record, or a little further out where rounding changed the outcome back."""
    z = best[0].copy()
    left = np.flatnonzero(best[1])
    found = np.zeros(len(task), dtype=bool)
    whole = unit > 0
    for far in FURTHER:
        some = task.pick(left)
        way = far * (best[0][left] - some.origin)
        count = np.divide(way, unit, out=np.zeros_like(way), where=whole)
        way = np.where(whole, np.sign(count) * np.ceil(np.abs(count) - SAME) * unit, way)
        there = some.inside(some.origin + way)
        valid = some.margin(there)[0] >= some.goal
        z[left[valid]] = there[valid]
        found[left[valid]] = True
        left = left[~valid]
        if not len(left):
            break
    return z, found


def _retracted(task: Task, start: Points, unit: Floats) -> Points:
    """Move whole numbers back, one column at a time and the largest saving first, while the outcome stays."""
    points = start[0].copy()
    found = start[1]
    at = np.flatnonzero(found)
    task = task.pick(at)
    z = points[at]
    most = np.full((len(at), len(unit)), np.inf)
    value, slope = task.margin(z)
    for _ in range(BACK):
        column, back = _largest_saving(task, z, value - task.goal, slope, unit, most)
        able = back != 0
        if not able.all():
            task = task.pick(able)
            at = at[able]
            z, most = z[able], most[able]
            value, slope = value[able], slope[able]
            column, back = column[able], back[able]
        if not len(at):
            break
        row = np.arange(len(at))
        trial = z.copy()
        trial[row, column] += back
        there, tilt = task.margin(trial)
        stays = there >= task.goal
        most[row[~stays], column[~stays]] = np.floor((np.abs(back) / unit[column])[~stays] / 2)
        z = np.where(stays[:, None], trial, z)
        slope = np.where(stays[:, None], tilt, slope)
        value = np.where(stays, there, value)
        points[at] = z
    return points, found


def _largest_saving(
    task: Task, z: Floats, spare: Floats, slope: Floats, unit: Floats, most: Floats
) -> tuple[Ints, Floats]:
    """The column (n,) whose move back saves most, and that move (n,), zero where no column can move back.

    By the slope, the move back may cost no more margin than spare (n,). Where several units could go, half of them do,
    so that one column does not use up the margin that others need. most (n, P): units that may still be tried.
    """
    move = z - task.origin
    row = np.arange(len(z))
    way = -np.sign(move)
    unit = np.where(np.abs(move) > SAME, unit, 0.0)
    loss = np.maximum(-slope * way * unit, 0.0)
    count = np.floor(np.divide(spare[:, None], loss, out=np.full_like(loss, np.inf), where=loss > 0))
    count = np.minimum(np.where(count > 1, np.ceil(count / 2), count), most)
    back = way * np.minimum(np.abs(move), np.where(unit > 0, count, 0.0) * unit)
    power = 1 if task.cost == "l1" else 2
    saved = np.abs(move) ** power - np.abs(move + back) ** power
    column = saved.argmax(axis=1)
    return column, np.where(saved[row, column] > 0, back[row, column], 0.0)
