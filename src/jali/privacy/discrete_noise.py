"""Exact integer noise from random bytes: discrete Laplace and discrete Gaussian.

Noise that is computed in floating point has gaps and repeated values by which it can be told which number it was added
to (Mironov, On Significance of the Least Significant Bits for Differential Privacy, 2012). Here all arithmetic is on
whole numbers and fractions, and the only randomness are bytes of the generator. A study passes a seeded generator; a
release passes `SystemRandom`, whose bytes are those of the operating system.

Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, algorithms 1 to 3.
"""

from __future__ import annotations

import math
import os
import secrets
from fractions import Fraction

import numpy as np

from jali.core.values import Ints, Rng


class SystemRandom(np.random.Generator):
    """A generator whose `bytes` come from the operating system; one that is seeded from there gives its other draws."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64DXSM(secrets.randbits(256)))

    def bytes(self, length: int) -> bytes:
        """Random bytes of the operating system."""
        return os.urandom(length)


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


def laplace_noise(shape: tuple[int, ...], scale: Fraction, rng: Rng) -> Ints:
    """Independent discrete Laplace noise; counts of sensitivity D become epsilon-private with scale D / epsilon."""
    return np.array([discrete_laplace(scale, rng) for _ in range(math.prod(shape))], dtype=np.int64).reshape(shape)


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
