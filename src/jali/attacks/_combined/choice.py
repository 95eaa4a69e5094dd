"""Choose among candidates on shadow models that took no part in fitting them, for each metric by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jali.attacks._combined.candidates import Lesson, Rule, rules, scored
from jali.attacks._combined.reading import Reading, Tuning, read
from jali.core.values import Bools, Combined, Floats, Ints, Shadows, Target
from jali.stats.roc import Metric, resolvable, tpr_curve
from jali.stats.roc import metric as metric_of

FEWEST = 3  # with fewer shadow models, none can be set aside
CELLS = 40_000  # cells of shadow models that are judged, if there are as many
LEAST = 12  # shadow models that are judged at least, if there are as many
LARGEST_ERROR = 0.1
FEW = 20


@dataclass(frozen=True)
class Pool:
    """A reading of some signals with its candidates."""

    reading: Reading
    rules: Mapping[str, Rule]


def combine(
    target: Target, shadows: Shadows, base: int, metrics: Sequence[str], tuning: Tuning, gain: float
) -> dict[str, Combined]:
    """For each metric the score that is best on shadow models, of the first `base` signals and of all of them."""
    fit, judge = set_aside(shadows)
    judged = _judged(shadows)
    alone = _pool(target, shadows, slice(0, base), (fit, judged), tuning, gain, singles=True)
    pools = [alone]
    if base < len(shadows.value):
        pools.append(_pool(target, shadows, slice(None), (fit, judged), tuning, gain, singles=False))
    found = [_reached(pool, judge, judged, metrics) for pool in pools]
    scores = [scored(pool.rules, pool.reading.table(None)) for pool in pools]
    out = {}
    for metric in metrics:
        picks = [_best(table[metric]) for table in found]
        baseline = scores[0][picks[0]]
        forced = scores[-1][picks[-1]]
        helps = len(pools) > 1 and _helps(found[1][metric], picks[1], found[0][metric], picks[0])
        out[metric] = Combined(forced if helps else baseline, baseline, forced, helps, picks[-1])
    return out


def set_aside(shadows: Shadows) -> tuple[Ints, Ints]:
    """Shadow models that candidates are fitted on, and those they are chosen on, in any order of the models."""
    records, models = shadows.member.shape
    if models < FEWEST:
        return np.array([], dtype=np.int64), np.array([], dtype=np.int64)
    seen = shadows.observed[0]
    mean = np.where(seen, shadows.value[0], 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    order = np.argsort(mean, kind="stable")
    wanted = min(models, max(LEAST, CELLS // max(records, 1)))
    spread = order[np.linspace(0, models - 1, wanted).round().astype(np.int64)]
    return spread[1::2], spread[::2]


def _judged(shadows: Shadows) -> Callable[[int], Bools]:
    """Per shadow model, the records (N,) that it is judged on: those that some other models trained on and some did not.

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
    target: Target,
    shadows: Shadows,
    which: slice,
    on: tuple[Ints, Callable[[int], Bools]],
    tuning: Tuning,
    gain: float,
    singles: bool,
) -> Pool:
    some = Shadows(shadows.value[which], shadows.observed[which], shadows.member, shadows.units[which])
    fit, judged = on
    reading = read(Target(target.value[which], target.observed[which]), some, fit, tuning)
    lessons = _lessons(reading, fit, judged)
    return Pool(reading, rules(lessons, reading.blocks, gain, singles))


def _lessons(reading: Reading, columns: Ints, judged: Callable[[int], Bools]) -> list[Lesson]:
    out = []
    for column in columns:
        rows = judged(int(column))
        truth = reading.shadows.member[rows, column]
        if truth.any() and not truth.all():
            out.append(Lesson(reading.table(int(column))[:, rows], truth))
    return out


def _reached(
    pool: Pool, judge: Ints, judged: Callable[[int], Bools], metrics: Sequence[str]
) -> dict[str, dict[str, Floats]]:
    """By metric and candidate, the value on each shadow model set aside; the AUC where a metric cannot be resolved."""
    lessons = _lessons(pool.reading, judge, judged)
    if not lessons:
        return {metric: {} for metric in metrics}
    ends = np.cumsum([len(lesson.truth) for lesson in lessons])[:-1]
    whole = scored(pool.rules, np.concatenate([lesson.table for lesson in lessons], axis=1))
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
    """The candidate with the highest mean; the sum where none could be tried."""
    if not table:
        return "sum"
    return max(table, key=lambda name: float(table[name].mean()))


def _helps(with_: Mapping[str, Floats], more: str, without: Mapping[str, Floats], less: str) -> bool:
    """Whether one candidate is better than another on the shadow models set aside, by half a standard error."""
    if not with_:
        return True
    gained = with_[more] - without[less]
    noise = gained.std(ddof=1) / np.sqrt(len(gained)) if len(gained) > 1 else 0.0
    return bool(gained.mean() > 0.5 * noise)
