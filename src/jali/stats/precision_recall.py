"""Precision, recall and the like of flagging every score above zero, as papers report them.

Attacks that set their own threshold give scores above zero to the records they flag; for any other score these numbers
are meaningless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jali.core.values import Bools, Floats, Ints

Parts = Callable[[Ints, Ints], tuple[Ints, Ints]]
LIFT = "precision_over_base_rate"
BALANCED = "balanced_accuracy_of_claims"


# Each metric is a ratio of two sums over guesses: the terms of both sums from claim and truth, 0 or 1 each (G,).
RATIOS: Mapping[str, Parts] = {
    "accuracy": lambda claim, truth: (1 - abs(claim - truth), 1 + 0 * truth),
    "precision": lambda claim, truth: (claim * truth, claim),
    "recall": lambda claim, truth: (claim * truth, truth),
    "specificity": lambda claim, truth: ((1 - claim) * (1 - truth), 1 - truth),
    "f1": lambda claim, truth: (2 * claim * truth, claim + truth),
    "base_rate": lambda claim, truth: (truth, 1 + 0 * claim),
}
# Sums of these with weights.
SUMS: Mapping[str, Mapping[str, float]] = {
    LIFT: {"precision": 1.0, "base_rate": -1.0},
    BALANCED: {"recall": 0.5, "specificity": 0.5},
}
NAMES = (*RATIOS, *SUMS)
OF_CLAIMS = ("precision", LIFT)  # undefined where no record is flagged


def decided(name: str, score: Floats, truth: Bools) -> float:
    """A metric of NAMES; 0 where its denominator is 0.

    accuracy: share of records classified correctly. precision: members among those flagged. recall: flagged among the
    members. specificity: not flagged among the non-members. f1 = 2 TP / (2 TP + FP + FN). base_rate: members among all,
    the precision of flagging everybody. precision_over_base_rate: the difference. balanced_accuracy_of_claims:
    (recall + specificity) / 2.

    >>> score, truth = np.array([0.5, 0.2, 0.1, -0.3]), np.array([True, False, True, True])
    >>> [round(decided(name, score, truth), 3) for name in ("precision", "recall", "f1", "base_rate")]
    [0.667, 0.667, 0.667, 0.75]
    """
    return sum(weight * _ratio(*_parts(part, score, truth)) for part, weight in _terms(name).items())


def effects(name: str, score: Floats, truth: Bools) -> Floats:
    """First-order effect (G,) of each guess: (a_i - value b_i) / sum b for a value of sum a / sum b."""
    out = np.zeros(len(score))
    for part, weight in _terms(name).items():
        above, below = _parts(part, score, truth)
        out += weight * (above - _ratio(above, below) * below) / max(int(below.sum()), 1)
    return out


def _terms(name: str) -> Mapping[str, float]:
    return SUMS.get(name, {name: 1.0})


def _parts(name: str, score: Floats, truth: Bools) -> tuple[Ints, Ints]:
    return RATIOS[name]((score > 0).astype(np.int64), truth.astype(np.int64))


def _ratio(above: Ints, below: Ints) -> float:
    return float(above.sum() / below.sum()) if below.any() else 0.0
