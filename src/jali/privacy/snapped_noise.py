"""Noise on real numbers that is exact on a public grid.

Numbers are rounded to multiples of a step that is fixed without the data, a power of two, and whole noise is added
(`discrete_noise`). So an answer is a whole number of steps, its last bits tell nothing, and the proof is about whole
numbers. Rounding moves two numbers apart by up to one step more, and arithmetic in double precision by a little: both
are added to the sensitivity.

Where a proof needs noise that is no whole number (`ball`: noise inside an optimisation), what is computed differs from
what is proved by a known error. Whole Laplace noise of a small epsilon of its own (`Settling`) makes a release of it
that hides the error: given the exact value, which is private, the computed ones of two neighbouring data sets differ by
up to twice the error. Both epsilons add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.core.values import Floats, Ints, Rng
from jali.privacy.discrete_noise import laplace_each, words

FINE = 2.0**-20  # the step of a grid, as a share of the sensitivity, or of the noise where that is smaller
SLACK = 1e-5  # of a sensitivity: how far arithmetic may be off
EXACTNESS = 2.0**-40  # error of `ball` by the length of what it draws
TINY = 2.0**-10  # a normal vector shorter than this is drawn again; its direction does not depend on its length
NEVER = 60 * math.log(2)  # minus the logarithm of a chance that is not counted, 2^-60


def steps_of(size: Floats) -> Floats:
    """The largest powers of two that are not above these positive sizes.

    >>> steps_of(np.array([1.0, 0.3]))
    array([1.  , 0.25])
    """
    return np.asarray(np.ldexp(1.0, np.frexp(size)[1] - 1))


@dataclass(frozen=True, eq=False)
class Grid:
    """The public grid of numbers with these sensitivities (…), of which each is released with this epsilon."""

    sensitivity: Floats
    epsilon: float

    @property
    def step(self) -> Floats:
        """The width of the grid (…): a millionth of the sensitivity, or of the noise if that is smaller."""
        return steps_of(np.maximum(self.sensitivity, 1e-290) * FINE / min(max(self.epsilon, 1.0), 1 / FINE))

    def scale(self, times: float = 1.0) -> Ints:
        """The whole scale (…) of Laplace noise that is `times` as large as one release of epsilon needs, in steps."""
        apart = np.ceil(self.sensitivity * (1 + SLACK) / self.step) + 1
        return np.asarray(np.ceil(times * apart / self.epsilon * (1 + 2.0**-50)), dtype=np.int64)

    def whole(self, value: Floats) -> Ints:
        """Values (…) as the nearest whole numbers of steps."""
        return np.asarray(np.rint(value / self.step), dtype=np.int64)


def laplace_on_grid(value: Floats | float, sensitivity: float, epsilon: float, rng: Rng) -> Floats:
    """Numbers with this sensitivity each, on their grid, each released with this epsilon.

    >>> float(laplace_on_grid(0.25, 1.0, 1000.0, np.random.default_rng(0))) % 2**-30
    0.0
    """
    value = np.asarray(value, dtype=np.float64)
    grid = Grid(np.full(value.shape, float(sensitivity)), epsilon)
    return np.asarray((grid.whole(value) + laplace_each(grid.scale(), rng)) * grid.step)


@dataclass(frozen=True)
class Settling:
    """Noise on vectors (width,) that hides how far, up to `error` in length, they are from their exact values."""

    error: float
    epsilon: float
    width: int

    @property
    def step(self) -> float:
        """The width of the grid."""
        return float(steps_of(np.array(self.error / math.sqrt(self.width))))

    @property
    def scale(self) -> int:
        """The scale of the Laplace noise on each number, in steps."""
        apart = 2 * self.error * math.sqrt(self.width) / self.step + self.width
        return math.ceil(apart / self.epsilon * (1 + 2.0**-50))

    def noise(self, count: int, rng: Rng) -> Ints:
        """Noise (count, width) in steps."""
        return laplace_each(np.full((count, self.width), self.scale), rng)

    def settled(self, value: Floats, noise: Ints) -> Floats:
        """Values (count, width) on the grid, with this noise."""
        return np.asarray((np.rint(value / self.step).astype(np.int64) + noise) * self.step)

    def reach(self, beta: float) -> float:
        """A length that the noise on one vector exceeds with probability beta or less."""
        return math.sqrt(self.width) * self.step * self.scale * math.log(self.width / beta)


# --- real numbers --------------------------------------------------------------------------------------------------


def ball(count: int, width: int, scale: float, rng: Rng) -> Floats:
    """Vectors (count, width) with density proportional to exp(-||b|| / scale): direction uniform, length Gamma(width).

    Each differs from an exact draw by less than 2^-40 of its length.

    >>> ball(2, 3, 1.0, np.random.default_rng(0)).shape
    (2, 3)
    """
    length = scale * exponentials(count * width, rng).reshape(count, width).sum(axis=1)
    return np.asarray(_directions(count, width, rng) * length[:, None])


def longest(width: int, scale: float) -> float:
    """A length that vectors drawn by `ball` exceed with a chance below 2^-60, by Chernoff's bound."""
    return scale * (width + math.sqrt(2 * width * NEVER) + NEVER)


def exponentials(count: int, rng: Rng) -> Floats:
    """Standard exponential numbers (count,), each with all its digits however small or large it is."""
    half = _uniforms(count, rng) / 2
    upper = words(count, rng) % 2 == 1
    return np.asarray(np.where(upper, -np.log1p(-half), -np.log(half)))


def _directions(count: int, width: int, rng: Rng) -> Floats:
    """Uniform unit vectors (count, width)."""
    if width == 1:
        return np.where(words(count, rng) % 2 == 1, 1.0, -1.0)[:, None]
    out = np.empty((count, width))
    left = np.arange(count)
    while len(left):
        drawn = _normals(len(left), width, rng)
        length = np.linalg.norm(drawn, axis=1)
        fits = length >= TINY
        out[left[fits]] = drawn[fits] / length[fits, None]
        left = left[~fits]
    return out


def _normals(count: int, width: int, rng: Rng) -> Floats:
    """Standard normal numbers (count, width), two from each length and angle (Box and Muller)."""
    pairs = count * ((width + 1) // 2)
    length = np.sqrt(2 * exponentials(pairs, rng))
    angle = 2 * np.pi * _uniforms(pairs, rng)
    both = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1)
    return both.reshape(count, -1)[:, :width]


def _uniforms(count: int, rng: Rng) -> Floats:
    """Uniform numbers (count,) between 0 and 1 with 53 random digits behind their first one, however small they are."""
    zeros = np.zeros(count, dtype=np.int64)
    left = np.arange(count)
    while len(left):
        drawn = words(len(left), rng) >> np.uint64(11)
        zeros[left] += 53 - np.frexp(drawn.astype(np.float64))[1]
        left = left[drawn == 0]
    digits = 0.5 + np.ldexp((words(count, rng) >> np.uint64(12)).astype(np.float64), -53)
    return np.ldexp(digits, -zeros)
