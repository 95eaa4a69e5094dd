"""Signals as how unusual they are for the record and for the model, beside the signals themselves.

Some answers about a record lie far from all others, and some models answer on a scale of their own: a gradient is
larger throughout where a model is surer. Both drown a leak in means and variances over models. An adversary sees all
answers of a model, so it can take off what is the model's own and cut what lies far out. Values are read and no
membership, and those of a target like those of every other model. (Levels of models: `attacks._combined.manner`.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jali.audit.evidence import read_only
from jali.core.values import Bools, Evidence, Floats, SignalName, Unit
from jali.stats.two_way import TwoWay, answering, median

MODELS = 4  # below so many models nothing can be said about the usual answer
RECORDS = 20  # records that each model must have answered about
LOOKED_AT = 1_000  # records on which it is seen whether a signal needs this, at most
MOST = 12  # signals of the baseline, and of the explanation, that are read so: each takes as long as a further signal
OUTSIDE = 6.0  # median distances from the usual answer; 5 in 100,000 normal numbers lie as far out
# From where on a signal is read so: share of its cells far out, share of these in the sum of squares, and deviation of
# the logarithms of the models' median distances.
FAR, HEAVY, UNEQUAL = 0.02, 0.3, 0.4
PRIOR = 3.0  # models that the usual distance counts for beside a record's own
EXACT = 1e-9  # of the median size of a value; smaller distances are rounding


def with_steadied(evidence: Evidence, base: int) -> tuple[Evidence, int]:
    """Signals and those that are read so; the first `base`, which are the baseline's, stay first, and their number."""
    sides = [range(base), range(base, len(evidence.names))]
    more = [_needed(evidence, side) for side in sides]
    if not any(more):
        return evidence, base
    order = [(s, read) for side, some in zip(sides, more, strict=True) for s, read in _in_order(side, some)]
    names = tuple(_name(evidence.names[s], read is not None) for s, read in order)
    value = np.stack([evidence.value[s] if read is None else read for s, read in order])
    units = tuple(evidence.units[s] if read is None else Unit.PLAIN for s, read in order)
    observed = evidence.observed[[s for s, _ in order]]
    read_only(value, observed)
    found = Evidence(names, value, observed, evidence.member, units)
    return found, base + len(more[0])


def _in_order(side: range, more: dict[int, Floats]) -> list[tuple[int, Floats | None]]:
    return [*((s, None) for s in side), *more.items()]


def _name(name: SignalName, steadied: bool) -> SignalName:
    return replace(name, signal=f"{name.signal}, steadied") if steadied else name


def _needed(evidence: Evidence, side: range) -> dict[int, Floats]:
    """Of some signals those that need it most, by signal."""
    need = {s: _need(evidence.value[s], evidence.observed[s]) for s in side if evidence.units[s] is not Unit.YES_NO}
    chosen = sorted((s for s, much in need.items() if much >= 1), key=lambda s: -need[s])[:MOST]
    made = {s: steadied(evidence.value[s], evidence.observed[s]) for s in sorted(chosen)}
    return {s: value for s, value in made.items() if value is not None}


def _need(value: Floats, observed: Bools) -> float:
    """How much a signal (N, M) needs it: 1 where far values, or scales of models, begin to count."""
    known = np.flatnonzero(observed.sum(axis=1) >= MODELS)
    known = known[:: -(-len(known) // LOOKED_AT) or 1]
    value, observed = value[known], observed[known]
    cells = np.ix_(*answering(observed, MODELS, RECORDS))
    found = _Usual.of(value[cells], observed[cells])
    return 0.0 if found is None else found.need


def steadied(value: Floats, observed: Bools) -> Floats | None:
    """A signal (N, M) in its usual distances from the usual answer about the record, far ones drawn in.

    arcsinh(z / w), with z what is left of the signal without the record's and the model's middle, in the model's median
    distances, and w the record's median |z|, shrunken towards 1. 0 where few models answered about a record, and where
    a model answered about few. None where a model's answers hardly differ from the usual ones.
    """
    cells = np.ix_(*answering(observed, MODELS, RECORDS))
    found = _Usual.of(value[cells], observed[cells])
    if found is None:
        return None
    out = np.zeros(value.shape)
    out[cells] = found.drawn_in()
    return out if np.isfinite(out).all() else None


class _Usual:
    """Distances (n, M) from the usual answer, in those of the model (M,), where there are answers (n, M)."""

    def __init__(self, away: Floats, use: Bools, distance: Floats) -> None:
        self.away = away
        self.use = use
        self.distance = distance

    @staticmethod
    def of(value: Floats, use: Bools) -> _Usual | None:
        """The distances of values (n, M); None where they cannot be told."""
        if value.shape[1] < MODELS or not len(value):
            return None
        found = TwoWay.of(value, use)
        if found.distance.min() <= EXACT * np.median(np.abs(value[use])):
            return None
        return _Usual(found.rest / found.distance, use, found.distance)

    @property
    def need(self) -> float:
        """As `_need`."""
        away = np.abs(self.away[self.use])
        far = away > OUTSIDE
        squares = (away / max(float(away.max()), 1.0)) ** 2  # a single cell may be as large as numbers get
        heavy = float(squares[far].sum()) / (float(squares.sum()) or 1.0)
        unequal = float(np.log(self.distance).std())
        return max(float(far.mean()) / FAR, heavy / HEAVY, unequal / UNEQUAL)

    def drawn_in(self) -> Floats:
        """As `steadied`; the middle of a record is moved to a mean, so that no cell is exactly the usual answer."""
        cells = self.use.sum(axis=1, keepdims=True)
        own = (PRIOR + cells * median(np.abs(self.away), self.use, 1)) / (PRIOR + cells)
        z = self.away / own
        z = z - np.where(self.use, np.clip(z, -2, 2), 0.0).sum(axis=1, keepdims=True) / cells
        return np.where(self.use, np.arcsinh(z), 0.0)
