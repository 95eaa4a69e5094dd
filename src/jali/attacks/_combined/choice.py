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
TINY = 1e-12
WEIGHTS = (0.1, 0.3, 1.0)  # of a combination of all signals that is added to the baseline
ADDED = 2  # combinations of all signals that are tried so


@dataclass(frozen=True)
class Pool:
    """Some signals, how they are read, the candidates, and the one chosen for each metric."""

    signals: slice
    lens: Lens
    rules: Mapping[str, Rule]
    chosen: Mapping[str, str]


@dataclass(frozen=True)
class Way:
    """How all signals are combined: a candidate, alone or (weight) so many deviations of it added to the baseline."""

    candidate: str
    weight: float | None = None

    @property
    def text(self) -> str:
        """In words."""
        return self.candidate if self.weight is None else f"baseline and {self.weight:g} of {self.candidate}"

    def __call__(self, baseline: Floats, candidate: Floats, rows: Bools) -> Floats:
        """The score (n,) from both (n,); deviations are those of some records (n,)."""
        if self.weight is None:
            return candidate
        return baseline / _deviation(baseline[rows]) + self.weight * candidate / _deviation(candidate[rows])


@dataclass(frozen=True)
class Learnt:
    """What was learnt on shadow models: both pools, how all signals are combined by metric, and where that helps."""

    baseline: Pool
    everything: Pool
    ways: Mapping[str, Way]
    helps: Mapping[str, bool]

    def apply(self, target: Target, shadows: Shadows) -> dict[str, Combined]:
        """The scores of a target by metric, judged by its shadow models."""
        wanted = {way.candidate for way in self.ways.values()}
        alone = _applied(self.baseline, set(self.baseline.chosen.values()), target, shadows)
        both = _applied(self.everything, wanted, target, shadows)
        seen = np.asarray(target.observed.all(axis=0))
        out = {}
        for metric, helps in self.helps.items():
            baseline = alone[self.baseline.chosen[metric]]
            way = self.ways[metric]
            forced = way(baseline, both[way.candidate], seen)
            out[metric] = Combined(forced if helps else baseline, baseline, forced, helps, way.text)
        return out


def learn(shadows: Shadows, base: int, metrics: Sequence[str], tuning: Tuning) -> Learnt:
    """Choose for each metric how to combine the first `base` signals, and how to combine all."""
    aside = set_aside(shadows)
    judged = _judged(shadows)
    alone, before = _pool(shadows, slice(0, base), aside, judged, metrics, tuning)
    if base >= len(shadows.value):
        own = {metric: Way(alone.chosen[metric]) for metric in metrics}
        return Learnt(alone, alone, own, dict.fromkeys(metrics, False))
    both, after = _pool(shadows, slice(None), aside, judged, metrics, tuning)
    ways = {}
    helps = {}
    for metric in metrics:
        ways[metric], gained = _way(metric, alone.chosen[metric], before, both.chosen[metric], after)
        helps[metric] = gained > 0
    return Learnt(alone, both, ways, helps)


def _way(metric: str, baseline: str, before: Tried, best: str, after: Tried) -> tuple[Way, float]:
    """The best way to combine all signals on the shadow models set aside, and what it gains there over the baseline.

    A combination of many signals that is fitted on few models may lose more than the explanation adds; a little of it
    beside the baseline's own score does not.
    """
    if not after.truth or not before.truth:
        return Way(best), 1.0
    of = _criterion_for(metric, after.truth)
    start = float(np.mean(list(map(of, before.scores[baseline], after.truth))))
    known = {name: float(np.mean(list(map(of, parts, after.truth)))) for name, parts in after.scores.items()}
    reached = {Way(name): got for name, got in known.items()}
    for name in sorted(known, key=lambda n: -known[n])[:ADDED]:
        for weight in WEIGHTS:
            way = Way(name, weight)
            cells = zip(before.scores[baseline], after.scores[name], after.truth, strict=True)
            reached[way] = float(np.mean([of(way(b, s, np.ones_like(truth)), truth) for b, s, truth in cells]))
    chosen = max(reached, key=lambda way: reached[way])
    return chosen, reached[chosen] - start


def _deviation(score: Floats) -> float:
    return max(float(score.std()) if len(score) else 0.0, TINY)


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


@dataclass(frozen=True)
class Tried:
    """What candidates say about shadow models they were not fitted on: scores by candidate and model, and truth."""

    scores: Mapping[str, Sequence[Floats]]
    truth: Sequence[Bools]


def _pool(
    shadows: Shadows,
    signals: slice,
    aside: tuple[Ints, Ints],
    judged: Callable[[int], Bools],
    metrics: Sequence[str],
    tuning: Tuning,
) -> tuple[Pool, Tried]:
    """The candidates of some signals with the best for each metric, and what each said about models set aside."""
    reading = read(shadows.pick(signals), aside[0], tuning)
    block = reading.lens.blocks
    halves = [_lessons(reading, columns, judged) for columns in aside]
    # Of the baseline each signal alone is a candidate, too, so that no single attack on it is stronger.
    alone = singles(halves[0] + halves[1], block) if signals.stop is not None else {}
    fitted = [alone | rules(lessons, block) for lessons in halves]
    if not halves[1]:
        # A single shadow model shows no shift of any record, so the signals are compared with those of all others.
        how = AS_THEY_ARE if shadows.member.shape[1] == 1 and AS_THEY_ARE in fitted[0] else "sum"
        return Pool(signals, reading.lens, fitted[0], dict.fromkeys(metrics, how)), Tried({}, [])
    tried = _crossed(fitted, halves)
    chosen = {metric: _best(tried, metric) for metric in metrics}
    return Pool(signals, reading.lens, averaged(*fitted), chosen), tried


def _crossed(fitted: Sequence[Mapping[str, Rule]], halves: Sequence[Sequence[Lesson]]) -> Tried:
    """What candidates fitted on one half of the shadow models say about the other half, both ways."""
    first = _said(fitted[0], halves[1])
    if not halves[0]:
        return first
    second = _said(fitted[1], halves[0])
    scores = {name: [*parts, *second.scores[name]] for name, parts in first.scores.items() if name in second.scores}
    return Tried(scores, [*first.truth, *second.truth])


def _said(made: Mapping[str, Rule], lessons: Sequence[Lesson]) -> Tried:
    """The scores of candidates on some shadow models."""
    ends = np.cumsum([len(lesson.truth) for lesson in lessons])[:-1]
    whole = scored(made, np.concatenate([lesson.table for lesson in lessons], axis=1))
    split = {name: np.split(score, ends) for name, score in whole.items()}
    return Tried(split, [lesson.truth for lesson in lessons])


def _best(tried: Tried, metric: str) -> str:
    """The candidate with the highest mean."""
    of = _criterion_for(metric, tried.truth)
    means = {name: float(np.mean(list(map(of, parts, tried.truth)))) for name, parts in tried.scores.items()}
    return max(means, key=lambda name: means[name])


def _criterion_for(metric: str, truth: Sequence[Bools]) -> Metric:
    """By what candidates are chosen for a metric: the AUC where the metric cannot be resolved."""
    known = all(not resolvable(metric, side) for side in truth)
    return criterion(metric if known else "auc")


def _applied(pool: Pool, wanted: set[str], target: Target, shadows: Shadows) -> dict[str, Floats]:
    """The scores (N,) of a target by some candidates of a pool."""
    some = shadows.pick(pool.signals)
    use = np.asarray(some.observed.all(axis=0))
    sums = Sums.of(pool.lens.features(some.value), use, some.member)
    table = Reading.of(pool.lens, sums).of_target(target.value[pool.signals])
    return scored(pool.rules, table, wanted)


def _lessons(reading: Reading, columns: Ints, judged: Callable[[int], Bools]) -> list[Lesson]:
    out = []
    for column in columns.tolist():
        rows = judged(column)
        truth = reading.sums.member[rows, column]
        if truth.any() and not truth.all():
            out.append(Lesson(reading.of_shadow(column, rows), truth))
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
