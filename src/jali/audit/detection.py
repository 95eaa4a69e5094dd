"""The smallest addition that 8 of 10 audits would find, from what is recovered of a few that were planted.

What is recovered rises with the size that is planted; where it reaches half an interval, and 0.84 deviations more, the
interval of 8 of 10 audits lies above zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from jali.audit.planting import EXACT
from jali.core.values import Floats

POWER = 0.8


@dataclass(frozen=True)
class Planted:
    """What the attack recovers of one planted addition.

    size: what an attacker who knew all shifts would gain on average. recovered: the attack's mean difference to the
    baseline, less what chance gave to both. noise: the standard deviation of that mean. deviation, half: for an audit
    of the size of the real one, the standard deviation of the difference and half the width of its interval, the latter
    as equally probable values (K,) from small to large.
    """

    size: float
    recovered: float
    noise: float
    deviation: float
    half: tuple[float, ...]


def least(made: Sequence[Planted]) -> float:
    """No smaller addition would be found in 8 of 10: no attack recovers more than is added, on average."""
    return max(float(np.mean(p.half)) for p in made) + float(ndtri(POWER)) * max(p.deviation for p in made)


@dataclass(frozen=True)
class _Level:
    """Neighbouring sizes of which about the same is recovered: how much, how well that is known, and how many sizes."""

    recovered: float
    weight: float
    sizes: int

    def and_then(self, other: _Level) -> _Level:
        """Both as one, weighted by how well each is known."""
        whole = self.weight + other.weight
        mean = (self.recovered * self.weight + other.recovered * other.weight) / whole
        return _Level(mean, whole, self.sizes + other.sizes)


def _curve(planted: Sequence[Planted]) -> list[_Level]:
    """What is recovered of each size, made to rise: one planted size is about as noisy as an audit.

    Neighbours that fall are replaced by their mean, weighted by their noise (isotonic regression). No attack recovers
    more on average than one that knows every shift, so what exceeds the planted size is luck; and nothing planted
    recovers nothing, or loses what a useless combination costs.
    """
    merged: list[_Level] = []
    for p in planted:
        merged.append(_Level(min(p.recovered, p.size), 1 / max(p.noise, EXACT) ** 2, 1))
        while len(merged) > 1 and merged[-2].recovered > merged[-1].recovered:
            last = merged.pop()
            merged[-1] = merged[-1].and_then(last)
    return merged


def power(size: Floats, planted: Sequence[Planted]) -> Floats:
    """The probability that the interval of an audit like this lies above zero, at sizes (n,).

    Between planted sizes by interpolation (`_between`). What is recovered is an estimate: its noise is added to the
    chance deviation of an audit, so that 8 of 10 are 8 of 10 on average over controls, whose luck would otherwise
    decide. A larger leak does not make an interval narrower. With few targets the width of an interval is chance, too.
    """
    at = np.array([p.size for p in planted])
    halves = np.maximum.accumulate([p.half for p in planted], axis=0)
    half = np.stack([np.interp(size, at, one) for one in halves.T])
    chance = np.interp(size, at, np.maximum.accumulate([p.deviation for p in planted]))
    levels = _curve(planted)
    # By how much each level counts at a size (n, L): two levels by interpolation, whose noise is independent.
    counts = _between(size, at, np.repeat([level.recovered for level in levels], [level.sizes for level in levels]))
    counts = np.add.reduceat(counts, np.cumsum([0, *(level.sizes for level in levels[:-1])]), axis=1)
    mean = counts @ np.array([level.recovered for level in levels])
    # That nothing is recovered where nothing is planted is no estimate.
    unsure = np.array([0.0 if level is levels[0] and level.sizes == 1 else 1 / level.weight for level in levels])
    noise = np.sqrt(counts**2 @ unsure)
    return np.asarray(ndtr((mean - half) / np.maximum(np.hypot(chance, noise), EXACT)).mean(axis=0))


def _between(size: Floats, at: Floats, recovered: Floats) -> Floats:
    """By how much what is recovered of each planted size (P,) counts at other sizes (n,): (n, P).

    Of a larger addition a larger share is recovered, so the curve bends upwards, and a straight line between two sizes
    lies above it. So the share is interpolated, in the logarithm of the size, not what is recovered. Where chance made
    the share fall, the straight line is the lower one. Up to the first size the share rises with the root of the
    size.

    >>> at = np.array([0.0, 0.05, 0.2])
    >>> _between(np.array([0.1]), at, np.array([0.0, 0.01, 0.12])) @ np.array([0.0, 0.01, 0.12])  # .2 and .6: .4 of .1
    array([0.04])
    >>> _between(np.array([0.1]), at, np.array([0.0, 0.04, 0.07])) @ np.array([0.0, 0.04, 0.07])
    array([0.05])
    """
    counts = np.stack([np.interp(size, at, of) for of in np.eye(len(at))], axis=1)
    share = np.append(0.0, recovered[1:] / at[1:])
    for right in range(1, len(at)):
        left = right - 1
        if share[right] < share[left]:
            continue
        here = (size > at[left]) & (size <= at[right])
        if left == 0:
            counts[here, right] = np.sqrt(size[here] / at[right]) * size[here] / at[right]
            continue
        part = np.log(size[here] / at[left]) / np.log(at[right] / at[left])
        counts[here, left] = (1 - part) * size[here] / at[left]
        counts[here, right] = part * size[here] / at[right]
    return counts


def detectable(planted: Sequence[Planted]) -> float | None:
    """Where the power reaches 8 of 10 for good, up to the largest size that was planted; None if nowhere.

    Nobody saw what is recovered beyond.
    """
    grid = np.geomspace(0.0003, planted[-1].size, 600)
    missed = np.flatnonzero(~(power(grid, planted) >= POWER))  # no number is no power
    first = int(missed[-1]) + 1 if len(missed) else 0
    return float(grid[first]) if first < len(grid) else None
