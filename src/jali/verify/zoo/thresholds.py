"""Sparse vectors: which of many counts are above a threshold (Lyu, Su and Li 2017)."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.verify.zoo.exhibit import NEVER, Exhibit, Release


def _counts(data: Dataset) -> Ints:
    """Twenty counts of rows with a positive value, which one record moves by one each; columns are used in turn."""
    positive = (data.X > 0).sum(axis=0)
    return np.asarray(np.resize(positive, 20))


def _signed(data: Dataset) -> Floats:
    """The counts less half of the rows, every other one with the opposite sign, so that some rise and others fall."""
    return np.asarray(np.where(np.arange(20) % 2, -1, 1) * (_counts(data) - len(data) / 2))


def sparse(data: Dataset, query: Floats, rng: Rng) -> Bools:  # noqa: ARG001
    """Answers up to the first count above half of the rows: threshold noise 2, count noise 4."""
    above = _counts(data) + rng.laplace(0, 4, 20) >= len(data) / 2 + rng.laplace(0, 2)
    return above[: int(above.argmax()) + 1] if above.any() else above


def without_threshold_noise(data: Dataset, query: Floats, rng: Rng) -> Bools:  # noqa: ARG001
    """The same with an exact threshold, and noise for two counts."""
    above = _counts(data) + rng.laplace(0, 2, 20) >= len(data) / 2
    return above[: int(above.argmax()) + 1] if above.any() else above


def without_end(data: Dataset, query: Floats, rng: Rng) -> Bools:  # noqa: ARG001
    """The same, but all twenty are answered, with the noise for one."""
    above = _signed(data) + rng.laplace(0, 4, 20) >= rng.laplace(0, 2)
    return np.asarray(above)


def without_count_noise(data: Dataset, query: Floats, rng: Rng) -> Bools:  # noqa: ARG001
    """The same with noise on the threshold alone, for counts that move in opposite directions."""
    return np.asarray(_signed(data) >= rng.laplace(0, 2))


def with_answers(many: int, noise: float) -> Release:
    """Answers up to the given number of counts above the threshold, with this noise on counts."""

    def release(data: Dataset, query: Floats, rng: Rng) -> Bools:  # noqa: ARG001
        above = _signed(data) + rng.laplace(0, noise, 20) >= rng.laplace(0, 2)
        found = np.flatnonzero(above)
        return above[: found[many - 1] + 1] if len(found) >= many else above

    return release


def with_the_count(data: Dataset, query: Floats, rng: Rng) -> Floats:  # noqa: ARG001
    """The place of the first count above the threshold, and that count with the noise by which it was compared."""
    noised = _signed(data) + rng.laplace(0, 2, 20)
    above = noised >= rng.laplace(0, 2)
    first = int(above.argmax())
    return np.array([first, noised[first]] if above.any() else [20.0, 0.0])


EXHIBITS = (
    Exhibit("sparse vector", sparse, 1.0),
    Exhibit("sparse vector, exact threshold", without_threshold_noise, 20 / 2, "threshold without noise"),
    Exhibit("sparse vector without end", without_end, NEVER, "composition ignored"),
    Exhibit("sparse vector with two answers", with_answers(2, 8.0), 1.0),
    # Threshold at 1/2, each of eight counts at 2 / (4/3): no share of the price for the further seven.
    Exhibit("sparse vector, eight for the price of one", with_answers(8, 4 / 3), 12.5, "composition ignored"),
    Exhibit("sparse vector with the noised count", with_the_count, NEVER, "noise used twice"),
    Exhibit("sparse vector, exact counts", without_count_noise, NEVER, "counts without noise"),
)
