"""Models that answer on a level of their own: it is taken off their answers.

An adversary sees all answers of a model, so it knows its level. Left in, levels add noise to what shadow models tell
about a record; and an explanation that says nothing about membership seems to help, or to harm, because by chance its
levels go with those of the score. Values are read and no membership. (Scales of their own: `audit.steadied`.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.stats.two_way import TwoWay, answering

MODELS = 3  # below so many nothing can be said about the usual answer
FEWEST = 20  # records that each model must have answered about
RECORDS = 1_000  # records from which levels are read, at most
EXACT = 1e-9  # of the median size of a value; smaller distances are rounding


@dataclass(frozen=True)
class Manner:
    """By feature and shadow model (F, K): the level of its answers above the usual ones.

    differ (F,): the features in which models differ; in others all levels are 0.
    """

    level: Floats
    differ: Bools

    @staticmethod
    def none(features: int, models: int) -> Manner:
        """Models that do not differ."""
        return Manner(np.zeros((features, models)), np.zeros(features, dtype=bool))

    @staticmethod
    def of(value: Floats, use: Bools, doubtful: Ints, certain: bool = False) -> Manner:
        """The manner of models from features (F, N, K) in the cells used (N, K).

        doubtful: features in which they may differ. certain: whether it is known that they do.
        """
        out = Manner.none(len(value), use.shape[1])
        for f in doubtful.tolist():
            found, models = _two_way(value[f], use)
            if found is not None and (certain or found.apart(_records(use[:, models]))):
                out.level[f, models] = found.middle
                out.differ[f] = True
        return out

    def pick(self, features: Ints) -> Manner:
        """The chosen features."""
        return Manner(self.level[features], self.differ[features])

    def of_one(self, away: Floats, use: Bools) -> Floats:
        """The level (F, 1) of one model, from its features less the levels of the records (F, N), where it answered."""
        level = np.zeros((len(away), 1))
        if use.sum() >= FEWEST:
            level[self.differ, 0] = np.median(away[self.differ][:, use], axis=1)
        return level


def _two_way(value: Floats, use: Bools) -> tuple[TwoWay | None, Ints]:
    """Middles and distances of models from a feature (N, K), and which models; None where they cannot be told."""
    known = np.flatnonzero(use.sum(axis=1) >= MODELS)
    known = known[:: -(-len(known) // RECORDS) or 1]
    rows, models = answering(use[known], MODELS, FEWEST)
    if len(models) < MODELS or not len(rows):
        return None, models
    at = np.ix_(known[rows], models)
    value, cells = value[at], use[at]
    found = TwoWay.of(value, cells)
    if found.distance.min() <= EXACT * np.median(np.abs(value[cells])):
        return None, models
    return found, models


def _records(use: Bools) -> float:
    """From how many records the level of a model is read, in the cells used (N, K)."""
    return min(RECORDS, float(use.sum(axis=0).mean()))
