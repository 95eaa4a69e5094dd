"""Choose among candidates on shadow models that took no part in fitting them, for each metric by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.candidates import AS_THEY_ARE, Lesson, Rule, averaged, rules, scored, singles
from jali.attacks._combined.reading import Lens, Reading, Tuning, read
from jali.attacks._combined.sums import Sums
from jali.core.guesses import Combined, Shadows, Target
from jali.core.values import Bools, Floats, Ints
from jali.stats.roc import Metric, resolvable, tpr_curve
from jali.stats.roc import metric as metric_of

FEWEST = 3  # with fewer shadow models, none can be set aside
CELLS = 20_000  # cells of shadow models that are judged, if there are as many
LEAST = 12  # shadow models that are judged at least, if there are as many
MOST = 24  # and at most
LARGEST_ERROR = 0.1
FEW = 20
SURE = 0.5  # standard errors by which a combination must be better than the baseline on shadow models


@dataclass(frozen=True)
class Pool:
    """Some signals, how they are read, the candidates, and the one chosen for each metric."""

    signals: slice
    lens: Lens
    rules: Mapping[str, Rule]
    chosen: Mapping[str, str]


@dataclass(frozen=True)
class Learnt:
    """What was learnt on shadow models: the baseline's pool, that of all signals, and where the latter helps."""

    baseline: Pool
    everything: Pool
    helps: Mapping[str, bool]

    def apply(self, target: Target, shadows: Shadows) -> dict[str, Combined]:
        """The scores of a target by metric, judged by its shadow models."""
        scores = [_applied(pool, target, shadows) for pool in (self.baseline, self.everything)]
        out = {}
        for metric, helps in self.helps.items():
            how = self.everything.chosen[metric]
            baseline = scores[0][self.baseline.chosen[metric]]
            forced = scores[1][how]
            out[metric] = Combined(forced if helps else baseline, baseline, forced, helps, how)
        return out


def learn(shadows: Shadows, base: int, metrics: Sequence[str], tuning: Tuning) -> Learnt:
    """Choose for each metric how to combine the first `base` signals, and how to combine all."""
    fit, judge = set_aside(shadows)
    judged = _judged(shadows)
    alone, reached = _pool(shadows, slice(0, base), (fit, judge), judged, metrics, tuning)
    if base >= len(shadows.value):
        return Learnt(alone, alone, dict.fromkeys(metrics, False))
    both, above = _pool(shadows, slice(None), (fit, judge), judged, metrics, tuning)
    helps = {}
    for metric in metrics:
        more = above[metric].get(both.chosen[metric])
        less = reached[metric].get(alone.chosen[metric])
        helps[metric] = more is None or less is None or _better(more, less)
    return Learnt(alone, both, helps)


def set_aside(shadows: Shadows) -> tuple[Ints, Ints]:
    """Two halves of the shadow models: candidates are fitted on one and judged on the other; their order is no matter.

    A single one can be fitted on as it is, but not be judged by others.
    """
    records, models = shadows.member.shape
    if models < FEWEST:
        return np.arange(models % 2), np.array([], dtype=np.int64)
    seen = shadows.observed[0]
    mean = np.where(seen, shadows.value[0], 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    order = np.argsort(mean, kind="stable")
    wanted = min(models, MOST, max(LEAST, CELLS // max(records, 1)))
    spread = order[np.linspace(0, models - 1, wanted).round().astype(np.int64)]
    return spread[1::2], spread[::2]


def _judged(shadows: Shadows) -> Callable[[int], Bools]:
    """Per shadow model, the records (N,) that it is judged on: some other models trained on them, and some did not.

    Whether the model itself trained on a record does not decide, so counting the others reveals nothing. Where that
    leaves few members or non-members, all records that were observed are used.
    """
    seen = np.asarray(shadows.observed.all(axis=0))
    k_in = (seen & shadows.member).sum(axis=1)
    k_out = (seen & ~shadows.member).sum(axis=1)

    def rows(column: int) -> Bools:
        mine = shadows.member[:, column]
        there = seen[:, column]
        both = there & (k_in - (there & mine) > 0) & (k_out - (there & ~mine) > 0)
        enough = min(np.count_nonzero(both & mine), np.count_nonzero(both & ~mine)) >= FEW
        return np.asarray(both if enough else there)

    return rows


def _pool(
    shadows: Shadows,
    signals: slice,
    aside: tuple[Ints, Ints],
    judged: Callable[[int], Bools],
    metrics: Sequence[str],
    tuning: Tuning,
) -> tuple[Pool, dict[str, dict[str, Floats]]]:
    """The candidates of some signals with the best for each metric, and by metric what each reached."""
    reading = read(shadows.pick(signals), aside[0], tuning)
    block = reading.lens.blocks
    halves = [_lessons(reading, columns, judged) for columns in aside]
    # Of the baseline each signal alone is a candidate, too, so that no single attack on it is stronger.
    alone = singles(halves[0] + halves[1], block) if signals.stop is not None else {}
    fitted = [alone | rules(lessons, block) for lessons in halves]
    if not halves[1]:
        # A single shadow model shows no shift of any record, so the signals are compared with those of all others.
        how = AS_THEY_ARE if shadows.member.shape[1] == 1 and AS_THEY_ARE in fitted[0] else "sum"
        return Pool(signals, reading.lens, fitted[0], dict.fromkeys(metrics, how)), {metric: {} for metric in metrics}
    reached = _crossed(fitted, halves, metrics)
    chosen = {metric: _best(reached[metric]) for metric in metrics}
    return Pool(signals, reading.lens, averaged(*fitted), chosen), reached


def _crossed(
    fitted: Sequence[Mapping[str, Rule]], halves: Sequence[Sequence[Lesson]], metrics: Sequence[str]
) -> dict[str, dict[str, Floats]]:
    """By metric and candidate, what it reached on each shadow model of one half when fitted on the other."""
    first = _reached(fitted[0], halves[1], metrics)
    if not halves[0]:
        return first
    second = _reached(fitted[1], halves[0], metrics)
    return {
        metric: {name: np.append(first[metric][name], got) for name, got in each.items() if name in first[metric]}
        for metric, each in second.items()
    }


def _applied(pool: Pool, target: Target, shadows: Shadows) -> dict[str, Floats]:
    """The scores (N,) of a target by the candidates of a pool that are chosen for some metric."""
    some = shadows.pick(pool.signals)
    use = np.asarray(some.observed.all(axis=0))
    sums = Sums.of(pool.lens.features(some.value), use, some.member)
    table = Reading.of(pool.lens, sums).of_target(target.value[pool.signals])
    return scored(pool.rules, table, set(pool.chosen.values()))


def _lessons(reading: Reading, columns: Ints, judged: Callable[[int], Bools]) -> list[Lesson]:
    out = []
    for column in columns.tolist():
        rows = judged(column)
        truth = reading.sums.member[rows, column]
        if truth.any() and not truth.all():
            out.append(Lesson(reading.of_shadow(column, rows), truth))
    return out


def _reached(
    made: Mapping[str, Rule], lessons: Sequence[Lesson], metrics: Sequence[str]
) -> dict[str, dict[str, Floats]]:
    """By metric and candidate, the value on each shadow model set aside; the AUC where a metric cannot be resolved."""
    ends = np.cumsum([len(lesson.truth) for lesson in lessons])[:-1]
    whole = scored(made, np.concatenate([lesson.table for lesson in lessons], axis=1))
    split = {name: np.split(score, ends) for name, score in whole.items()}
    truth = [lesson.truth for lesson in lessons]
    out = {}
    for metric in metrics:
        known = all(not resolvable(metric, side) for side in truth)
        of = criterion(metric if known else "auc")
        out[metric] = {name: np.array(list(map(of, parts, truth))) for name, parts in split.items()}
    return out


def criterion(metric: str) -> Metric:
    """The metric by which candidates for another metric are chosen.

    A rate at one small error is the work of a few records, so it is averaged over errors from half to eight times
    that one, each with weight 1 / sqrt(error). Balanced accuracy is chosen by AUC.
    """
    kind, _, level = metric.partition("@")
    if kind not in ("tpr", "tnr"):
        return metric_of("auc")
    errors = float(level) * np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    errors = errors[errors <= LARGEST_ERROR]

    def averaged(score: Floats, truth: Bools) -> float:
        rates = tpr_curve(score, truth, errors) if kind == "tpr" else tpr_curve(-score, ~truth, errors)
        return float(rates @ errors**-0.5)

    return averaged


def _best(table: Mapping[str, Floats]) -> str:
    """The candidate with the highest mean."""
    return max(table, key=lambda name: float(table[name].mean()))


def _better(more: Floats, less: Floats) -> bool:
    """Whether one candidate is better than another on the shadow models set aside, beyond a part of the noise."""
    gained = more - less
    noise = gained.std(ddof=1) / np.sqrt(len(gained)) if len(gained) > 1 else 0.0
    return bool(gained.mean() > SURE * noise)
