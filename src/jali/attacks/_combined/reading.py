"""Some signals read on their scales: what an attacker knows of each record under one model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.discriminant import directions
from jali.attacks._combined.ratios import above_outside, common_ratio, own_ratio, steady_ratio, yes_no_ratios
from jali.attacks._combined.scales import Change, changes, unit_of
from jali.attacks._combined.sums import Side, Sums, levels
from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats, Ints, Unit
from jali.stats.roc import aucs

SOME = 6  # shadow models on which the scale of a signal is chosen, at most
RECORDS = 6_000  # records that this takes, at most: with 2,000, whole vectors of a forest lost a tenth of what they add
CLEARLY = 0.003  # AUC by which another scale must be better than the one on which a signal is stored
# The rows of a table, block by block, each with one row per signal; then the sum of each block that is a ratio.
OWN, COMMON, ABOVE, RAW, WHITE_OWN, WHITE_COMMON, WHITE_STEADY, SUMS = range(8)
NO_RATIO = (ABOVE, RAW)


@dataclass(frozen=True)
class Tuning:
    """prior: models that the common spread counts for. ridge: shrinkage of correlations."""

    prior: float
    ridge: float


@dataclass(frozen=True)
class Features:
    """Signals on some of their scales: the signal of each feature (F,), its change of scale, whether it is yes or no.

    >>> Features(np.array([0, 0]), (np.exp, np.sqrt), np.array([False, False]))(np.array([[0.0, 1.0]])).round(1)
    array([[1. , 2.7],
           [0. , 1. ]])
    """

    signal: Ints
    change: tuple[Change, ...]
    yes_no: Bools

    @staticmethod
    def of(shadows: Shadows) -> Features:
        """Every signal on each of its scales, by its unit; the first is the one on which it is stored."""
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

    def pick(self, which: Ints) -> Features:
        """The chosen features."""
        return Features(self.signal[which], tuple(self.change[f] for f in which), self.yes_no[which])

    def __call__(self, value: Floats) -> Floats:
        """Values (S, ...) as features (F, ...)."""
        out = np.empty((len(self.signal), *value.shape[1:]))
        for f, (s, change) in enumerate(zip(self.signal, self.change, strict=True)):
            out[f] = change(value[s])
        return out

    def of_models(self, shadows: Shadows, sets: Bools) -> Sums:
        """Their sums over sets of shadow models (T, K)."""
        use = np.asarray(shadows.observed.all(axis=0))

        def read(rows: slice) -> tuple[Floats, Floats]:
            return centred(self(shadows.value[:, rows]), use[rows])

        return Sums.of(read, len(self.signal), use, shadows.member, sets)


def centred(value: Floats, use: Bools) -> tuple[Floats, Floats]:
    """Features (F, n, K) less each record's level, 0 where a cell is not used (n, K), and that level (F, n)."""
    level = levels(value, use)
    value = value - level[:, :, None]
    value *= use
    return value, level


@dataclass(frozen=True)
class Lens:
    """How signals are read: the scale of each for its own shift and for a common one, and directions of independence.

    own, common: features (S,). weights (S, S): the directions, as weights of the common features.
    """

    own: Features
    common: Features
    weights: Floats
    tuning: Tuning

    @property
    def blocks(self) -> Ints:
        """To which block each row of a table belongs (Q,)."""
        each = np.repeat(np.arange(SUMS), len(self.weights))
        return np.concatenate([each, np.full(SUMS - len(NO_RATIO), SUMS)])


@dataclass(frozen=True)
class Reading:
    """Signals of shadow models read through a lens, for several sets of these models.

    sums: those of features for own shifts, for common ones, and of independent directions, S rows each. known (N,):
    records that some shadow model was asked about.
    """

    lens: Lens
    sums: Sums
    known: Bools

    @staticmethod
    def of(lens: Lens, shadows: Shadows, sets: Bools) -> Reading:
        """The reading of shadow models in sets (T, K)."""
        use = np.asarray(shadows.observed.all(axis=0))
        size = len(lens.weights)

        def read(rows: slice) -> tuple[Floats, Floats]:
            mine = shadows.value[:, rows]
            rest = np.empty((3 * size, *mine.shape[1:]))
            level = np.zeros((3 * size, mine.shape[1]))
            for k, features in enumerate((lens.own, lens.common)):
                part = slice(k * size, (k + 1) * size)
                rest[part], level[part] = centred(features(mine), use[rows])
            common = rest[size : 2 * size].reshape(size, -1)
            rest[2 * size :] = (lens.weights @ common).reshape(mine.shape)
            return rest, level

        sums = Sums.of(read, 3 * size, use, shadows.member, sets)
        return Reading(lens, sums, np.asarray(use.any(axis=1)))

    def table(self, t: int, value: Floats) -> Floats:
        """What is known of each record (Q, N) under a model with these signals (S, N), judged by one set of models."""
        here = np.concatenate([self.lens.own(value), self.lens.common(value)])
        size = len(self.lens.weights)
        # A record that no shadow model was asked about has no level to be compared with: it is taken to lie there.
        here = np.where(self.known, here - self.sums.level[: 2 * size], 0.0)
        white = self.lens.weights @ here[size:]
        return self._table(here[:size], here[size:], white, t)

    def _table(self, own: Floats, common: Floats, white: Floats, t: int) -> Floats:
        size = len(white)
        prior = self.lens.tuning.prior
        level = self.sums.level[size : 2 * size]
        sides = self.sums.sides(t)
        for_own = sides[0].pick(slice(0, size)), sides[1].pick(slice(0, size))
        for_common = sides[0].pick(slice(size, 2 * size)), sides[1].pick(slice(size, 2 * size))
        whites = sides[0].pick(slice(2 * size, None)), sides[1].pick(slice(2 * size, None))
        parts = [
            own_ratio(own, *for_own, prior),
            common_ratio(common, *for_common),
            above_outside(common, *for_common),
            common + level,
            own_ratio(white, *whites, prior),
            common_ratio(white, *whites),
            steady_ratio(white, *whites),
        ]
        binary = self.lens.common.yes_no
        if binary.any():
            moved = [side.pick(binary).moved(level[binary]) for side in for_common]
            parts[OWN][binary], parts[COMMON][binary] = yes_no_ratios((common + level)[binary], *moved)
        sums = [part.sum(axis=0)[None] for block, part in enumerate(parts) if block not in NO_RATIO]
        return np.concatenate(parts + sums)


def choose_lens(shadows: Shadows, fit: Ints, tuning: Tuning) -> Lens:
    """Choose the scale of each signal on some shadow models, and the directions in which signals are independent."""
    features = Features.of(shadows)
    own, common = _best_features(shadows, features, fit[:SOME], tuning.prior)
    use = np.asarray(shadows.observed.all(axis=0))
    rest, _ = centred(features.pick(common)(shadows.value), use)
    weights = directions(rest, use, shadows.member, tuning.ridge)
    return Lens(features.pick(own), features.pick(common), weights, tuning)


def _best_features(shadows: Shadows, features: Features, fit: Ints, prior: float) -> tuple[Ints, Ints]:
    """The feature of each signal (S,) with the highest mean AUC on some shadow models, for either ratio.

    The scale on which the signal is stored stays unless another is clearly better: a signal without a shift of its own
    may carry the noise of another one, and on a scale picked by accident that noise would not cancel.
    """
    stored = np.searchsorted(features.signal, np.arange(len(shadows.value)))
    doubtful = np.flatnonzero(np.bincount(features.signal)[features.signal] > 1)
    if not len(doubtful) or not len(fit):
        return stored, stored
    use = np.asarray(shadows.observed.all(axis=0))
    records = np.flatnonzero(use[:, fit].any(axis=1))
    some = shadows.rows(records[:: -(-len(records) // RECORDS) or 1])
    tried = features.pick(doubtful)
    reached = np.zeros((2, len(features.signal)))
    reached[:, stored] = CLEARLY * len(fit)
    sums = tried.of_models(some, without(fit, some.member.shape[1]))
    for t, column in enumerate(fit.tolist()):
        rows = np.asarray(some.observed[:, :, column].all(axis=0))
        truth = some.member[rows, column]
        if truth.any() and not truth.all():
            found = _ratios(tried(some.value[:, :, column]) - sums.level, sums.sides(t), prior)
            for kind, ratios in enumerate(found):
                reached[kind, doubtful] += aucs(ratios[:, rows], truth)
    best = [[at[reached[kind, at].argmax()] for at in _by_signal(features.signal)] for kind in (0, 1)]
    return np.array(best[0], dtype=np.int64), np.array(best[1], dtype=np.int64)


def _ratios(value: Floats, sides: tuple[Side, Side], prior: float) -> tuple[Floats, Floats]:
    return own_ratio(value, *sides, prior), common_ratio(value, *sides)


def without(columns: Ints, models: int) -> Bools:
    """For each of some shadow models, all the others (T, K).

    >>> without(np.array([1]), 3)
    array([[ True, False,  True]])
    """
    return np.asarray(np.arange(models) != columns[:, None])


def _by_signal(signal: Ints) -> list[Ints]:
    """The features of each signal."""
    return [np.flatnonzero(signal == s) for s in range(int(signal.max(initial=-1)) + 1)]
