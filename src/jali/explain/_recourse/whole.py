"""Whole numbers: from a point found by a continuous search to a legal one near it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Floats, Ints
from jali.explain._recourse.search import Points, nearer, polish
from jali.explain._recourse.task import Task

FURTHER = (1.0, 1.1, 1.3, 1.6, 2.0)  # how far along its way a point is rounded, until that is valid
BACK = 200  # units taken back, at most
SAME = 1e-9


def units(encoding: Encoding) -> Floats:
    """Size (P,) in model space of one unit of each mutable whole number, zero for all other columns."""
    columns = [encoding.schema.columns[j] for j in encoding.source]
    return np.array([1 / c.spread if c.mutable and c.kind == "integer" else 0.0 for c in columns])


def legal(task: Task, best: Points, unit: Floats) -> Points:
    """Round whole numbers away from the record, and take back every unit that the outcome can spare."""
    return _retracted(task, _outward(task, best, unit), unit) if unit.any() else best


def settled(task: Task, best: Points, unit: Floats) -> Points:
    """Legal points whose other numbers have moved as near as they can, given the whole ones."""
    whole = unit > 0
    rest = whole.any() and (task.low < task.high)[:, ~whole].any()
    return polish(task.held(whole, best[0]), *best) if rest else best


def rounded(task: Task, z: Floats, unit: Floats) -> Floats:
    """Points whose whole numbers lie the nearest number of units from the record, whatever becomes of the outcome."""
    way = z - task.origin
    count = np.divide(way, unit, out=np.zeros_like(way), where=unit > 0)
    return task.inside(task.origin + np.where(unit > 0, np.rint(count) * unit, way))


def frugal(task: Task, search: Callable[[Task], Points], unit: Floats) -> Points:
    """The points of a search, or nearer ones it finds without the columns of which one unit costs as much or more.

    Near the boundary a search spreads its move over many columns, each less than a unit; rounded, all are too dear.
    """
    z, found = search(task)
    dear = found[:, None] & (unit > 0) & (unit >= task.spent(z)[:, None] * (1 - SAME))
    who = np.flatnonzero(dear.any(axis=1))
    if len(who):
        some = task.pick(who)
        best = nearer(some, (z[who], found[who]), search(some.held(dear[who], some.origin)))
        z[who], found[who] = best
    return z, found


def _outward(task: Task, best: Points, unit: Floats) -> Points:
    """Points rounded away from the record, or a little further out where rounding lost the outcome."""
    z, left = best[0].copy(), np.flatnonzero(best[1])
    found, whole = np.zeros(len(task), dtype=bool), unit > 0
    for far in FURTHER:
        some = task.pick(left)
        way = far * (best[0][left] - some.origin)
        count = np.divide(way, unit, out=np.zeros_like(way), where=whole)
        way = np.where(whole, np.sign(count) * np.ceil(np.abs(count) - SAME) * unit, way)
        there = some.inside(some.origin + way)
        valid = some.margin(there)[0] >= some.goal
        z[left[valid]], found[left[valid]], left = there[valid], True, left[~valid]
        if not len(left):
            break
    return z, found


def _retracted(task: Task, start: Points, unit: Floats) -> Points:
    """Take back some units of one column after the other, what saves most first, while the outcome stays."""
    points, found = start[0].copy(), start[1]
    at = np.flatnonzero(found)
    task, z, most = task.pick(at), points[at], np.full((len(at), len(unit)), np.inf)
    value, slope = task.margin(z)
    for _ in range(BACK):
        column, back = _dearest(task, z, value - task.goal, slope, unit, most)
        able = back != 0
        if not able.all():
            task = task.pick(able)
            at, z, value, slope, most, column, back = (a[able] for a in (at, z, value, slope, most, column, back))
        if not len(at):
            break
        row, trial = np.arange(len(at)), z.copy()
        trial[row, column] += back
        there, tilt = task.margin(trial)
        stays = there >= task.goal
        most[row[~stays], column[~stays]] = np.floor((np.abs(back) / unit[column])[~stays] / 2)
        z, slope = (np.where(stays[:, None], new, old) for new, old in ((trial, z), (tilt, slope)))
        value = np.where(stays, there, value)
        points[at] = z
    return points, found


def _dearest(task: Task, z: Floats, spare: Floats, slope: Floats, unit: Floats, most: Floats) -> tuple[Ints, Floats]:
    """The column (n,) that saves most by units taken back, and the move, zero where nothing can be.

    As far as the slope tells, a unit may cost no more margin than spare (n,); where several may go, half of them do, so
    that no column takes what others need. most (n, P): units that may be tried.
    """
    move, row = z - task.origin, np.arange(len(z))
    way, unit = -np.sign(move), np.where(np.abs(move) > SAME, unit, 0.0)
    loss = np.maximum(-slope * way * unit, 0.0)
    count = np.floor(np.divide(spare[:, None], loss, out=np.full_like(loss, np.inf), where=loss > 0))
    count = np.minimum(np.where(count > 1, np.ceil(count / 2), count), most)
    back = way * np.minimum(np.abs(move), np.where(unit > 0, count, 0.0) * unit)
    power = 1 if task.cost == "l1" else 2
    saved = np.abs(move) ** power - np.abs(move + back) ** power
    column = saved.argmax(axis=1)
    return column, np.where(saved[row, column] > 0, back[row, column], 0.0)
