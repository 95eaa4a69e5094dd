"""Public data that hold people of the private data are not public: how to find that out."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np

from jali.core.protocols import Source
from jali.core.values import Dataset

CHANCE = 1e-6  # probability of calling a claim void because rows of different people happen to be equal


def overlaps(part: object, data: Dataset) -> str:
    """Why the public data of a part are not public beside these data; empty where they are, or where it has none."""
    found = (shared(source.load(), data) for source in public_sources(part))
    return next((text for text in found if text), "")


def public_sources(part: object) -> list[Source]:
    """The public data of a part and of the parts inside it."""
    if not is_dataclass(part) or isinstance(part, type):
        return []
    found: list[Source] = []
    for field in fields(part):
        value = getattr(part, field.name)
        found += [value] if field.name == "public" and value is not None else public_sources(value)
    return found


def shared(public: Dataset, data: Dataset) -> str:
    """Why public data are not public: they hold more rows of the data than chance explains; empty where they do not.

    Rows of different people can be equal; how often is estimated by the share of rows that have a duplicate. If none
    has one, by how often two people agree in each column, as if columns were independent: where many columns are
    continuous, one shared row is enough.
    """
    from scipy.stats import binom

    if public.X.shape[1] != data.X.shape[1]:
        return ""
    own = Counter(_rows(data))
    same = sum(row in own for row in _rows(public))
    twins = sum(count for count in own.values() if count > 1)
    by_chance = twins / len(data) if twins else min(1.0, len(data) * _agreement(data))
    if binom.sf(same - 1, len(public), by_chance) > CHANCE:
        return ""
    return (
        f"{same} of the {len(public)} rows of its public data are also in the data that the claim is about; take "
        "public data that hold none of these people"
    )


def _agreement(data: Dataset) -> float:
    """How often two people have equal rows, if columns were independent; a column without equal values counts as one.

    >>> from jali.core.values import Column, Schema
    >>> _agreement(Dataset(np.array([[0.0], [1.0], [1.0]]), np.zeros(3, dtype=int), Schema((Column("a"),))))
    0.5
    """
    pairs = len(data) * (len(data) - 1) / 2
    chance = 1.0
    for column in np.column_stack([data.X, data.y]).T:
        counts = np.unique(column, return_counts=True)[1].astype(np.float64)
        chance *= min(1.0, ((counts * (counts - 1)).sum() / 2 + 1) / (pairs + 1))
    return float(chance)


def _rows(data: Dataset) -> list[bytes]:
    """The contents of each row and its label."""
    return [row.tobytes() for row in np.column_stack([data.X, data.y]) + 0.0]
