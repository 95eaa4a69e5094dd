"""A user's code, run with fixed seeds and without its prints."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import warnings
import zlib
from collections.abc import Iterator

import numpy as np

from jali.core.values import Floats

WIDE = 2**32


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Set the seeds of the generators that libraries share (random, numpy, torch), and restore them afterwards.

    >>> with seeded(1):
    ...     first = random.random()
    >>> with seeded(1):
    ...     print(random.random() == first)
    True
    """
    torch = sys.modules.get("torch")  # a library that has not been imported draws nothing
    ours = random.getstate()
    numbers = np.random.get_state()  # noqa: NPY002 (the shared generator is the one that libraries use)
    tensors = torch.get_rng_state() if torch else None
    reseed(seed)
    try:
        yield
    finally:
        random.setstate(ours)
        np.random.set_state(numbers)  # noqa: NPY002
        if torch and tensors is not None:
            torch.set_rng_state(tensors)


def reseed(seed: int) -> None:
    """Set the seeds of the shared generators."""
    random.seed(seed)
    np.random.seed(seed % WIDE)  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def seed_of(base: int, row: Floats) -> int:
    """The seed of one row (D,): it depends on the row, and not on the rows that are explained with it."""
    return (base ^ zlib.crc32(np.ascontiguousarray(row).tobytes())) % WIDE


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Without prints, progress bars and warnings, of which an audit would show one per model and tile."""
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
