"""Four training people and three others, small enough to count by hand, and an explainer that shows chosen rows."""

from __future__ import annotations

import numpy as np

from jali.audit.attack_runs import TargetModel
from jali.audit.preparations import Preparations
from jali.core.encoding import Encoding
from jali.core.explanation import Counterfactual
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.linear import LinearModel
from tests.explaining import Direct

SCHEMA = Schema((Column("age", role="quasi"), Column("income"), Column("debt")), favourable=1)
TRAIN = np.array([[20.0, 1, 5], [30, 2, 6], [30, 3, 7], [50, 4, 8]])
OTHERS = np.array([[20.0, 1, 9], [30, 9, 9], [50, 4, 8]])
MODEL = LinearModel(Encoding(SCHEMA), np.array([[0.0, 1.0], [0, 0], [0, 0]]), np.zeros(2))


class Shows(Direct):
    """An explainer that shows training rows, as listed."""

    gives, reads_training_data, wants = "counterfactual", True, "labels"

    def __init__(self, rows):
        self.rows = rows

    def answer(self, model, X, schema, train, rng):
        at = np.array(self.rows)
        return Counterfactual(train.X[at.clip(0)], at >= 0, origin=at)


def draws(name):
    return np.random.default_rng(len(name))


def target_of(model, data, member, scored):
    return TargetModel.of(Preparations(model, data.rows(member), draws), data, member, scored, draws)


def target(n, groups=None):
    """The model, with n further rows that are scored."""
    data = Dataset(np.concatenate([TRAIN, OTHERS, np.zeros((n, 3))]), np.zeros(7 + n, dtype=int), SCHEMA, groups)
    at = np.arange(len(data))
    return target_of(MODEL, data, at < 4, at >= 7)
