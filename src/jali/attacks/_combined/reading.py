"""Some signals read on their scales: what an attacker knows of each record under one model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.discriminant import directions
from jali.attacks._combined.ratios import above_outside, common_ratio, own_ratio, steady_ratio, yes_no_ratios
from jali.attacks._combined.scales import Change, changes, unit_of
from jali.attacks._combined.sums import Side, Sums
from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats, Ints, Unit
from jali.stats.roc import auc

SOME = 6  # shadow models on which the scale of a signal is chosen, at most
RECORDS = 2_000  # records that this takes, at most
CLEARLY = 0.003  # AUC by which another scale must be better than the one on which a signal is stored
# The rows of `Reading.table`, block by block, each with one row per signal; then the sum of each block that is a ratio.
OWN, COMMON, ABOVE, RAW, WHITE_OWN, WHITE_COMMON, WHITE_STEADY, SUMS = range(8)
NO_RATIO = (ABOVE, RAW)


@dataclass(frozen=True)
class Tuning:
    """prior: models that the common spread counts for. ridge: shrinkage of correlations."""

    prior: float
    ridge: float


@dataclass(frozen=True)
class Features:
    """Every signal on each of its scales: its signal (F,), its change of scale, and whether it is yes or no (F,)."""

    signal: Ints
    change: tuple[Change, ...]
    yes_no: Bools

    @staticmethod
    def of(shadows: Shadows) -> Features:
        """The features of signals, by their units."""
        signal: list[int] = []
        change: list[Change] = []
        yes_no: list[bool] = []
        for s, (value, observed) in enumerate(zip(shadows.value, shadows.observed, strict=True)):
            unit = unit_of(shadows.unit(s), value, observed)
            for f in changes(unit, value, observed):
                signal.append(s)
                change.append(f)
                yes_no.append(unit is Unit.YES_NO)
        return Features(np.array(signal, dtype=np.int64), tuple(change), np.array(yes_no, dtype=bool))

    def __call__(self, value: Floats) -> Floats:
        """Values (S, ...) as features (F, ...)."""
        return np.stack([f(value[s]) for s, f in zip(self.signal, self.change, strict=True)])


@dataclass(frozen=True)
class Lens:
    """How signals are read: the feature of each (S,) for either ratio, and directions of independence (S, S)."""

    features: Features
    own: Ints
    common: Ints
    weights: Floats
    tuning: Tuning

    @property
    def blocks(self) -> Ints:
        """To which block each row of a table belongs (Q,)."""
        each = np.repeat(np.arange(SUMS), len(self.own))
        return np.concatenate([each, np.full(SUMS - len(NO_RATIO), SUMS)])


@dataclass(frozen=True)
class Reading:
    """Signals of shadow models read through a lens, single and in independent directions."""

    lens: Lens
    sums: Sums
    white: Sums

    @staticmethod
    def of(lens: Lens, sums: Sums) -> Reading:
        """The reading of features whose sums are known."""
        rest = np.einsum("gs,snk->gnk", lens.weights, sums.rest[lens.common])
        return Reading(lens, sums, Sums.of(rest, sums.use, sums.member))

    def of_shadow(self, column: int, rows: Bools) -> Floats:
        """The table (Q, n) of some records under a shadow model, judged by the others."""
        return self._table(self.sums.value(column), self.white.value(column), column, rows)

    def of_target(self, value: Floats) -> Floats:
        """The table (Q, N) of the attacked model, from its signals (S, N)."""
        # A record that no shadow model was asked about has no level to be compared with: it is taken to lie there.
        known = self.sums.use.any(axis=1)
        here = np.where(known, self.lens.features(value) - self.sums.centre, 0.0)
        white = self.lens.weights @ here[self.lens.common] - self.white.centre
        return self._table(here, white, None, np.ones(here.shape[1], dtype=bool))

    def _table(self, value: Floats, white: Floats, column: int | None, rows: Bools) -> Floats:
        lens = self.lens
        sides = self.sums.sides(column)
        own, common = both_ratios(value, self.sums.centre, sides, lens)
        whites = self.white.sides(column)
        parts = [
            own[lens.own],
            common[lens.common],
            above_outside(value, *sides)[lens.common],
            (value + self.sums.centre)[lens.common],
            own_ratio(white, *whites, lens.tuning.prior),
            common_ratio(white, *whites),
            steady_ratio(white, *whites),
        ]
        sums = [part.sum(axis=0)[None] for block, part in enumerate(parts) if block not in NO_RATIO]
        return np.concatenate([part[:, rows] for part in parts + sums])


def both_ratios(value: Floats, centre: Floats, sides: tuple[Side, Side], lens: Lens) -> tuple[Floats, Floats]:
    """Ratios (F, N) with own shifts and with a common one; Bernoulli for features that are yes or no."""
    own = own_ratio(value, *sides, lens.tuning.prior)
    common = common_ratio(value, *sides)
    binary = lens.features.yes_no
    if binary.any():
        moved = [side.pick(binary).moved(centre[binary]) for side in sides]
        own[binary], common[binary] = yes_no_ratios((value + centre)[binary], *moved)
    return own, common


def read(shadows: Shadows, fit: Ints, tuning: Tuning) -> Reading:
    """Choose the scale of each signal on some shadow models, and the directions in which signals are independent."""
    use = np.asarray(shadows.observed.all(axis=0))
    features = Features.of(shadows)
    sums = Sums.of(features(shadows.value), use, shadows.member)
    first = np.searchsorted(features.signal, np.arange(len(shadows.value)))
    start = Lens(features, first, first, np.eye(len(first)), tuning)
    own, common = _best_features(sums, start, fit[:SOME])
    weights = directions(sums.pick(common), tuning.ridge)
    return Reading.of(Lens(features, own, common, weights, tuning), sums)


def _best_features(sums: Sums, lens: Lens, fit: Ints) -> tuple[Ints, Ints]:
    """The feature of each signal (S,) with the highest mean AUC on some shadow models, for either ratio.

    The scale on which the signal is stored stays unless another is clearly better: a signal without a shift of its own
    may carry the noise of another one, and on a scale picked by accident that noise would not cancel.
    """
    signal = lens.features.signal
    reached = np.zeros((2, len(signal)))
    doubtful = np.flatnonzero(np.bincount(signal)[signal] > 1)
    for column in fit:
        rows = np.flatnonzero(sums.use[:, column])
        rows = rows[:: -(-len(rows) // RECORDS) or 1]
        truth = sums.member[rows, column]
        if len(truth) and truth.any() and not truth.all():
            found = both_ratios(sums.value(int(column)), sums.centre, sums.sides(int(column)), lens)
            for kind, ratios in enumerate(found):
                reached[kind, doubtful] += [auc(ratios[f, rows], truth) for f in doubtful]
    reached[:, lens.own] += CLEARLY * len(fit)
    best = [[members[reached[kind, members].argmax()] for members in _members(signal)] for kind in (0, 1)]
    return np.array(best[0], dtype=np.int64), np.array(best[1], dtype=np.int64)


def _members(signal: Ints) -> list[Ints]:
    """The features of each signal."""
    return [np.flatnonzero(signal == s) for s in range(int(signal.max(initial=-1)) + 1)]
