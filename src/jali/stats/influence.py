"""The influence of each guess on a metric, and from it the variance that people cause, and share between target models.

Target models that are judged on the same records, with shadow models in common, are not independent: a record that is
easy to expose, or whose shadow values are outliers, raises or lowers the metric of all of them at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.core.guesses import places
from jali.core.values import Bools, Floats, Ints
from jali.stats import delong, precision_recall
from jali.stats.roc import Steps, checked, steps, vertex


@dataclass(frozen=True)
class Spread:
    """What the people who are judged contribute to the variance of a mean over target models.

    within: variance of the mean if no two targets shared a person. shared: covariance of two targets. freedom: degrees
    of freedom of these two, from how unequal the people's contributions are.
    """

    within: float = 0.0
    shared: float = 0.0
    freedom: float = math.inf


def influence(
    metric: str, score: Floats, truth: Bools, weight: Floats | None = None, known: Steps | None = None
) -> Floats:
    """First-order effect (G,) of each guess on a metric of one target model: metric - its expectation ~ their sum.

    auc: (placement - auc) / class size. balanced_accuracy: that of its two rates at the best threshold, halved,
    the threshold taken as given.
    tpr@alpha: (flagged - TPR) / m for members, -slope (flagged - FPR) / n for the others, who set the threshold; slope
    is that of the ROC curve around alpha. tnr@alpha: the mirror image. With weights (G,), taken as given, w_i / sum w
    takes the place of one by the class size. known: the steps of the ROC curve of these scores.

    >>> influence("auc", np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    array([ 0.0625, -0.0625, -0.0625,  0.0625])
    """
    if known is None:
        score, truth = checked(score, truth)
    name, _, alpha = metric.partition("@")
    if name == "auc":
        return delong.effects(score, truth, weight, known)
    if name in precision_recall.NAMES:
        return precision_recall.effects(name, score, truth)
    curve = known or steps(score, truth, weight)
    if name in ("balanced_accuracy", "best_balanced_accuracy"):
        return _of_balanced_accuracy(score, truth, weight, curve)
    if name == "tnr":
        return _of_tnr(score, truth, float(alpha), weight, curve)
    return _of_tpr(score, truth, float(alpha), weight, curve)


@dataclass(frozen=True)
class Owners:
    """Whose guesses (G,) are about which target model: units, the place of the person, and that of person and model.

    cell is None where nobody has two guesses about the same target.
    """

    units: int
    person: Ints
    cell: Ints | None

    @staticmethod
    def of(unit: Ints, person: Ints) -> Owners:
        """The owners of guesses about targets (G,) and persons (G,)."""
        units, first = places(unit)
        persons, second = places(person)
        key = first * persons + second
        if np.all(key[1:] > key[:-1]):  # the usual order: target by target, records rising
            return Owners(units, second, None)
        cells, cell = places(key)
        return Owners(units, second, None if cells == len(unit) else cell)

    def shared(self, effect: Floats) -> float:
        """As `shared_covariance`."""
        return self._shared(self._together(effect), self._apart(effect))

    def _shared(self, together: Floats, apart: Floats) -> float:
        if self.units < 2:
            return 0.0
        return max(0.0, float(together @ together - apart @ apart) / (self.units * (self.units - 1)))

    def spread(self, effect: Floats) -> Spread:
        """As `spread`."""
        apart = self._apart(effect)
        together = self._together(effect)
        squares = together**2
        whole = float(squares.sum())
        excess = float(squares @ squares) - whole**2 / max(len(squares), 1)
        freedom = 2 * whole**2 / excess if excess > 0 else math.inf
        return Spread(float(apart @ apart) / self.units**2, self._shared(together, apart), max(freedom, 1.0))

    def _together(self, effect: Floats) -> Floats:
        """Influences summed by person."""
        return np.asarray(np.bincount(self.person, effect), dtype=np.float64)

    def _apart(self, effect: Floats) -> Floats:
        """Influences summed by person and target model."""
        return effect if self.cell is None else np.asarray(np.bincount(self.cell, effect), dtype=np.float64)


def shared_covariance(effect: Floats, unit: Ints, person: Ints) -> float:
    """Mean covariance of the metrics of two target models, from the influences of guesses about the same people.

    sum_i sum_{t != s} effect_it effect_is / (T (T - 1)), never below zero, where effect_it sums the guesses about
    person i under target t; effect, unit and person are (G,).
    It is the covariance between readers of Obuchowski and Rockette (1995), with models as readers, people as cases.

    >>> shared_covariance(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.5
    """
    return Owners.of(unit, person).shared(effect)


def spread(effect: Floats, unit: Ints, person: Ints) -> Spread:
    """What people contribute to the variance of a mean over target models; effect, unit and person are (G,).

    within = sum_it effect_it^2 / T^2 with effect_it as in `shared_covariance`. The degrees of freedom are those of a
    sum of squares x_i = (sum_t effect_it)^2 over n people, 2 (sum x)^2 / (sum x^2 - (sum x)^2 / n): n where the effects
    are normal, fewer where a few people carry the variance.

    >>> spread(np.array([0.5, -0.5, 0.5, -0.5]), np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])).within
    0.25
    """
    return Owners.of(unit, person).spread(effect)


def _of_balanced_accuracy(score: Floats, truth: Bools, weight: Floats | None, curve: Steps) -> Floats:
    fp, tp, thresholds = curve
    best = np.argmax(tp / tp[-1] - fp / fp[-1])
    return _of_rates(score >= thresholds[best], truth, (0.5, -0.5), weight)


def _of_tpr(score: Floats, truth: Bools, alpha: float, weight: Floats | None, curve: Steps) -> Floats:
    fp, tp, thresholds = curve
    slope, at = _slope(fp, tp, alpha)
    return _of_rates(score >= thresholds[at], truth, (1.0, -slope), weight)


def _of_tnr(score: Floats, truth: Bools, alpha: float, weight: Floats | None, curve: Steps) -> Floats:
    """The mirror image: non-members are cleared from the lowest score up."""
    fp, tp, thresholds = curve
    slope, at = _slope((tp[-1] - tp)[::-1], (fp[-1] - fp)[::-1], alpha)
    # Vertex `at` from below clears what lies under the threshold of the same vertex from above.
    return _of_rates(score < thresholds[len(thresholds) - 1 - at], ~truth, (1.0, -slope), weight)


def _slope(errors: Floats, hits: Floats, alpha: float) -> tuple[float, int]:
    """The slope of hits by errors around a share alpha of errors, from rising counts (V,), and the vertex there."""
    below, at, above = vertex(errors, alpha * np.array([0.5, 1.0, 1.5]))
    run = (errors[above] - errors[below]) / errors[-1]
    return (hits[above] - hits[below]) / hits[-1] / run if run > 0 else 0.0, int(at)


def _of_rates(flagged: Bools, truth: Bools, of: tuple[float, float], weight: Floats | None) -> Floats:
    """Effects on of[0] TPR + of[1] FPR at a fixed threshold."""
    if weight is None:
        members = np.count_nonzero(truth)
        hits = np.count_nonzero(flagged & truth)
        alarms = np.count_nonzero(flagged) - hits
        others = len(truth) - members
        # By truth and flag, from neither to both.
        value = [
            of[1] * (0 - alarms / others) / others,
            of[1] * (1 - alarms / others) / others,
            of[0] * (0 - hits / members) / members,
            of[0] * (1 - hits / members) / members,
        ]
        return np.array(value, dtype=np.float64).take(truth.view(np.uint8) * 2 + flagged.view(np.uint8))
    effect = np.empty(len(flagged))
    for side, factor in zip((truth, ~truth), of, strict=True):
        total = weight[side].sum()
        rate = float(weight[side] @ flagged[side]) / total
        effect[side] = factor * weight[side] * (flagged[side] - rate) / total
    return effect
