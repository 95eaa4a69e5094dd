"""Steps of a gradient search for the nearest point with another outcome, each for all records at once.

Every search returns points (n, P) and whether their margin reaches the goal of the task (n,). Records that are done
leave the batch, and each row's arithmetic is its own, so no answer depends on the other records of a call.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from jali.core.values import Bools, Floats
from jali.explain._recourse.nearest import length
from jali.explain._recourse.task import Task

Points = tuple[Floats, Bools]
HALF = 50  # steps after which the weight of the cost has halved
LEAPS, OVERSHOOT = 20, 0.2
ROUNDS, SHORTEST, ENOUGH = 15, 1e-3, 1e-4  # of a polish: rounds, smallest part of a step, gain at which it ends
CLOSER = 0.99


def cross(task: Task, steps: int, lr: float, penalty: float) -> Points:
    """Wachter's search: Adam on lambda cost(z' - z) + log(1 + exp(-margin(z'))) until the outcome flips.

    lambda starts at `penalty` times the slope of the margin at the record and is lowered at every step.
    """
    points, found, at = task.origin.copy(), np.zeros(len(task), dtype=bool), np.arange(len(task))
    z, mean, square, still = task.origin, np.zeros_like(points), np.zeros_like(points), np.zeros_like(found)
    value, slope = task.margin(z)
    weight = penalty * length(slope, "l2")[:, None]
    for k in range(1, steps + 1):
        done = still | (value >= task.goal)
        if done.any():
            points[at[done]], found[at[done]] = z[done], (value >= task.goal)[done]
            task, at = task.pick(~done), at[~done]
            z, mean, square, weight, value, slope = (a[~done] for a in (z, mean, square, weight, value, slope))
        if not len(at):
            return points, found
        uphill = weight * 0.5 ** (k / HALF) * _pull(task, z) - expit(-value)[:, None] * slope
        mean, square = 0.9 * mean + 0.1 * uphill, 0.999 * square + 0.001 * uphill**2
        last, z = z, task.inside(z - lr * (mean / (1 - 0.9**k)) / (np.sqrt(square / (1 - 0.999**k)) + 1e-8))
        still = (z == last).all(axis=1)  # in a corner of its box, or where the model is flat
        value, slope = task.margin(z)
    points[at], found[at] = z, value >= task.goal
    return points, found


def _pull(task: Task, z: Floats) -> Floats:
    """Gradient (n, P) of the cost."""
    move = z - task.origin
    return np.sign(move) if task.cost == "l1" else move / np.maximum(length(move, "l2"), 1e-12)[:, None]


def leap(task: Task) -> Points:
    """Newton's search: project the record on the boundary as it looks from the last point, ever further behind it.

    Exact after one leap for a linear model, however far the boundary lies.
    """
    points, found, at = task.origin.copy(), np.zeros(len(task), dtype=bool), np.arange(len(task))
    z = task.origin
    value, slope = task.margin(z)
    behind = -OVERSHOOT * np.minimum(value, 0.0)
    for k in range(1, LEAPS + 1):
        z = task.projected(z, value, slope, np.maximum(k * behind, 2 * task.goal))
        value, slope = task.margin(z)
        done = value >= task.goal
        points[at], found[at] = z, done
        task, at = task.pick(~done), at[~done]
        z, value, slope, behind = (a[~done] for a in (z, value, slope, behind))
        if not len(at):
            break
    return points, found


def polish(task: Task, start: Floats, found: Bools) -> Points:
    """Walk along the boundary to the nearest point on it, from valid points start (n, P) where found (n,).

    Each round takes a part of the way to the projection of the record on the boundary as it looks from the best point,
    is brought back behind the true boundary, and counts if it is valid and cheaper; if not, the part is halved.
    """
    points, at = start.copy(), np.flatnonzero(found)
    task, z, part = task.pick(at), start[at], np.ones(len(at))
    value, slope = task.margin(z)
    for _ in range(ROUNDS):
        if not len(at):
            break
        cost = task.spent(z)
        trial, there, tilt = _behind(task, z + part[:, None] * (task.projected(z, value, slope, 2 * task.goal) - z))
        gain = np.where(there >= task.goal, cost - task.spent(trial), 0.0)
        better, ended = gain > 0, (gain < ENOUGH * cost) & ((gain > 0) & (part == 1) | (part < SHORTEST))
        z, slope = (np.where(better[:, None], new, old) for new, old in ((trial, z), (tilt, slope)))
        value, part = np.where(better, there, value), np.where(better, np.minimum(1.0, 2 * part), part / 2)
        points[at] = z
        task, at = task.pick(~ended), at[~ended]
        z, value, slope, part = (a[~ended] for a in (z, value, slope, part))
    return points, found


def _behind(task: Task, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Points (n, P) before the boundary moved behind it as far as one step can, with their margin and its gradient."""
    value, slope = task.margin(z)
    short = np.flatnonzero(value < task.goal)
    if len(short):
        some = task.pick(short)
        z[short] = some.step(z[short], slope[short], 2 * some.goal - value[short])
        value[short], slope[short] = some.margin(z[short])
    return z, value, slope


def nearer(task: Task, one: Points, other: Points) -> Points:
    """The cheaper of two valid points of each record."""
    first, second = (np.where(found, task.spent(z), np.inf) for z, found in (one, other))
    return np.where((first <= second)[:, None], one[0], other[0]), one[1] | other[1]


def look(task: Task, best: Points, headings: list[Floats], reach: float) -> Points:
    """Look for an outcome nearer than the best one in some directions (K, P), and walk on from what is seen; repeat.

    Catches other parts of the boundary where few columns move. Records without a valid point look at distance reach.
    """
    for some in headings:
        heading = np.where((task.low < task.high).any(axis=0), some, 0.0)
        heading = heading[length(heading, task.cost) > 0]
        radius = CLOSER * np.where(best[1], task.spent(best[0]), reach)
        seen, hit = best[0].copy(), np.zeros(len(task), dtype=bool)
        for u in heading / length(heading, task.cost)[:, None]:
            there = task.inside(task.origin + radius[:, None] * u)
            valid = ~hit & (task.margin(there)[0] >= task.goal)
            seen[valid], hit = there[valid], hit | valid
        best = nearer(task, best, polish(task, seen, hit))
    return best
