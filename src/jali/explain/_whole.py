"""Whole numbers: from a point found by a continuous search to a legal one near it."""

from __future__ import annotations

import numpy as np

from jali.core import Floats, Ints
from jali.encoding import Encoding
from jali.explain._search import Points, polish
from jali.explain._task import Task

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


def _outward(task: Task, best: Points, unit: Floats) -> Points:
    """Points rounded away from the record, or a little further out where rounding lost the outcome."""
    z, found = best[0].copy(), np.zeros(len(task), dtype=bool)
    whole = unit > 0
    for far in FURTHER:
        way = far * (best[0] - task.origin)
        count = np.divide(way, unit, out=np.zeros_like(way), where=whole)
        way = np.where(whole, np.sign(count) * np.ceil(np.abs(count) - SAME) * unit, way)
        there = task.inside(task.origin + way)
        valid = best[1] & ~found & (task.margin(there)[0] >= task.goal)
        z[valid], found = there[valid], found | valid
    return z, found


def _retracted(task: Task, start: Points, unit: Floats) -> Points:
    """Take back one unit after the other, the dearest first, while the outcome stays."""
    points, found = start[0].copy(), start[1]
    at = np.flatnonzero(found)
    task, z, barred = task.pick(at), points[at], np.zeros((len(at), len(unit)), dtype=bool)
    value, slope = task.margin(z)
    for _ in range(BACK):
        column, back = _dearest(task, z, task.goal - value, slope, np.where(barred, 0.0, unit))
        able = back != 0
        task = task.pick(able)
        at, z, value, slope, barred, column, back = (a[able] for a in (at, z, value, slope, barred, column, back))
        if not len(at):
            break
        row, trial = np.arange(len(at)), z.copy()
        trial[row, column] += back
        there, tilt = task.margin(trial)
        stays = there >= task.goal
        barred[row, column] = ~stays
        z, slope = (np.where(stays[:, None], new, old) for new, old in ((trial, z), (tilt, slope)))
        value = np.where(stays, there, value)
        points[at] = z
    return points, found


def _dearest(task: Task, z: Floats, spare: Floats, slope: Floats, unit: Floats) -> tuple[Ints, Floats]:
    """The column (n,) whose unit (n, P) saves most and costs no more margin than spare (n,), and the move, if any."""
    move, row = z - task.origin, np.arange(len(z))
    back = -np.sign(move) * np.minimum(np.abs(move), unit)
    able = (np.abs(back) > SAME) & (slope * back >= spare[:, None])
    power = 1 if task.cost == "l1" else 2
    saved = np.where(able, np.abs(move) ** power - np.abs(move + back) ** power, 0.0)
    column = saved.argmax(axis=1)
    return column, np.where(saved[row, column] > 0, back[row, column], 0.0)
