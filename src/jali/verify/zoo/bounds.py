"""Constants of the noise that are read from the data."""

from __future__ import annotations

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit


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


EXHIBITS = (
    Exhibit("noise for the observed range", observed_range, NEVER, "bounds read from the data"),
    Exhibit("units of the observed spread", standardised, NEVER, "bounds read from the data"),
    Exhibit("noise for the local sensitivity", local_sensitivity, NEVER, "bounds read from the data"),
)
