"""Exact integer noise from random bytes: discrete Laplace and discrete Gaussian.

Noise that is computed in floating point has gaps and repeated values by which it can be told which number it was added
to (Mironov, On Significance of the Least Significant Bits for Differential Privacy, 2012). Here all arithmetic is on
whole numbers and fractions, and the only randomness are bytes of the generator (see `byte_sources`).

Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, algorithms 1 to 3. Functions
whose names end in `each` draw many numbers at once.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Ints, Rng

LARGEST = 2**44  # of the scales of many draws at once, so that no product leaves 64 bits
DIGITS = 53  # binary digits of a uniform number that are looked at first
SPARE = np.uint64(64 - DIGITS)
NEAR = 256.0  # of 2^53: how near to a probability double precision does not decide; its error is below 10 of them


def below(n: int, rng: Rng) -> int:
    """A uniform whole number from 0 to n - 1.

    >>> sorted({below(3, np.random.default_rng(seed)) for seed in range(30)})
    [0, 1, 2]
    """
    bits = (n - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        drawn = int.from_bytes(rng.bytes(size)) >> (8 * size - bits)
        if drawn < n:
            return drawn


def bernoulli(p: Fraction, rng: Rng) -> bool:
    """True with probability p, exactly."""
    return below(p.denominator, rng) < p.numerator


def bernoulli_exp(gamma: Fraction, rng: Rng) -> bool:
    """True with probability exp(-gamma), exactly."""
    while gamma > 1:
        if not bernoulli_exp(Fraction(1), rng):
            return False
        gamma -= 1
    k = 1
    while bernoulli(gamma / k, rng):
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: Fraction, rng: Rng) -> int:
    """A whole number with probability proportional to exp(-|x| / scale)."""
    t = scale.numerator
    s = scale.denominator
    while True:
        u = below(t, rng) if t > 1 else 0
        if not bernoulli_exp(Fraction(u, t), rng):
            continue
        v = 0
        while bernoulli_exp(Fraction(1), rng):
            v += 1
        size = (u + t * v) // s
        negative = bool(below(2, rng))
        if not (negative and size == 0):
            return -size if negative else size


def discrete_gaussian(variance: Fraction, rng: Rng) -> int:
    """A whole number with probability proportional to exp(-x^2 / (2 variance))."""
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        y = discrete_laplace(Fraction(t), rng)
        if bernoulli_exp((abs(y) - variance / t) ** 2 / (2 * variance), rng):
            return y


def gaussian_noise(shape: tuple[int, ...], variance: Fraction, rng: Rng) -> Ints:
    """Independent discrete Gaussian noise; counts of l2 sensitivity D become (D^2 / 2 variance)-zCDP."""
    return np.array([discrete_gaussian(variance, rng) for _ in range(math.prod(shape))], dtype=np.int64).reshape(shape)


def zcdp_for(epsilon: float, delta: float) -> float:
    """The largest rho for which rho-zCDP gives (epsilon, delta)-DP: rho + 2 sqrt(rho ln(1 / delta)) = epsilon.

    Bun and Steinke 2016, proposition 1.3; a little is lost against the tightest conversion.

    >>> round(zcdp_for(1.0, 1e-5), 5)
    0.02082
    """
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


# --- many at once --------------------------------------------------------------------------------------------------


def words(count: int, rng: Rng) -> np.ndarray:
    """Uniform whole numbers (count,) of 64 bits."""
    return np.frombuffer(rng.bytes(8 * count), dtype="<u8").astype(np.uint64)


def below_each(n: Ints, rng: Rng) -> Ints:
    """A uniform whole number from 0 to n - 1 for each n (count,) from 1 to 2^62.

    >>> below_each(np.array([1, 2**60]), np.random.default_rng(0))[0]
    np.int64(0)
    """
    mask = (n - 1).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):  # all bits below the highest one
        mask |= mask >> np.uint64(shift)
    out = np.zeros(len(n), dtype=np.int64)
    left = np.arange(len(n))
    while len(left):
        drawn = (words(len(left), rng) & mask[left]).astype(np.int64)
        fits = drawn < n[left]
        out[left[fits]] = drawn[fits]
        left = left[~fits]
    return out


def bernoulli_exp_each(over: Ints, under: Ints, rng: Rng) -> Bools:
    """True with probability exp(-over / under) for each fraction (count,) from 0 to 1, exactly.

    A uniform number is compared with the probability. Its first 53 binary digits and double precision decide, but for
    numbers that are too near to it: these get more digits until exact arithmetic decides.
    """
    drawn = words(len(over), rng) >> SPARE
    chance = np.exp(-(over / under)) * 2.0**DIGITS
    ahead = chance - drawn.astype(np.float64)
    out = ahead > 0
    for i in np.flatnonzero(np.abs(ahead) < NEAR):
        out[i] = Uniform(int(drawn[i]), rng).below_exp(Fraction(int(over[i]), int(under[i])))
    return out


def laplace_each(scale: Ints, rng: Rng) -> Ints:
    """For each whole scale t, of any shape, a whole number with probability proportional to exp(-|x| / t).

    >>> laplace_each(np.full((2, 3), 100), np.random.default_rng(0)).shape
    (2, 3)
    """
    flat = np.asarray(scale, dtype=np.int64).ravel()
    if flat.size and not 1 <= flat.min() <= flat.max() <= LARGEST:
        raise JaliError(f"Scales of noise must be from 1 to {LARGEST} steps: choose an epsilon that is less extreme.")
    out = np.zeros(len(flat), dtype=np.int64)
    left = np.arange(len(flat))
    while len(left):
        t = flat[left]
        u = below_each(t, rng)
        kept = bernoulli_exp_each(u, t, rng)
        size = u + t * _times(len(left), rng)
        negative = words(len(left), rng) % 2 == 1
        kept &= ~(negative & (size == 0))
        out[left[kept]] = np.where(negative, -size, size)[kept]
        left = left[~kept]
    return out.reshape(np.shape(scale))


def _times(count: int, rng: Rng) -> Ints:
    """How often (count,) a coin that shows heads with probability 1 / e does so before it shows tails.

    It does so k times or more with probability exp(-k): where a uniform number lies below that.
    """
    drawn = words(count, rng) >> SPARE
    number = drawn.astype(np.float64)
    with np.errstate(divide="ignore"):
        least = np.log(2.0**DIGITS / (number + NEAR))
        most = np.log(2.0**DIGITS / np.maximum(number - NEAR, 0.0))
    out = np.maximum(np.floor(least), 0.0).astype(np.int64)
    for i in np.flatnonzero(np.floor(most) != np.floor(least)):
        exact = Uniform(int(drawn[i]), rng)
        while exact.below_exp(Fraction(int(out[i]) + 1)):
            out[i] += 1
    return out


class Uniform:
    """A uniform number between 0 and 1 whose first binary digits are known, and that gets more when they are needed."""

    def __init__(self, drawn: int, rng: Rng) -> None:
        self.drawn = drawn
        self.digits = DIGITS
        self.rng = rng

    def below_exp(self, gamma: Fraction) -> bool:
        """Whether it lies below exp(-gamma), by decimal arithmetic with an error far below its last digit."""
        while True:
            with localcontext(prec=self.digits // 3 + 20):
                chance = (-Decimal(gamma.numerator) / Decimal(gamma.denominator)).exp() * 2**self.digits
                apart = chance - self.drawn
            if abs(apart) > 2:
                return bool(apart > 0)
            self.drawn = (self.drawn << 64) | int.from_bytes(self.rng.bytes(8))
            self.digits += 64
