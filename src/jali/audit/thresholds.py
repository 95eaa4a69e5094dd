"""Guesses above a threshold: the records that are flagged at few false positives, ROC curves, rates of subgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from jali.audit.trials import Trial, filled
from jali.core.guesses import Estimate, Guesses, places, rows_by_unit
from jali.core.values import Bools, Floats, Ints, Rng
from jali.results import Curve, Row
from jali.stats.intervals import HOW_UNITS, average, averages, clopper_pearson, estimate
from jali.stats.judged import numbered
from jali.stats.people import people, trials

GRID = tuple(float(f) for f in np.logspace(-4, 0, 41).round(8))


def curve(label: str, explainer: str, guesses: Guesses) -> Curve:
    """ROC averaged over targets on a grid of false-positive rates, with a band."""
    thresholds = _thresholds(guesses, GRID)
    persons, person = numbered(guesses.group)

    def targets() -> Iterator[tuple[Bools, Ints]]:
        """Which members (A, n) of each target model exceed each threshold, and who they are."""
        for cut, rows in zip(thresholds.T, rows_by_unit(guesses.unit), strict=True):
            mine = guesses.truth[rows]
            if mine.any():
                yield guesses.score[rows][mine] > cut[:, None], person[rows][mine]

    found = averages(targets(), len(GRID), persons)
    few = min(_others(guesses, rows) for rows in rows_by_unit(guesses.unit))
    low = [min(max(float(e.low or 0.0), 0.0), 1.0) for e in found]
    high = [min(max(float(e.high or 0.0), 0.0), 1.0) for e in found]
    floor = float(1 - 0.05 ** (1 / max(1, few)))
    tpr = [float(e.value or 0.0) for e in found]
    return Curve(label=label, explainer=explainer, fpr=list(GRID), tpr=tpr, low=low, high=high, floor=floor)


def _others(guesses: Guesses, of: slice | Ints) -> float:
    """The number of people who are non-members among some guesses, with weights their effective number."""
    side = ~guesses.truth[of]
    return people(guesses.group[of][side], None if guesses.weights is None else guesses.weight[of][side])


def flagged(guesses: Guesses, alpha: float) -> Bools:
    """Which guesses (G,) exceed the threshold of their target that at most a share alpha of its non-members exceeds.

    With weights, a share alpha of their sum. A target without non-members has no such threshold, and nobody is flagged.
    """
    at = places(guesses.unit)[1]
    return np.asarray(guesses.score > _thresholds(guesses, (alpha,))[0][at])


def _thresholds(guesses: Guesses, alphas: Sequence[float]) -> Floats:
    """The threshold (A, T) of each target at each rate, from one sort per target; -inf where everybody may pass."""
    each = rows_by_unit(guesses.unit)
    out = np.full((len(alphas), len(each)), np.inf)
    for k, mine in enumerate(each):
        others = ~guesses.truth[mine]
        if others.any():
            score = guesses.score[mine][others]
            ranked = np.argsort(-score)
            above = np.cumsum(guesses.weight[mine][others][ranked])
            allowed = np.searchsorted(above, np.array(alphas) * above[-1] + 1e-9, side="right")
            out[:, k] = np.append(score[ranked], -np.inf)[allowed]
    return out


def group_rows(trial: Trial, guesses: Guesses, groups: dict[str, Bools], alpha: float, rng: Rng) -> list[Row]:
    """TPR of each subgroup's members at one common threshold per target."""
    metric = f"tpr@{alpha}"
    hit = flagged(guesses, alpha)
    out = []
    gate, how = estimate(metric, guesses, rng)
    for label, inside in groups.items():
        mine = guesses.truth & inside[guesses.record]
        if not mine.any():
            continue
        units = len(np.unique(guesses.unit[mine]))
        number, made = (gate, how) if gate.value is None else _group_rate(hit[mine], guesses.pick(mine), units)
        row = trial.row(metric).model_copy(update={"group": label})
        out.append(filled(row, number, made, {"n": int(mine.sum() // units)}))
    return out


def _group_rate(hit: Bools, members: Guesses, units: int) -> tuple[Estimate, str]:
    """Share of a subgroup's members that are flagged, with the thresholds taken as fixed."""
    hits = int(hit.sum())
    if units == 1 or hits in (0, len(hit)):
        rate = hits / len(hit)
        n = trials(hit, members.group)
        low, high = clopper_pearson(hits if n == len(hit) else rate * n, n)
        return Estimate(rate, low, high, units), "Clopper-Pearson at the threshold found"
    number = average(hit, members.unit, members.group)
    return replace(number, low=max(number.low or 0.0, 0.0), high=min(number.high or 1.0, 1.0)), HOW_UNITS
