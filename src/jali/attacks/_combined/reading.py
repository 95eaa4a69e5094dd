"""Some signals read on their scales: what an attacker knows of each record under one model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.discriminant import directions
from jali.attacks._combined.ratios import above_outside, common_ratio, own_ratio, yes_no_ratios
from jali.attacks._combined.scales import Change, changes, unit_of
from jali.attacks._combined.sums import Sums
from jali.core.values import Bools, Floats, Ints, Shadows, Target, Unit
from jali.stats.roc import auc

SOME = 6  # shadow models on which the scale of a signal is chosen, at most
CLEARLY = 0.003  # AUC by which another scale must be better than the one on which a signal is stored
# The rows of `Reading.table`, block by block, each with one row per signal; the last block has the ratios of all
# scales, for rules that may use several of one signal.
OWN, COMMON, ABOVE, RAW, WHITE_OWN, WHITE_COMMON, SCALES = range(7)


@dataclass(frozen=True)
class Tuning:
    """prior: models that the common spread counts for. ridge: shrinkage of correlations."""

    prior: float
    ridge: float


@dataclass(frozen=True)
class Reading:
    """Signals on the scales chosen for them, with their sums over shadow models, single and in independent directions.

    own, common (S,): the change of scale used for either ratio. yes_no (S,): which signals are 0 or 1. every (F,):
    signal and change of scale of all features, whose sums are `all_sums`.
    """

    target: Target
    shadows: Shadows
    own: tuple[Change, ...]
    common: tuple[Change, ...]
    yes_no: Bools
    own_sums: Sums
    common_sums: Sums
    white_sums: Sums
    all_sums: Sums
    every: tuple[tuple[int, Change], ...]
    weights: Floats
    tuning: Tuning

    @property
    def blocks(self) -> Ints:
        """To which block each row of the table belongs (Q,)."""
        return np.concatenate([np.repeat(np.arange(SCALES), len(self.own)), np.full(2 * len(self.every), SCALES)])

    def table(self, column: int | None) -> Floats:
        """Ratios and differences (Q, N) of a shadow model judged by the others; of the target if column is None."""
        own_value = self._at(self.own_sums, self.own, column)
        value = self._at(self.common_sums, self.common, column)
        white = self.white_sums.value(column) if column is not None else self._white_target()
        prior = self.tuning.prior
        sides = self.common_sums.sides(column)
        whites = self.white_sums.sides(column)
        own = own_ratio(own_value, *self.own_sums.sides(column), prior)
        common = common_ratio(value, *sides)
        for s in np.flatnonzero(self.yes_no):
            own[s], common[s] = self._bernoulli(int(s), column)
        raw = value + self.common_sums.centre
        white_own = own_ratio(white, *whites, prior)
        white_common = common_ratio(white, *whites)
        parts = [own, common, above_outside(value, sides[0]), raw, white_own, white_common, *self._scales(column)]
        return np.concatenate(parts)

    def _scales(self, column: int | None) -> tuple[Floats, Floats]:
        """Both ratios (F, N) on all scales."""
        sums = self.all_sums
        if column is not None:
            value = sums.value(column)
        else:
            value = _stacked([f(self.target.value[s]) for s, f in self.every], sums.centre.shape) - sums.centre
        sides = sums.sides(column)
        return own_ratio(value, *sides, self.tuning.prior), common_ratio(value, *sides)

    def _at(self, sums: Sums, scale: tuple[Change, ...], column: int | None) -> Floats:
        if column is not None:
            return sums.value(column)
        return np.stack([f(t) for f, t in zip(scale, self.target.value, strict=True)]) - sums.centre

    def _white_target(self) -> Floats:
        value = np.stack([f(t) for f, t in zip(self.common, self.target.value, strict=True)])
        return np.asarray(self.weights @ value - self.white_sums.centre)

    def _bernoulli(self, s: int, column: int | None) -> tuple[Floats, Floats]:
        """Both ratios (N,) of a signal that is 0 or 1."""
        use = self.shadows.observed[s]
        value = self.shadows.value[s : s + 1]
        keep = np.ones(use.shape[1], dtype=bool)
        if column is not None:
            keep[column] = False
        sums = Sums.of(value[:, :, keep], use[:, keep], self.shadows.member[:, keep])
        outside, inside = sums.sides()
        back = sums.centre
        now = self.target.value[s : s + 1] if column is None else value[:, :, column]
        own, common = yes_no_ratios(now, outside.moved(back), inside.moved(back))
        return own[0], common[0]


def read(target: Target, shadows: Shadows, fit: Ints, tuning: Tuning) -> Reading:
    """Choose the scale of each signal on some shadow models, and prepare the sums over all of them."""
    use = np.asarray(shadows.observed.all(axis=0))
    own: list[Change] = []
    common: list[Change] = []
    every: list[tuple[int, Change]] = []
    yes_no = np.zeros(len(shadows.value), dtype=bool)
    for s, (value, observed) in enumerate(zip(shadows.value, shadows.observed, strict=True)):
        unit = unit_of(shadows.unit(s), value, observed)
        yes_no[s] = unit is Unit.YES_NO
        scales = changes(unit, value, observed)
        every += [(s, f) for f in scales] if len(scales) > 1 else []
        best = _best_scales(value, use, shadows.member, scales, fit[:SOME], tuning)
        own.append(best[0])
        common.append(best[1])
    own_sums = Sums.of(_scaled(own, shadows), use, shadows.member)
    scaled = _scaled(common, shadows)
    common_sums = Sums.of(scaled, use, shadows.member)
    weights = directions(common_sums, tuning.ridge)
    white = Sums.of(np.einsum("gf,fnk->gnk", weights, scaled), use, shadows.member)
    shape = (0, *use.shape)
    features = _stacked([f(shadows.value[s]) for s, f in every], shape)
    return Reading(
        target=target,
        shadows=shadows,
        own=tuple(own),
        common=tuple(common),
        yes_no=yes_no,
        own_sums=own_sums,
        common_sums=common_sums,
        white_sums=white,
        all_sums=Sums.of(features, use, shadows.member),
        every=tuple(every),
        weights=weights,
        tuning=tuning,
    )


def _stacked(parts: list[Floats], empty: tuple[int, ...]) -> Floats:
    return np.stack(parts) if parts else np.zeros(empty)


def _scaled(scale: list[Change], shadows: Shadows) -> Floats:
    return np.stack([f(value) for f, value in zip(scale, shadows.value, strict=True)])


def _best_scales(
    value: Floats, use: Bools, member: Bools, scales: tuple[Change, ...], fit: Ints, tuning: Tuning
) -> tuple[Change, Change]:
    """The change of scale with the highest mean AUC on some shadow models, for either ratio.

    The scale on which the signal is stored stays unless another is clearly better: a signal without a shift of its own
    may carry the noise of another one, and on a scale picked by accident that noise would not cancel.
    """
    if len(scales) == 1 or not len(fit):
        return scales[0], scales[0]
    sums = Sums.of(np.stack([f(value) for f in scales]), use, member)
    reached = np.zeros((2, len(scales)))
    for column in fit:
        rows = use[:, column]
        truth = member[rows, column]
        if not truth.any() or truth.all():
            continue
        sides = sums.sides(column)
        ratios = own_ratio(sums.value(column), *sides, tuning.prior), common_ratio(sums.value(column), *sides)
        reached += [[auc(score[rows], truth) for score in ratio] for ratio in ratios]
    reached[:, 0] += CLEARLY * len(fit)
    return scales[int(reached[0].argmax())], scales[int(reached[1].argmax())]
