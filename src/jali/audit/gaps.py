"""Signals of one explainer that are missing in different places: copies without these gaps, for the combined attack.

A combined attack reads a cell where it has all signals. A column that is often missing would take the cells of all
others with it, and what these show. So it is also read with its gaps filled, wherever the explainer gave anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from jali.core.values import LARGEST, Bools, Evidence, Floats, SignalName
from jali.stats.two_way import TwoWay, answering

MODELS = 3  # below so many nothing can be said about the usual answer
RECORDS = 20  # records that each model must have answered about
LOOKED_AT = 4_000  # records from which the levels of models are read, at most
EXACT = 1e-9  # of the median size of a value; smaller distances are rounding
FILLED = ", gaps filled"  # ends the name of a copy


@dataclass(frozen=True)
class Filled(SignalName):
    """The name of a copy without gaps; no signal of a user has such a name, whatever its text."""

    @staticmethod
    def of(name: SignalName) -> Filled:
        """The name of the copy of a signal."""
        return Filled(name.signal + FILLED, name.explainer, name.part)


@dataclass(frozen=True)
class Copy:
    """A signal without gaps where its explainer gave anything: values (N, M), and these cells (N, M)."""

    value: Floats
    observed: Bools


def original(name: SignalName) -> SignalName:
    """The signal of which a name is a copy without gaps; of other signals these themselves.

    >>> size = SignalName("size", "e")
    >>> str(Filled.of(size)), original(Filled.of(size)) == original(size) == size
    ('e/size, gaps filled', True)
    """
    if not isinstance(name, Filled):
        return name
    return SignalName(name.signal.removesuffix(FILLED), name.explainer, name.part)


def copies(evidence: Evidence, explainers: Iterable[tuple[SignalName, ...]]) -> dict[SignalName, Copy]:
    """Of the signals of each explainer those that are missing somewhere where another one is there, without gaps."""
    out: dict[SignalName, Copy] = {}
    for names in explainers:
        at = [evidence.names.index(name) for name in names]
        first = evidence.observed[at[0]]
        if all(np.array_equal(evidence.observed[s], first) for s in at[1:]):
            continue
        somewhere = np.logical_or.reduce([evidence.observed[s] for s in at])
        for name, s in zip(names, at, strict=True):
            if not np.array_equal(evidence.observed[s], somewhere):
                value = filled(evidence.value[s], evidence.observed[s], somewhere)
                out[Filled.of(name)] = Copy(value, somewhere)
    return out


def filled(value: Floats, observed: Bools, somewhere: Bools) -> Floats:
    """A signal (N, M) with its gaps in some cells (N, M) filled by the record's level: the mean over models.

    Where no model answered about a record it is the mean over all records. Models that clearly answer on levels of
    their own are put on one level first, else what is filled would lie far from what they say. Values are read and no
    membership, and those of a target like those of every other model.

    >>> there = np.array([[True, True, False], [False, False, False]])
    >>> filled(np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]]), there, np.array([[True] * 3, [True, False, True]]))
    array([[1., 3., 2.],
           [2., 0., 2.]])
    """
    value = value - _levels(value, observed)
    many = observed.sum(axis=1, keepdims=True)
    share = observed / np.maximum(many, 1)  # before the sum: that of large numbers would overflow
    level = (value * share).sum(axis=1, keepdims=True)
    usual = float((level * (many / max(1, many.sum()))).sum())
    level = np.where(many > 0, level, usual)
    out = np.where(observed, value, np.where(somewhere, level, 0.0))
    return np.clip(out, -LARGEST, LARGEST, out=out)


def _levels(value: Floats, observed: Bools) -> Floats:
    """The levels of models (1, M) above the usual one, where they differ by more than chance; else zeros."""
    out = np.zeros((1, value.shape[1]))
    known = np.flatnonzero(observed.sum(axis=1) >= MODELS)
    known = known[:: -(-len(known) // LOOKED_AT) or 1]
    rows, models = answering(observed[known], MODELS, RECORDS)
    if len(models) < MODELS or not len(rows):
        return out
    at = np.ix_(known[rows], models)
    found = TwoWay.of(value[at], observed[at])
    rounding = EXACT * float(np.median(np.abs(value[observed])))
    if found.distance.min() > rounding and found.apart(float(observed[at].sum(axis=0).mean())):
        out[0, models] = found.middle
    return out
