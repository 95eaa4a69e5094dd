"""Steps of a gradient search for the nearest point with another outcome, each for all records at once.

Every search returns points (n, P) and whether their margin reaches the goal of the task (n,). Records that are done
leave the batch. The arithmetic is row by row, so no answer depends on the other records of a call.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from jali.core.values import Bools, Floats
from jali.explain._recourse.nearest import length
from jali.explain._recourse.task import Task

Points = tuple[Floats, Bools]
HALF = 50  # steps after which the weight of the cost has halved
LEAPS = 20  # Newton steps, at most
OVERSHOOT = 0.2  # by which each Newton step aims further behind the boundary, as a share of the record's margin
ROUNDS = 15  # of moving along the boundary, at most
SHORTEST = 1e-3  # the smallest fraction of a step that is tried
ENOUGH = 1e-4  # relative gain below which moving along the boundary ends
CLOSER = 0.99  # of the best distance so far, at which other directions are probed


def cross(task: Task, steps: int, lr: float, penalty: float) -> Points:
    """Wachter's search: Adam on lambda cost(z' - z) + log(1 + exp(-margin(z'))) until the outcome flips.

    lambda starts at `penalty` times the slope of the margin at the record and is lowered at every step.
    """
    points = task.origin.copy()
    found = np.zeros(len(task), dtype=bool)
    at = np.arange(len(task))
    z = task.origin
    mean = np.zeros_like(points)
    square = np.zeros_like(points)
    still = np.zeros_like(found)
    value, slope = task.margin(z)
    weight = penalty * length(slope, "l2")[:, None]
    for k in range(1, steps + 1):
        done = still | (value >= task.goal)
        if done.any():
            points[at[done]], found[at[done]] = z[done], (value >= task.goal)[done]
            left = ~done
            task, at = task.pick(left), at[left]
            z, weight = z[left], weight[left]
            mean, square = mean[left], square[left]
            value, slope = value[left], slope[left]
        if not len(at):
            return points, found
        uphill = weight * 0.5 ** (k / HALF) * _pull(task, z) - expit(-value)[:, None] * slope
        mean = 0.9 * mean + 0.1 * uphill
        square = 0.999 * square + 0.001 * uphill**2
        last = z
        z = task.inside(z - lr * (mean / (1 - 0.9**k)) / (np.sqrt(square / (1 - 0.999**k)) + 1e-8))
        still = (z == last).all(axis=1)  # in a corner of its box, or where the model is flat
        value, slope = task.margin(z)
    points[at], found[at] = z, value >= task.goal
    return points, found


def _pull(task: Task, z: Floats) -> Floats:
    """Gradient (n, P) of the cost."""
    move = z - task.origin
    return np.sign(move) if task.cost == "l1" else move / np.maximum(length(move, "l2"), 1e-12)[:, None]


def leap(task: Task) -> Points:
    """Newton's search: project the record on the boundary of the model linearised at the last point.

    Each step aims further behind the boundary. For a linear model the first step is exact, however far it is.
    """
    points = task.origin.copy()
    found = np.zeros(len(task), dtype=bool)
    at = np.arange(len(task))
    z = task.origin
    value, slope = task.margin(z)
    behind = -OVERSHOOT * np.minimum(value, 0.0)
    for k in range(1, LEAPS + 1):
        z = task.projected(z, value, slope, np.maximum(k * behind, 2 * task.goal))
        value, slope = task.margin(z)
        done = value >= task.goal
        points[at], found[at] = z, done
        left = ~done
        task, at = task.pick(left), at[left]
        z, value = z[left], value[left]
        slope, behind = slope[left], behind[left]
        if not len(at):
            break
    return points, found


def polish(task: Task, start: Floats, found: Bools) -> Points:
    """Move along the boundary to the nearest point on it, from valid points start (n, P) where found (n,).

    Each round projects the record on the boundary of the model linearised at the best point, takes a fraction of the
    step to that projection, and moves the trial back behind the true boundary. The trial is accepted if it is valid and
    cheaper; if not, the fraction is halved.
    """
    points = start.copy()
    at = np.flatnonzero(found)
    task = task.pick(at)
    z = start[at]
    part = np.ones(len(at))
    value, slope = task.margin(z)
    for _ in range(ROUNDS):
        if not len(at):
            break
        cost = task.spent(z)
        trial, there, tilt = _behind(task, z + part[:, None] * (task.projected(z, value, slope, 2 * task.goal) - z))
        gain = np.where(there >= task.goal, cost - task.spent(trial), 0.0)
        better = gain > 0
        ended = (gain < ENOUGH * cost) & (better & (part == 1) | (part < SHORTEST))
        z = np.where(better[:, None], trial, z)
        slope = np.where(better[:, None], tilt, slope)
        value = np.where(better, there, value)
        part = np.where(better, np.minimum(1.0, 2 * part), part / 2)
        points[at] = z
        left = ~ended
        task, at = task.pick(left), at[left]
        z, value = z[left], value[left]
        slope, part = slope[left], part[left]
    return points, found


def _behind(task: Task, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Points (n, P), moved behind the boundary by one step where they are not, with their margin and its gradient."""
    value, slope = task.margin(z)
    short = np.flatnonzero(value < task.goal)
    if len(short):
        some = task.pick(short)
        z[short] = some.step(z[short], slope[short], 2 * some.goal - value[short])
        value[short], slope[short] = some.margin(z[short])
    return z, value, slope


def nearer(task: Task, one: Points, other: Points) -> Points:
    """The cheaper of two valid points of each record."""
    first = np.where(one[1], task.spent(one[0]), np.inf)
    second = np.where(other[1], task.spent(other[0]), np.inf)
    return np.where((first <= second)[:, None], one[0], other[0]), one[1] | other[1]


def probe(task: Task, best: Points, headings: list[Floats], reach: float) -> Points:
    """Probe directions (K, P), round by round, for valid points nearer than the best one, and move on from those.

    Finds other parts of the boundary where few columns move. Records without a valid point probe at distance reach.
    """
    for some in headings:
        heading = np.where((task.low < task.high).any(axis=0), some, 0.0)
        heading = heading[length(heading, task.cost) > 0]
        radius = CLOSER * np.where(best[1], task.spent(best[0]), reach)
        seen, hit = best[0].copy(), np.zeros(len(task), dtype=bool)
        for u in heading / length(heading, task.cost)[:, None]:
            there = task.inside(task.origin + radius[:, None] * u)
            valid = ~hit & (task.margin(there)[0] >= task.goal)
            seen[valid] = there[valid]
            hit |= valid
        best = nearer(task, best, polish(task, seen, hit))
    return best
