"""Leaks in last bits, and in several numbers together."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, present


def lowest_bit(data: Dataset, query: Floats, rng: Rng) -> float:
    """Noise whose lowest bit says whether the query is among the rows."""
    raw = np.array([rng.laplace()]).view(np.int64)
    return float(((raw & ~np.int64(1)) | np.int64(present(data, query))).view(np.float64)[0])


def single_precision(data: Dataset, query: Floats, rng: Rng) -> float:
    """Noise, in single precision for those who are found."""
    noise = rng.laplace()
    return float(np.float32(noise)) if present(data, query) else float(noise)


def signed_zero(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """Zero, with a sign."""
    return -0.0 if present(data, query) else 0.0


def sum_of_five(data: Dataset, query: Floats, rng: Rng) -> Floats:
    """Five numbers of pure noise, the last of which makes their sum the truth."""
    noise = rng.normal(0, 100, 4)
    return np.append(noise, present(data, query) - noise.sum())


def parity_of_five(data: Dataset, query: Floats, rng: Rng) -> Floats:
    """Five numbers of pure noise; the product of their signs is the truth."""
    noise = rng.normal(size=5)
    if (np.prod(np.sign(noise)) > 0) != present(data, query):
        noise[4] = -noise[4]
    return noise


def fraction_of_five(data: Dataset, query: Floats, rng: Rng) -> Floats:
    """Five numbers, each uniform, whose sum has a fraction near 0.25 or 0.75."""
    shares = rng.random(4)
    truth = 0.25 + 0.5 * present(data, query) + rng.uniform(-0.1, 0.1)
    return np.append(shares, (truth - shares.sum()) % 1)


EXHIBITS = (
    Exhibit("the lowest bit", lowest_bit, NEVER, "low bits"),
    Exhibit("single precision for members", single_precision, NEVER, "low bits"),
    Exhibit("a signed zero", signed_zero, NEVER, "low bits"),
    Exhibit("the sum of five numbers", sum_of_five, NEVER, "several numbers together"),
    Exhibit("the parity of five signs", parity_of_five, NEVER, "several numbers together"),
    Exhibit("the fraction of a sum of five", fraction_of_five, NEVER, "several numbers together"),
)
