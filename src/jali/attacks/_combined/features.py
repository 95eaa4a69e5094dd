"""Signals on their scales, and what is left of them without the levels of records and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.facts import Fact
from jali.attacks._combined.manner import MODELS, RECORDS, Manner
from jali.attacks._combined.scales import Change, changes, unit_of
from jali.attacks._combined.sums import Sums, levels
from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats, Ints, Unit

CHANGES = 0.005  # mean variance within records from which on it is read whether a signal is exactly zero


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
    def of(shadows: Shadows, facts: Sequence[Fact]) -> Features:
        """Every signal on each of its scales, by its unit; the first is the one on which it is stored."""
        signal: list[int] = []
        change: list[Change] = []
        yes_no: list[bool] = []
        for s, (value, observed, fact) in enumerate(zip(shadows.value, shadows.observed, facts, strict=True)):
            if "scales" not in fact:
                unit = unit_of(shadows.unit(s), value, observed)
                fact["scales"] = changes(unit, value, observed), unit is Unit.YES_NO
            scales, binary = fact["scales"]
            signal += [s] * len(scales)
            change += scales
            yes_no += [binary] * len(scales)
        return Features(np.array(signal, dtype=np.int64), tuple(change), np.array(yes_no, dtype=bool))

    @staticmethod
    def zeros(shadows: Shadows, facts: Sequence[Fact]) -> Features:
        """Whether a signal is exactly zero, for those that are for some models and not for others.

        Which columns of an explanation are zero is a pattern of its own, and hardly moves a mean.
        """
        use = shadows.answered
        cells = np.maximum(use.sum(axis=1), 1)
        found = []
        for s, (value, fact) in enumerate(zip(shadows.value, facts, strict=True)):
            if "zeros" not in fact:
                rate = ((value == 0) & use).sum(axis=1) / cells
                yes_no = unit_of(shadows.unit(s), value, shadows.observed[s]) is Unit.YES_NO
                fact["zeros"] = not yes_no and float((rate * (1 - rate)).mean()) > CHANGES
            if fact["zeros"]:
                found.append(s)
        return Features(np.array(found, dtype=np.int64), (_is_zero,) * len(found), np.ones(len(found), dtype=bool))

    def and_then(self, others: Features) -> Features:
        """These and some others."""
        signal = np.concatenate([self.signal, others.signal])
        return Features(signal, self.change + others.change, np.concatenate([self.yes_no, others.yes_no]))

    def pick(self, which: Ints) -> Features:
        """The chosen features."""
        return Features(self.signal[which], tuple(self.change[f] for f in which), self.yes_no[which])

    def __call__(self, value: Floats) -> Floats:
        """Values (S, ...) as features (F, ...)."""
        out = np.empty((len(self.signal), *value.shape[1:]))
        for f, (s, change) in enumerate(zip(self.signal, self.change, strict=True)):
            out[f] = change(value[s])
        return out

    def manner(self, shadows: Shadows, differ: Ints | None = None) -> Manner:
        """How shadow models answer; differ: the features in which they are known to differ, where that is known."""
        doubtful = np.flatnonzero(~self.yes_no) if differ is None else differ
        if not len(doubtful):
            return Manner.none(len(self.signal), shadows.member.shape[1])
        use = shadows.answered
        records = np.flatnonzero(use.sum(axis=1) >= MODELS)
        records = records[:: -(-len(records) // RECORDS) or 1]
        return Manner.of(self(shadows.value[:, records]), use[records], doubtful, differ is not None)

    def manner_of_all(self, shadows: Shadows, facts: Sequence[Fact]) -> Manner:
        """`manner` of all scales of all signals."""
        new = np.flatnonzero(["manner" not in facts[s] for s in self.signal])
        found = self.pick(new).manner(shadows)
        for s in np.unique(self.signal[new]).tolist():
            facts[s]["manner"] = found.pick(np.flatnonzero(self.signal[new] == s))
        each = [facts[s]["manner"] for s in np.unique(self.signal).tolist()]
        return Manner(np.concatenate([one.level for one in each]), np.concatenate([one.differ for one in each]))

    def of_models(self, shadows: Shadows, sets: Bools, manner: Manner) -> Sums:
        """Their sums over sets of shadow models (T, K)."""
        use = shadows.answered

        def read(rows: slice) -> tuple[Floats, Floats]:
            return centred(self(shadows.value[:, rows]), use[rows], manner)

        return Sums.of(read, len(self.signal), use, shadows.member, sets)


def _is_zero(value: Floats) -> Floats:
    return np.asarray(value == 0, dtype=np.float64)


def centred(value: Floats, use: Bools, manner: Manner | None = None) -> tuple[Floats, Floats]:
    """Features (F, n, K) less each record's level, 0 where a cell is not used (n, K), and that level (F, n).

    manner: how the models answer, which is taken off.
    """
    if manner is not None and manner.differ.any():
        value = value - manner.level[:, None]
    level = levels(value, use)
    value = value - level[:, :, None]
    if not use.all():
        value *= use
    return value, level
