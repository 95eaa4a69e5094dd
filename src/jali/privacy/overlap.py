"""Public data that hold people of the private data are not public: how to find that out."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np

from jali.core.protocols import Source
from jali.core.values import Dataset, Floats
from jali.privacy.near_rows import near_rows

CHANCE = 1e-6  # probability of calling a claim void because rows of different people happen to be equal
ADVICE = "take public data that hold none of these people"


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

    Rows are compared as they are, with their label and without it, and up to rounding, the units of columns and the
    length of rows (`jali.privacy.near_rows`).
    """
    if public.X.shape[1] != data.X.shape[1]:
        return ""
    same = max(_equal_rows(_labelled(public), _labelled(data)), _equal_rows(public.X, data.X))
    if same:
        many = f"{same} of the {len(public)} rows of its public data"
        return f"{many} are also in the data that the claim is about; {ADVICE}"
    near = near_rows(public, data)
    if near is None:
        return ""
    return (
        f"{near.same} of {near.of} rows of its public data that were looked at are rows of the data that the claim is "
        f"about, up to rounding or scale; {ADVICE}"
    )


def _equal_rows(public: Floats, data: Floats) -> int:
    """How many public rows are rows of the data; 0 if chance explains them.

    Rows of different people can be equal; how often is estimated by the share of rows that have a duplicate. If none
    has one, by how often two people agree in each column, as if columns were independent: where many columns are
    continuous, one shared row is enough.
    """
    from scipy.stats import binom

    own = Counter(_keys(data))
    same = sum(row in own for row in _keys(public))
    twins = sum(count for count in own.values() if count > 1)
    by_chance = twins / len(data) if twins else min(1.0, len(data) * _agreement(data))
    return same if binom.sf(same - 1, len(public), by_chance) <= CHANCE else 0


def _agreement(rows: Floats) -> float:
    """How often two people have equal rows, if columns were independent; a column without equal values counts as one.

    >>> _agreement(np.array([[0.0], [1.0], [1.0]]))
    0.5
    """
    pairs = len(rows) * (len(rows) - 1) / 2
    chance = 1.0
    for column in rows.T:
        counts = np.unique(column, return_counts=True)[1].astype(np.float64)
        chance *= min(1.0, ((counts * (counts - 1)).sum() / 2 + 1) / (pairs + 1))
    return float(chance)


def _labelled(data: Dataset) -> Floats:
    """The rows with their label."""
    return np.column_stack([data.X, data.y])


def _keys(rows: Floats) -> list[bytes]:
    """The contents of each row."""
    return [row.tobytes() for row in np.ascontiguousarray(rows) + 0.0]
