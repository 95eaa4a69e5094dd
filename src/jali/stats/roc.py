"""One ROC routine, high = member: step functions of counts, ties taken whole, nothing interpolated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints
from jali.stats import precision_recall
from jali.stats.people import people

Metric = Callable[[Floats, Bools], float]
Counts = npt.NDArray[Any]  # whole numbers, or sums of weights
Steps = tuple[Counts, Counts, Floats]  # false positives, true positives and threshold at each vertex
ALPHAS = (0.01, 0.001)
# alpha * n may land just below a whole number (0.29 * 100 = 28.999…); such a count is taken as whole.
_SLACK = 1e-9


class Weighable(Protocol):
    """A metric that can count guesses with weights (G,)."""

    def __call__(self, score: Floats, truth: Bools, *, weight: Floats | None = None) -> float:
        """The value of the metric."""


@dataclass(frozen=True)
class Roc:
    """The vertices of a ROC curve from (0, 0): flagging score >= thresholds[i] gives fpr[i] and tpr[i]."""

    fpr: Floats
    tpr: Floats
    thresholds: Floats


def checked(score: Floats, truth: Bools) -> tuple[Floats, Bools]:
    """Score and truth as two arrays of one length with both classes among them, or an error that says what is wrong."""
    score, truth = np.asarray(score, dtype=np.float64), np.asarray(truth, dtype=bool)
    if score.ndim != 1 or score.shape != truth.shape:
        raise JaliError(f"score and truth must be two lists of one length, not of shapes {score.shape}, {truth.shape}.")
    members = np.count_nonzero(truth)
    if members in (0, len(truth)):
        raise JaliError(
            f"Members and non-members are both needed; {members} of {len(truth)} guesses are about members."
        )
    if np.isnan(score).any():
        raise JaliError("A score is not a number (NaN): give every guess a score, or leave the guess out.")
    return score, truth


def steps(score: Floats, truth: Bools, weight: Floats | None = None) -> Steps:
    """False positives, true positives and threshold at each distinct score, from the highest down, after (0, 0, inf).

    With weights (G,) the sums of weights take the place of counts.

    >>> steps(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))[:2]
    (array([0, 0, 1, 2]), array([0, 1, 2, 2]))
    """
    score, truth = checked(score, truth)
    order = falling(score)
    ranked = score[order]
    different = ranked[1:] != ranked[:-1]
    if weight is None and different.all():
        return _of_distinct(ranked, truth[order])
    last = np.append(np.flatnonzero(different), len(ranked) - 1)
    if weight is None:
        tp = np.cumsum(truth[order])[last]
        return np.append(0, last + 1 - tp), np.append(0, tp), np.append(np.inf, ranked[last])
    inside = np.cumsum((weight * truth)[order])[last]
    outside = np.cumsum((weight * ~truth)[order])[last]
    return np.append(0.0, outside), np.append(0.0, inside), np.append(np.inf, ranked[last])


def _of_distinct(ranked: Floats, truth: Bools) -> Steps:
    """`steps` of scores from the highest down, no two of them the same."""
    tp = np.zeros(len(ranked) + 1, dtype=np.int64)
    np.cumsum(truth, out=tp[1:])
    thresholds = np.full(len(ranked) + 1, np.inf)
    thresholds[1:] = ranked
    return np.arange(len(tp)) - tp, tp, thresholds


def falling(score: Floats) -> Ints | slice:
    """The order of scores (G,) from the highest down; none is needed where they are sorted already."""
    if np.all(score[1:] <= score[:-1]):
        return slice(None)
    return slice(None, None, -1) if np.all(score[1:] >= score[:-1]) else np.argsort(score)[::-1]


def roc(score: Floats, truth: Bools) -> Roc:
    """The ROC curve, one vertex per distinct score.

    >>> roc(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False])).tpr
    array([0. , 0.5, 1. , 1. ])
    """
    fp, tp, thresholds = steps(score, truth)
    return Roc(fp / fp[-1], tp / tp[-1], thresholds)


def auc(score: Floats, truth: Bools, weight: Floats | None = None) -> float:
    """P(member scores above non-member) + P(tie) / 2, the Mann-Whitney statistic.

    With weights, sum_i sum_j v_i w_j (1[s_i > s_j] + 1[s_i = s_j] / 2) / (sum v sum w) over members i and others j.

    >>> auc(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    0.875
    """
    return area(steps(score, truth, weight))


def area(curve: Steps) -> float:
    """The AUC from the steps of a ROC curve."""
    fp, tp, _ = curve
    return float(np.diff(fp) @ (tp[1:] + tp[:-1]) / (2.0 * fp[-1] * tp[-1]))


def tpr_at(score: Floats, truth: Bools, alpha: float, weight: Floats | None = None) -> float:
    """TPR at the largest FPR <= alpha; a group of tied scores is flagged whole or not at all.

    >>> tpr_at(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]), 0.1)
    0.5
    """
    return float(tpr_curve(score, truth, np.array([alpha]), weight)[0])


def tnr_at(score: Floats, truth: Bools, alpha: float, weight: Floats | None = None) -> float:
    """TNR at the largest FNR <= alpha: how many non-members are cleared when at most alpha of the members are missed.

    >>> tnr_at(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]), 0.1)
    0.5
    """
    return cleared(steps(score, truth, weight), alpha)


def cleared(curve: Steps, alpha: float) -> float:
    """`tnr_at` from the steps of a ROC curve."""
    fp, tp, _ = curve
    fn, tn = (tp[-1] - tp)[::-1], (fp[-1] - fp)[::-1]
    return float(tn[vertex(fn, np.array([alpha]))[0]] / tn[-1])


def read_off(name: str, curve: Steps) -> float | None:
    """A metric by its name, if the steps of a ROC curve are enough for it.

    >>> read_off("auc", steps(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False])))
    0.875
    """
    kind, _, level = name.partition("@")
    if name == "auc":
        return area(curve)
    if kind == "tnr":
        return cleared(curve, float(level))
    if kind == "tpr":
        fp, tp, _ = curve
        return float(tp[vertex(fp, np.array([float(level)]))[0]] / tp[-1])
    return None


def tpr_curve(score: Floats, truth: Bools, grid: Floats, weight: Floats | None = None) -> Floats:
    """`tpr_at` on a grid of false-positive rates (A,), from one sort.

    >>> tpr_curve(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]), np.array([0.0, 0.5]))
    array([0.5, 1. ])
    """
    fp, tp, _ = steps(score, truth, weight)
    rates: Floats = tp[vertex(fp, grid)] / tp[-1]
    return rates


def best_balanced_accuracy(score: Floats, truth: Bools, weight: Floats | None = None) -> float:
    """Largest (TPR + TNR) / 2 over all thresholds, as papers report it; chosen in hindsight, so above 1/2 by chance.

    >>> best_balanced_accuracy(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    0.75
    """
    fp, tp, _ = steps(score, truth, weight)
    return float(0.5 + (tp / tp[-1] - fp / fp[-1]).max() / 2)


def balanced_accuracy(score: Floats, truth: Bools, weight: Floats | None = None, group: Ints | None = None) -> float:
    """(TPR + TNR) / 2 at the threshold that is best on the other half of the guesses, averaged over both halves.

    Every second member and every second non-member is in the first half; the rows of one person (G,) stay together.
    Without a leak it is 1/2 on average, where the best threshold in hindsight gives .515 with 1,000 guesses of each
    kind.

    >>> balanced_accuracy(np.array([5.0, 4.0, 2.0, 1.0]), np.array([True, True, False, False]))
    1.0
    """
    score, truth = checked(score, truth)
    return halved_accuracy(score, truth, halves(truth, group), weight)


def halved_accuracy(score: Floats, truth: Bools, half: Bools, weight: Floats | None = None) -> float:
    """`balanced_accuracy` with a given half of the guesses (G,); in hindsight where a half has one class only."""
    members = np.count_nonzero(truth)
    inside = np.count_nonzero(half & truth)
    outside = np.count_nonzero(half) - inside
    if 0 < inside < members and 0 < outside < len(truth) - members:
        return crossed_accuracy(score, truth, half, weight)
    return best_balanced_accuracy(score, truth, weight)


def halves(truth: Bools, group: Ints | None = None) -> Bools:
    """Every second member and every second non-member (G,), or every second person of either kind.

    >>> halves(np.array([True, True, False, False, True]), np.array([4, 4, 2, 3, 5]))
    array([ True,  True,  True, False, False])
    """
    half = np.zeros(len(truth), dtype=bool)
    for side in (truth, ~truth):
        rows = np.flatnonzero(side)
        if group is None:
            half[rows[::2]] = True
        else:
            half[rows] = np.unique(group[rows], return_inverse=True)[1] % 2 == 0
    return half


def crossed_accuracy(score: Floats, truth: Bools, half: Bools, weight: Floats | None = None) -> float:
    """Balanced accuracy of each half (G,) at the threshold that is best on the other one, averaged."""
    order = falling(score)
    score, truth, half = score[order], truth[order], half[order]
    weight = None if weight is None else weight[order]
    return (_at_best_of(score, truth, half, weight) + _at_best_of(score, truth, ~half, weight)) / 2


def _at_best_of(score: Floats, truth: Bools, half: Bools, weight: Floats | None) -> float:
    """Balanced accuracy outside a half at the threshold that is best inside it; scores (G,) fall."""
    mine = np.flatnonzero(half)  # numbers of guesses are read several times faster than truth values
    fp, tp, thresholds = steps(score[mine], truth[mine], None if weight is None else weight[mine])
    cut = np.argmax(tp / tp[-1] - fp / fp[-1])
    # Between two scores of the half any threshold is as good; the middle favours neither side.
    after = thresholds[cut + 1] if cut + 1 < len(thresholds) else thresholds[cut]
    threshold = thresholds[cut] if np.isinf(thresholds[cut]) else (thresholds[cut] + after) / 2
    flagged = score > threshold if threshold == after else score >= threshold
    if weight is None:
        first = np.count_nonzero(flagged)  # those flagged come first
        hits = np.count_nonzero(truth[:first] & ~half[:first])
        alarms = first - np.count_nonzero(half[:first]) - hits
        members = np.count_nonzero(truth) - tp[-1]
        others = len(truth) - np.count_nonzero(truth) - fp[-1]
        return float((hits / members + (others - alarms) / others) / 2)
    inside, outside = ~half & truth, ~half & ~truth
    tpr = np.average(flagged[inside], weights=weight[inside])
    return float((tpr + np.average(~flagged[outside], weights=weight[outside])) / 2)


METRICS: Mapping[str, Weighable] = {
    "auc": auc,
    "balanced_accuracy": balanced_accuracy,
    **{f"tpr@{alpha}": partial(tpr_at, alpha=alpha) for alpha in ALPHAS},
    **{f"tnr@{alpha}": partial(tnr_at, alpha=alpha) for alpha in ALPHAS},
}


def metric(name: str) -> Metric:
    """A metric by its name: one of METRICS or `precision_recall.NAMES`, `tpr@` or `tnr@` a rate, or that of hindsight.

    >>> metric("tpr@0.1")(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]))
    0.5
    """
    if name in METRICS:
        return METRICS[name]
    if name == "best_balanced_accuracy":
        return best_balanced_accuracy
    if name in precision_recall.NAMES:
        return partial(precision_recall.decided, name)
    kind, _, level = name.partition("@")
    try:
        alpha = float(level)
    except ValueError:
        alpha = math.nan
    if kind not in ("tpr", "tnr") or not 0 < alpha < 1:
        raise JaliError(f"There is no metric called {name!r}; there are {', '.join(METRICS)} and tpr@ or tnr@ a rate.")
    return partial(tpr_at if kind == "tpr" else tnr_at, alpha=alpha)


def weighable(name: str) -> Weighable:
    """A metric by its name that can count guesses with weights.

    >>> weighable("auc")(np.array([2.0, 3.0, 1.0]), np.array([True, False, False]), weight=np.array([1.0, 1.0, 3.0]))
    0.75
    """
    kind, _, level = name.partition("@")
    if name in METRICS:
        return METRICS[name]
    if kind in precision_recall.NAMES:
        raise JaliError(f"{kind} depends on how many records are flagged, so it is not defined with weights.")
    if name == "best_balanced_accuracy":
        return best_balanced_accuracy
    metric(name)
    return partial(tpr_at if kind == "tpr" else tnr_at, alpha=float(level))


def chance(name: str, others: int = 0) -> float:
    """The expected metric of scores without information about membership, for `others` non-members (0: very many).

    A half for AUC and held-out balanced accuracy. For tpr@alpha, a threshold that at most k = floor(alpha n) of n
    non-members pass is passed by (k + 1) / (n + 1) of the members: more than alpha where n is small.

    >>> chance("auc"), chance("tpr@0.01"), round(chance("tpr@0.01", 400), 4)
    (0.5, 0.01, 0.0125)
    """
    metric(name)
    kind, _, level = name.partition("@")
    if kind == "best_balanced_accuracy":
        raise JaliError("A threshold chosen in hindsight has no fixed chance level: compare balanced_accuracy with it.")
    if kind in precision_recall.RATIOS:
        raise JaliError(f"{kind} has no fixed chance level: it depends on how many records are flagged.")
    if not level:
        return 0.0 if kind == precision_recall.LIFT else 0.5
    return (math.floor(float(level) * others + _SLACK) + 1) / (others + 1) if others else float(level)


def resolvable(name: str, truth: Bools, group: Ints | None = None, weight: Floats | None = None) -> str:
    """Why a metric is undefined for these guesses, or "" if it is defined.

    An error rate alpha needs n >= ln(0.05) / ln(1 - alpha) people on whom the error can be made: with fewer, no error
    at all is still compatible (at 95 %) with a rate above alpha. group (G,): the person of each guess. With weights
    (G,) their effective number is counted.

    >>> resolvable("tpr@0.01", np.arange(400) < 200)
    'FPR 1 % needs at least 299 non-members; there are 200.'
    >>> resolvable("tpr@0.01", np.arange(400) < 2, np.arange(400) // 2)
    'FPR 1 % needs at least 299 people who are non-members; there are 199.'
    """
    metric(name)
    members = int(np.count_nonzero(truth))
    others = len(truth) - members
    if not members or not others:
        return f"Members and non-members are both needed; there are {members:,} and {others:,}."
    kind, _, level = name.partition("@")
    if not level:
        return ""
    needed = math.ceil(math.log(0.05) / math.log1p(-float(level)))
    side = truth if kind == "tnr" else ~truth
    if group is None and weight is None and (members if kind == "tnr" else others) >= needed:
        return ""
    persons = np.flatnonzero(side) if group is None else group[side]
    count = len(persons) if group is None else people(persons)
    effective = count if weight is None else people(persons, weight[side])
    if effective >= needed:
        return ""
    error = "FNR" if kind == "tnr" else "FPR"
    who = "members" if kind == "tnr" else "non-members"
    who = who if count == len(persons) else f"people who are {who}"
    weighed = "" if weight is None else f", whose weights count for {effective:,.0f}"
    return f"{error} {100 * float(level):g} % needs at least {needed:,} {who}; there are {count:,.0f}{weighed}."


def vertex(cost: Counts, alphas: Floats) -> Ints:
    """Last vertex at which `cost`, rising counts or sums of weights (V,), is at most a share alpha (A,) of its total.

    >>> vertex(np.array([0, 29, 30, 100]), np.array([0.29, 0.5]))
    array([1, 2])
    """
    if not (alphas >= 0).all():
        raise JaliError(f"An error rate must be at least 0, not {np.min(alphas)}.")
    allowed = alphas * cost[-1] + _SLACK
    if cost.dtype.kind == "i":
        allowed = np.floor(allowed)
    return np.asarray(cost.searchsorted(allowed, side="right") - 1)
