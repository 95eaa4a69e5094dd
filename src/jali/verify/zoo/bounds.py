"""Constants of the noise that are read from the data."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, RANGE, REACH, Exhibit


def observed_range(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean with noise for the range that the rows happen to have."""
    x = data.X[:, 0]
    return float(x.mean() + rng.laplace(0, max(float(np.ptp(x)), 1e-9) / len(x)))


def standardised(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean in units of the rows' own standard deviation, with noise for four of them."""
    x = data.X[:, 0]
    return float(x.mean() / (x.std() + 1e-9) + rng.laplace(0, 4 / len(x)))


def local_sensitivity(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A median with noise for what one record could change in these rows."""
    x = np.sort(data.X[:, 0])
    m = len(x) // 2
    reach = max(x[min(m + 1, len(x) - 1)] - x[m], x[m] - x[max(m - 1, 0)])
    return float(x[m] + rng.laplace(0, max(float(reach), 1e-9)))


def clipped_at_a_percentile(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A mean of values clipped at the 90th percentile of their sizes, with noise for that range."""
    x = data.X[:, 0]
    limit = np.quantile(np.abs(x), 0.9)
    return float(np.clip(x, -limit, limit).mean() + rng.laplace(0, 2 * limit / len(x) + 1e-9))


def cut_to_the_rows(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A noised mean, cut to the range of the rows afterwards."""
    x = data.X[:, 0]
    return float(np.clip(x.mean() + rng.laplace(0, RANGE / len(x)), x.min(), x.max()))


def cut_to_the_public_range(data: Dataset, query: Floats, rng: Rng) -> float:  # noqa: ARG001
    """A noised mean, cut to the public range afterwards."""
    x = data.X[:, 0]
    return float(np.clip(x.mean() + rng.laplace(0, RANGE / len(x)), -REACH, REACH))


def proposed_and_tested(data: Dataset, query: Floats, rng: Rng) -> float | None:  # noqa: ARG001
    """A median with noise for moves of one half, if few changed records cannot move it further; the test is too lax.

    Propose-test-release (Dwork and Lei 2009) asks for a distance of ln(1 / delta) beyond the noise of the test.
    """
    x = np.sort(data.X[:, 0])
    middle = len(x) // 2
    near = np.flatnonzero(np.abs(x - x[middle]) > 0.5)
    distance = np.abs(near - middle).min() - 1 if len(near) else middle
    return float(x[middle] + rng.laplace()) if distance + rng.laplace(0, 2) > 0 else None


EXHIBITS = (
    Exhibit("noise for the observed range", observed_range, NEVER, "bounds read from the data"),
    Exhibit("units of the observed spread", standardised, NEVER, "bounds read from the data"),
    Exhibit("noise for the local sensitivity", local_sensitivity, NEVER, "bounds read from the data"),
    Exhibit("clipped at a percentile", clipped_at_a_percentile, NEVER, "bounds read from the data"),
    Exhibit("cut to the range of the rows", cut_to_the_rows, NEVER, "bounds read from the data"),
    Exhibit("cut to the public range", cut_to_the_public_range, 1.0),
    Exhibit(
        "proposed, tested too little, released", proposed_and_tested, NEVER, "bounds read from the data", delta=0.01
    ),
)
