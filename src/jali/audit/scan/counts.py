"""Counts of people that explainers and models keep: how many of them are small."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from jali.audit.scan.pieces import Counts, column_of

COUNTED = re.compile(
    r"(bin_weights_?|histogram_weights_?|bin_counts_?|n_node_samples|weighted_n_node_samples|class_count_|"
    r"feature_count_|leaf_count|counts?)$"
)
SMALL = 5  # fewer people than this are few


def counts_named(where: str, values: Any, library: str) -> list[Counts]:
    """An array or list whose name says that it counts people, and whose values are whole and not negative."""
    name = where.rstrip("[]").rpartition(".")[2]
    if not COUNTED.search(name):
        return []
    numbers = np.asarray(values, dtype=np.float64).ravel() if isinstance(values, np.ndarray) else column_of(values)
    if numbers is None or numbers.dtype.kind != "f" or not len(numbers):
        return []
    whole = np.isfinite(numbers).all() and np.all(numbers >= 0) and np.all(numbers == np.rint(numbers))
    return [Counts(where, numbers, library)] if whole and numbers.max() > 1 else []


def small(values: Any) -> int:
    """How many counts are of one to four people.

    >>> small(np.array([0, 1, 4, 5, 90]))
    2
    """
    return int(((values >= 1) & (values < SMALL)).sum())
