"""Some signals read on their scales: what an attacker knows of each record under one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jali.attacks._combined.discriminant import directions, scales_together
from jali.attacks._combined.facts import Fact, Facts
from jali.attacks._combined.features import Features, centred
from jali.attacks._combined.manner import Manner
from jali.attacks._combined.patterns import Digits, Exact, Repeats
from jali.attacks._combined.products import Products
from jali.attacks._combined.ratios import (
    above_outside,
    common_ratio,
    far_from_outside,
    own_ratio,
    steady_ratio,
    yes_no_ratios,
)
from jali.attacks._combined.sums import Side, Sums
from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats, Ints
from jali.stats.several_scores import aucs
from jali.store import release

SOME = 6  # shadow models on which the scale of a signal is chosen, at most
RECORDS = 6_000  # records that this takes, at most: with 2,000, whole vectors of a forest lost a tenth of what they add
CLEARLY = 0.003  # AUC by which another scale must be better than the one on which a signal is stored
# The rows of a table: blocks with one row per signal, and then sums over all signals: of each of the ratios, of
# products of two signals, of ratios of exact repeats, of digits and signs, two of which are exactly zero, and last the
# distance of all signals together from what out-models answer. Nobody reads the single ratios of two kinds, so that
# only their sums are kept.
OWN, COMMON, ABOVE, RAW, PLACE, WHITE_OWN, WHITE_PLACE, WHITE_COMMON, WHITE_STEADY, SUMS = range(10)
SINGLE = WHITE_COMMON  # the number of blocks with one row per signal
WHOLE = (SUMS, SUMS, SUMS, WHITE_COMMON, WHITE_STEADY, SUMS, SUMS, SUMS, SUMS, SUMS, SUMS)  # the blocks of the sums
USUAL = 5  # after so many sums comes, where exact values come back often, a row that says how usual an answer is
FEW = 4  # signals whose ratios are computed together
SEVERAL = 2  # signals from which on noise can cancel
TRIED = 8  # features that are tried together: the sums of all would be the largest arrays of all
MOSTLY = 0.9  # share of records that are known from which on all are read
GIVEN_BACK = 4_096  # records after which the memory of evidence that is mapped is given back


@dataclass(frozen=True)
class Tuning:
    """prior: models that the common spread counts for. ridge: shrinkage of correlations."""

    prior: float
    ridge: float


@dataclass(frozen=True)
class Lens:
    """How signals are read: the scale of each for its own shift and for a common one, and directions of independence.

    features: all that are read, each once; those from `zeros` on say which signals are exactly zero. differ: those in
    which models answer in a manner of their own, which is taken off. for_own, for_common (S,): the feature of each
    signal. weights (S, S): the directions, as weights of the features for common shifts. aside: the same for reading
    models set aside, by part, from all other models. products: those of the features for common shifts whose shifts
    differ between records. digits: those that tell members. repeated: signals whose exact values come back.
    """

    features: Features
    zeros: int
    differ: Ints
    for_own: Ints
    for_common: Ints
    weights: Floats
    aside: tuple[Floats, ...]
    products: Products
    digits: Digits
    repeated: Exact
    tuning: Tuning

    @property
    def own(self) -> Features:
        """The features for own shifts."""
        return self.features.pick(self.for_own)

    @property
    def common(self) -> Features:
        """The features for common shifts."""
        return self.features.pick(self.for_common)

    @property
    def size(self) -> int:
        """The number of features, of directions, and of what products take."""
        return len(self.features.signal) + len(self.weights) + self.products.size

    def for_part(self, part: int) -> Lens:
        """The lens for models of a part that is set aside: its directions do not come from these models."""
        return replace(self, weights=self.aside[part])

    @property
    def blocks(self) -> Ints:
        """To which block each row of a table belongs (Q,)."""
        usual = (SUMS,) if self.repeated.usual.any() else ()
        whole = WHOLE[:USUAL] + usual + WHOLE[USUAL:]
        return np.concatenate([np.repeat(np.arange(SINGLE), len(self.weights)), whole])


@dataclass(frozen=True)
class Reading:
    """Signals of shadow models read through a lens, for several sets of these models.

    rows (n,): the records that are read, one of which stands for all that no shadow model answered about. known (n,):
    which of them some model did answer about. place (N,): where each record is among them. manner: how the models
    answer. sums: those of the lens's features, then of its independent directions, then of products. repeats: exact
    values.
    """

    lens: Lens
    rows: Ints
    known: Bools
    place: Ints
    manner: Manner
    sums: Sums
    repeats: Repeats

    @staticmethod
    def of(lens: Lens, shadows: Shadows, sets: Bools, manner: Manner | None = None) -> Reading:
        """The reading of shadow models in sets (T, K); manner: how they answer, where that is known already."""
        use = shadows.answered
        member = shadows.member
        rows, place = read_once(np.asarray(use.any(axis=1)))
        everybody = len(rows) == len(use)
        if not everybody:
            use = use[rows]
            member = member[rows]
        size = len(lens.features.signal)
        how = manner or lens.features.manner(shadows, lens.differ)

        def read(block: slice) -> tuple[Floats, Floats]:
            mine = shadows.value[:, block if everybody else rows[block]]
            rest = np.empty((lens.size, *mine.shape[1:]))
            level = np.zeros((lens.size, mine.shape[1]))
            rest[:size], level[:size] = centred(lens.features(mine), use[block], how)
            common = rest[lens.for_common]
            flat = common.reshape(len(common), -1)
            rest[size : size + len(common)] = (lens.weights @ flat).reshape(common.shape)
            if lens.products.size:
                rest[size + len(common) :] = lens.products(common, member[block])
            if block.start // GIVEN_BACK != block.stop // GIVEN_BACK:
                release(shadows.value)
            return rest, level

        sums = Sums.of(read, lens.size, use, member, sets)
        back = lens.repeated.signal
        exact = shadows.value[back] if everybody else shadows.value[np.ix_(back, rows)]
        repeats = Repeats(lens.repeated, exact, use, member, sets)
        return Reading(lens, rows, np.asarray(use.any(axis=1)), place, how, sums, repeats)

    def table(self, t: int, value: Floats, use: Bools, out: Floats | None = None) -> Floats:
        """What is known of each record (Q, N) under a model with these signals (S, N), judged by one set of models.

        use (N,): the records that the model answered about. out (Q, N): where to write it, which saves a copy.
        """
        everybody = len(self.rows) == value.shape[1]
        mine = value if everybody else value[:, self.rows]
        size = len(self.lens.features.signal)
        away = self.lens.features(mine) - self.sums.level[:size]
        if self.manner.differ.any():
            away -= self.manner.of_one(away, use[self.rows] & self.known)
        # A record that no shadow model was asked about has no level to be compared with: it is taken to lie there.
        here = np.where(self.known, away, 0.0)
        made = np.empty((len(self.lens.blocks), len(self.rows))) if out is None or not everybody else out
        self._enter(t, here, made)
        if len(self.lens.repeated.signal):
            made[-5], usual = self.repeats(t, mine)
            if self.lens.repeated.usual.any():
                made[SINGLE * len(self.lens.weights) + USUAL] = usual
        if not everybody:
            made = np.take(made, self.place, axis=1, out=out)
        made[-4] = self.lens.digits(value)
        return made

    def _enter(self, t: int, here: Floats, out: Floats) -> None:
        """Write the table (Q, n) of features less the levels of the records (F, n), without exact values and digits."""
        size = len(here)
        white = self.lens.weights @ here[self.lens.for_common]
        signals = len(white)
        out[SINGLE * signals :] = 0.0
        parts = out[: SINGLE * signals].reshape(SINGLE, signals, -1)
        sums = out[SINGLE * signals :]
        whites = self.sums.sides(t, slice(size, size + signals))
        for start in range(0, signals, FEW):
            some = slice(start, start + FEW)
            self._fill(parts[:, some], here, some, t)
            mine = [side.pick(some) for side in whites]
            _fill_white(parts[:, some], sums, white[some], mine, self.lens.tuning.prior)
        for k, block in enumerate((OWN, COMMON, WHITE_OWN)):
            parts[block].sum(axis=0, out=sums[k])
        out[-1] = far_from_outside(white, *whites)
        if self.lens.products.size:
            of_products = self.sums.sides(t, slice(size + signals, None))
            out[-6] = self.lens.products.ratio(here[self.lens.for_common], *of_products)
        for start in range(self.lens.zeros, size, FEW):
            some = slice(start, min(start + FEW, size))
            level = self.sums.level[some]
            sides = [side.moved(level) for side in self.sums.sides(t, some)]
            for row, ratio in zip((-2, -3), yes_no_ratios(here[some] + level, *sides), strict=True):
                out[row] += ratio.sum(axis=0)

    def _fill(self, out: Floats, here: Floats, some: slice, t: int) -> None:
        """Enter the blocks (B, s, N) of some signals: a few, so that all that is computed stays in a cache."""
        prior = self.lens.tuning.prior
        mine = self.lens.for_own[some]
        sides = self.sums.sides(t, mine)
        out[OWN] = own_ratio(here[mine], *sides, prior)
        shared = self.lens.for_common[some]
        if not np.array_equal(mine, shared):
            sides = self.sums.sides(t, shared)
        common = here[shared]
        level = self.sums.level[shared]
        out[COMMON], out[PLACE] = common_ratio(common, *sides)
        out[ABOVE] = above_outside(common, *sides)
        out[RAW] = common + level
        binary = self.lens.features.yes_no[shared]
        if binary.any():
            moved = [side.pick(binary).moved(level[binary]) for side in sides]
            out[OWN, binary], out[COMMON, binary] = yes_no_ratios(out[RAW, binary], *moved)


def read_once(known: Bools) -> tuple[Ints, Ints]:
    """The records (n,) to read, and the place of each (N,) among them: one stands for all that are not known.

    Nothing tells those apart but the answer of the model itself. Where most are known, all are read.

    >>> read_once(np.array([False, True, False, False]))
    (array([1, 0]), array([1, 0, 1, 1]))
    """
    if known.mean() > MOSTLY:
        return np.arange(len(known)), np.arange(len(known))
    rows = np.append(np.flatnonzero(known), np.flatnonzero(~known)[:1])
    return rows, np.where(known, np.cumsum(known) - 1, len(rows) - 1)


def _fill_white(out: Floats, sums: Floats, white: Floats, sides: Sequence[Side], prior: float) -> None:
    """Enter the blocks (B, s, N) of some independent directions (s, N), and add to the sums of those not kept."""
    outside, inside = sides
    out[WHITE_OWN] = own_ratio(white, outside, inside, prior)
    common, out[WHITE_PLACE] = common_ratio(white, outside, inside)
    for block, ratios in ((WHITE_COMMON, common), (WHITE_STEADY, steady_ratio(white, outside, inside))):
        for ratio in ratios:  # in this order: the sums do not depend on how many are computed together
            sums[WHOLE.index(block)] += ratio


def choose_lens(shadows: Shadows, aside: Sequence[Ints], tuning: Tuning, known: Facts | None = None) -> Lens:
    """Choose the scale of each signal on some shadow models, and the directions in which signals are independent.

    aside: parts of the models that are read as targets will be. Scales are chosen on the first. known: where it is
    kept what is found out about single signals, with the same tuning.
    """
    facts: list[Fact] = [{} for _ in shadows.value] if known is None else known.of(shadows, aside)
    features = Features.of(shadows, facts)
    manner = features.manner_of_all(shadows, facts)
    stored, own, common = _best_features(shadows, features, manner, aside[0][:SOME], tuning.prior, facts)
    common = _common_features(shadows, features, manner, (stored, common), tuning.ridge)
    rest, some = _without_levels(shadows, features.pick(common), manner.pick(common))
    weights, *others = directions(rest, some.answered, some.member, tuning.ridge, aside)
    products = Products.of(rest, some.answered, some.member)
    del rest  # it is large
    # Most signals have one feature for both.
    used = np.unique(np.concatenate([own, common]))
    every = features.pick(used).and_then(Features.zeros(shadows, facts))
    return Lens(
        features=every,
        zeros=len(used),
        differ=np.flatnonzero(manner.pick(used).differ),
        for_own=np.searchsorted(used, own),
        for_common=np.searchsorted(used, common),
        weights=weights,
        aside=tuple(others),
        products=products,
        digits=Digits.of(shadows, facts),
        repeated=Exact.of(shadows, facts),
        tuning=tuning,
    )


def _without_levels(shadows: Shadows, features: Features, manner: Manner) -> tuple[Floats, Shadows]:
    """Some features (F, n, K) less a level of each record, and the shadow models on the records that are read."""
    use = shadows.answered
    rows, _ = read_once(np.asarray(use.any(axis=1)))
    some = shadows.rows(rows) if len(rows) < len(use) else shadows
    rest = features(some.value)
    for f in range(len(rest)):  # one at a time: they are large
        rest[f : f + 1] = centred(rest[f : f + 1], some.answered, manner.pick(np.array([f])))[0]
    return rest, some


def _best_features(
    shadows: Shadows, features: Features, manner: Manner, fit: Ints, prior: float, facts: Sequence[Fact]
) -> tuple[Ints, Ints, Ints]:
    """The feature of each signal (S,) as it is stored, and that with the highest mean AUC for either ratio.

    The scale on which the signal is stored stays unless another is clearly better: a signal without a shift of its own
    may carry the noise of another one, and on a scale picked by accident that noise would not cancel.
    """
    stored = np.searchsorted(features.signal, np.arange(len(shadows.value)))
    doubtful = np.flatnonzero(np.bincount(features.signal)[features.signal] > 1)
    if not len(doubtful) or not len(fit):
        return stored, stored, stored
    use = shadows.answered
    records = np.flatnonzero(use[:, fit].any(axis=1))
    some = shadows.rows(records[:: -(-len(records) // RECORDS) or 1])
    new = np.array([f for f in doubtful if "reached" not in facts[features.signal[f]]], dtype=np.int64)
    reached = np.zeros((2, len(features.signal)))
    for start in range(0, len(new), TRIED):
        now = new[start : start + TRIED]
        reached[:, now] = _reached(some, features.pick(now), manner.pick(now), fit, prior)
    for s, at in enumerate(_by_signal(features.signal)):
        reached[:, at] = facts[s].setdefault("reached", reached[:, at])
    reached[:, stored] += CLEARLY * len(fit)
    best = [[at[reached[kind, at].argmax()] for at in _by_signal(features.signal)] for kind in (0, 1)]
    return stored, np.array(best[0], dtype=np.int64), np.array(best[1], dtype=np.int64)


def _common_features(
    shadows: Shadows, features: Features, manner: Manner, either: tuple[Ints, Ints], ridge: float
) -> Ints:
    """The feature of each signal (S,) for a common shift, from how it is stored and how it is best read alone."""
    stored, best = either
    if len(stored) < SEVERAL or np.array_equal(stored, best):
        return best
    used = np.unique(np.concatenate([stored, best]))
    records = np.flatnonzero(shadows.answered.any(axis=1))
    few = shadows.rows(records[:: -(-len(records) // RECORDS) or 1])
    rest, some = _without_levels(few, features.pick(used), manner.pick(used))
    places = [np.searchsorted(used, which) for which in either]
    return used[scales_together(rest, some.answered, some.member, ridge, *places)]


def _reached(some: Shadows, tried: Features, mine: Manner, fit: Ints, prior: float) -> Floats:
    """The AUC (2, F) that features reach by either ratio, summed over some shadow models."""
    reached = np.zeros((2, len(tried.signal)))
    sums = tried.of_models(some, without(fit, some.member.shape[1]), mine)
    for t, column in enumerate(fit.tolist()):
        rows = some.answered[:, column]
        truth = some.member[rows, column]
        if truth.any() and not truth.all():
            here = tried(some.value[:, :, column]) - sums.level
            found = _ratios(here - mine.of_one(here, rows), sums.sides(t), prior)
            for kind, ratios in enumerate(found):
                reached[kind] += aucs(ratios if rows.all() else ratios[:, rows], truth)
    return reached


def _ratios(value: Floats, sides: tuple[Side, Side], prior: float) -> tuple[Floats, Floats]:
    return own_ratio(value, *sides, prior), common_ratio(value, *sides)[0]


def without(columns: Ints, models: int) -> Bools:
    """For each of some shadow models, all the others (T, K).

    >>> without(np.array([1]), 3)
    array([[ True, False,  True]])
    """
    return np.asarray(np.arange(models) != columns[:, None])


def taken(values: Sequence[Floats], rows: Ints) -> list[Floats]:
    """Some records of each of several targets (S, N), copied; where these are mapped, little is in memory at a time."""
    out = [np.empty((len(value), len(rows))) for value in values]
    for start in range(0, len(rows), GIVEN_BACK):
        some = slice(start, start + GIVEN_BACK)
        for mine, value in zip(out, values, strict=True):
            mine[:, some] = value[:, rows[some]]
        for value in values[:1]:  # all are columns of one map
            release(value)
    return out


def _by_signal(signal: Ints) -> list[Ints]:
    """The features of each signal."""
    return [np.flatnonzero(signal == s) for s in range(int(signal.max(initial=-1)) + 1)]
