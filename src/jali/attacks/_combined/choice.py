"""Choose among candidates on shadow models that took no part in fitting them, for each metric by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from jali.attacks._combined.candidates import AS_THEY_ARE, Half, Rule, averaged, fitted_on, scored, singles
from jali.attacks._combined.criteria import criteria_of
from jali.attacks._combined.facts import Facts
from jali.attacks._combined.manner import Manner
from jali.attacks._combined.reading import Lens, Reading, Tuning, choose_lens, taken, without
from jali.core.guesses import Combined, Shadows, Target
from jali.core.values import Bools, Floats, Ints
from jali.stats.roc import resolvable

FEWEST = 3  # with fewer shadow models, none can be set aside
CELLS = 20_000  # cells of shadow models that are judged, if there are as many
LEAST = 12  # shadow models that are judged at least, if there are as many
MOST = 24  # and at most
FEW = 20
TINY = 1e-12
WEIGHTS = (0.1, 0.3, 1.0)  # of a combination of all signals that is added to the baseline
RECORDS = 20_000  # records on which a combination is learnt, at most
MEMORY = 20_000_000  # numbers that the sums over sets of shadow models may take
LEARNING = 8_000_000  # the same while the tables of all shadow models are there, too
ADDED = 2  # combinations of all signals that are tried so


Scores = dict[str, Floats]  # by candidate


@dataclass(frozen=True)
class Way:
    """How signals are combined: a candidate, alone or (weight) so many deviations of it added to another score."""

    candidate: str
    weight: float | None = None

    @property
    def text(self) -> str:
        """In words."""
        return self.candidate if self.weight is None else f"baseline and {self.weight:g} of {self.candidate}"

    def __call__(self, other: Floats, candidate: Floats, rows: Bools) -> Floats:
        """The score (n,) from both (n,); deviations are those of some records (n,)."""
        if self.weight is None:
            return candidate
        return other / _deviation(other[rows]) + self.weight * candidate / _deviation(candidate[rows])


@dataclass(frozen=True)
class Pool:
    """Some signals, how they are read, the candidates, and what is chosen for each metric: the best one, and a way.

    ways: the best candidate, or of the baseline so much of another one beside it. tried: what the candidates say about
    shadow models set aside, where there are enough of these.
    """

    signals: slice
    lens: Lens
    rules: Mapping[str, Rule]
    chosen: Mapping[str, str]
    ways: Mapping[str, Way]
    tried: Tried | None = None

    def of(self, metric: str) -> Of:
        """What is chosen for a metric."""
        return self.chosen[metric], self.ways[metric]

    @property
    def wanted(self) -> set[str]:
        """The candidates that are needed for a score."""
        return set(self.chosen.values()) | {way.candidate for way in self.ways.values()}

    def score(self, metric: str, said: Scores, rows: Bools) -> Floats:
        """What is chosen for a metric makes of the candidates' scores (n,)."""
        way = self.ways[metric]
        return way(said[self.chosen[metric]], said[way.candidate], rows)


Of = tuple[str, Way]  # a candidate and a way beside it
Reached = dict[tuple[Of, Way | None], Floats]  # by baseline and way: criteria (models, metrics)


@dataclass(frozen=True)
class Learnt:
    """What was learnt on shadow models: both pools, how all signals are combined by metric, and where that helps."""

    baseline: Pool
    everything: Pool
    ways: Mapping[str, Way]
    helps: Mapping[str, bool]
    facts: Facts

    def apply(self, targets: Sequence[Target], shadows: Shadows, sets: Bools) -> list[dict[str, Combined]]:
        """The scores of each target by metric, judged by its own set (T, K) of the shadow models."""
        wanted = {way.candidate for way in self.ways.values()}
        if self.everything is self.baseline:
            both = alone = _applied(self.baseline, self.baseline.wanted | wanted, targets, shadows, sets)
        else:
            alone = _applied(self.baseline, self.baseline.wanted, targets, shadows, sets)
            both = _applied(self.everything, wanted, targets, shadows, sets)
        return [self._combined(*three) for three in zip(targets, alone, both, strict=True)]

    def _combined(self, target: Target, alone: Scores, both: Scores) -> dict[str, Combined]:
        """Metrics for which the same was chosen share one value, so that it is judged once."""
        seen = np.asarray(target.observed.all(axis=0))
        known: dict[tuple[Of, Way, bool], Combined] = {}
        out = {}
        for metric, helps in self.helps.items():
            way = self.ways[metric]
            choice = (self.baseline.of(metric), way, helps)
            if choice not in known:
                baseline = self.baseline.score(metric, alone, seen)
                # Without an explanation there is nothing that it could be made to use.
                forced = baseline if self.everything is self.baseline else way(baseline, both[way.candidate], seen)
                known[choice] = Combined(forced if helps else baseline, baseline, forced, helps, way.text)
            out[metric] = known[choice]
        return out


def learn(shadows: Shadows, base: int, metrics: Sequence[str], tuning: Tuning, known: Learnt | None = None) -> Learnt:
    """Choose for each metric how to combine the first `base` signals, and how to combine all.

    Records that no shadow model was asked about take no part. known: what was learnt with the same baseline on the same
    shadow models; its baseline is used again.
    """
    shadows = shadows.sample(np.ones(shadows.member.shape[1], dtype=bool), RECORDS)
    aside = set_aside(shadows)
    judged = _judged(shadows)
    facts = known.facts if known else Facts()
    alone = known.baseline if known else _pool(shadows, slice(0, base), aside, judged, metrics, tuning, facts)
    if base >= len(shadows.value):
        return Learnt(alone, alone, alone.ways, dict.fromkeys(metrics, False), facts)
    both = _pool(shadows, slice(None), aside, judged, metrics, tuning, facts)
    ways = {}
    helps = {}
    reached: Reached = {}
    for metric in metrics:
        if alone.tried is None or both.tried is None:
            ways[metric] = Way(both.chosen[metric])
            helps[metric] = True
            continue
        each = _each(both.tried, alone.of(metric), alone.tried, reached)
        ways[metric] = _best_way(metric, both.tried, each)
        gained = each(metric, ways[metric]) - each(metric, None)
        helps[metric] = _clearly_above_zero(gained) if both.tried.by[metric] == "auc" else bool(gained.mean() > 0)
    return Learnt(alone, both, ways, helps, facts)


Each = Callable[[str, Way | None], Floats]


def _each(tried: Tried, of: Of, before: Tried, reached: Reached) -> Each:
    """By metric and way to add a candidate to what was chosen before, what each model set aside reaches (models,).

    reached: what was computed already.
    """
    needed = tuple(dict.fromkeys(tried.by.values()))
    chosen, beside = of

    @cache
    def others() -> list[Floats]:
        parts = zip(before.scores[chosen], before.scores[beside.candidate], strict=True)
        return [beside(*part, np.ones(len(part[0]), dtype=bool)) for part in parts]

    def each(metric: str, way: Way | None) -> Floats:
        if (of, way) not in reached:
            # All weights of a candidate are asked for, so they are sorted together.
            ways = [way] if way is None or way.weight is None else [Way(way.candidate, w) for w in WEIGHTS]
            parts = zip(others(), others() if way is None else tried.scores[way.candidate], strict=True)
            scores = [np.stack([_added(one, *part) for one in ways]) for part in parts]
            found = [criteria_of(some, side, needed) for some, side in zip(scores, tried.truth, strict=True)]
            for k, one in enumerate(ways):
                reached[of, one] = np.array([model[k] for model in found])
        return reached[of, way][:, needed.index(tried.by[metric])]

    return each


def _added(way: Way | None, other: Floats, candidate: Floats) -> Floats:
    """A score (n,), and in a way beside it, if any, a candidate (n,)."""
    return other if way is None else way(other, candidate, np.ones(len(other), dtype=bool))


def _best_way(metric: str, tried: Tried, each: Each) -> Way:
    """The best way on the shadow models set aside: a candidate, or a little of one of the best beside another score.

    A combination of many signals that is fitted on few models may lose more than the explanation adds; a little of it
    beside the baseline's own score does not. The baseline has the same choice among its own candidates: else what a
    mixture of the score's signals gains would be taken for a gift of the explanation.
    """
    known = tried.reached[metric]
    found = {Way(name): got for name, got in known.items()}
    for name in sorted(known, key=lambda n: -known[n])[:ADDED]:
        for weight in WEIGHTS:
            found[Way(name, weight)] = float(each(metric, Way(name, weight)).mean())
    return max(found, key=lambda way: found[way])


def _clearly_above_zero(gained: Floats) -> bool:
    """Whether a mean over shadow models (M,) is above its standard error.

    The best of many ways seems to gain a little by chance; used where nothing is gained, it loses as much. Rates at few
    false positives are too noisy for this rule: what they gain would mostly be thrown away.
    """
    error = float(gained.std(ddof=1)) / np.sqrt(len(gained)) if len(gained) > 1 else 0.0
    return bool(gained.mean() > error)


def _deviation(score: Floats) -> float:
    return max(float(score.std()) if len(score) else 0.0, TINY)


def set_aside(shadows: Shadows) -> tuple[Ints, Ints]:
    """Two halves of the shadow models: candidates are fitted on one and judged on the other; their order is no matter.

    A single one can be fitted on as it is, but not be judged by others.
    """
    models = shadows.member.shape[1]
    records = int(shadows.observed.any(axis=(0, 2)).sum())
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

    Whether the model itself trained on a record does not decide, so counting the others reveals nothing. Nor does
    whether the others answered about it: if only the refused get an explanation, who is refused depends on membership,
    and records about which both kinds answered are not like those of a target. Where few members or non-members are
    left, all records that were observed are used.
    """
    seen = shadows.answered
    k_in = shadows.member.sum(axis=1)
    k_out = (~shadows.member).sum(axis=1)

    def rows(column: int) -> Bools:
        mine = shadows.member[:, column]
        there = seen[:, column]
        both = there & (k_in - mine > 0) & (k_out - ~mine > 0)
        enough = min(np.count_nonzero(both & mine), np.count_nonzero(both & ~mine)) >= FEW
        return np.asarray(both if enough else there)

    return rows


@dataclass(frozen=True)
class Tried:
    """What candidates say about shadow models they were not fitted on.

    scores: by candidate and model. truth: by model. by: per metric, the one that candidates are compared by, which is
    the AUC where the metric cannot be resolved. reached: by metric and candidate, its mean.
    """

    scores: Mapping[str, Sequence[Floats]]
    truth: Sequence[Bools]
    by: Mapping[str, str]
    reached: Mapping[str, Mapping[str, float]]

    @staticmethod
    def of(scores: Mapping[str, Sequence[Floats]], truth: Sequence[Bools], metrics: Sequence[str]) -> Tried:
        """Compare the candidates by each metric."""
        by = {m: "auc" if any(resolvable(m, side) for side in truth) else m for m in metrics}
        needed = tuple(dict.fromkeys(by.values()))
        models = zip(*scores.values(), strict=True)
        found = [criteria_of(np.stack(each), side, needed) for each, side in zip(models, truth, strict=True)]
        rows = zip(scores, np.mean(found, axis=0).tolist(), strict=True)
        means = {name: dict(zip(needed, row, strict=True)) for name, row in rows}
        return Tried(scores, truth, by, {m: {name: got[by[m]] for name, got in means.items()} for m in metrics})

    def best(self, metric: str) -> str:
        """The candidate with the highest mean."""
        known = self.reached[metric]
        return max(known, key=lambda name: known[name])


def _pool(
    shadows: Shadows,
    signals: slice,
    aside: tuple[Ints, Ints],
    judged: Callable[[int], Bools],
    metrics: Sequence[str],
    tuning: Tuning,
    facts: Facts,
) -> Pool:
    """The candidates of some signals with the best for each metric, and what each says about models set aside."""
    mine = shadows.pick(signals)
    lens = choose_lens(mine, aside, tuning, facts)
    halves = _lessons(lens, mine, aside, judged)
    # Of the baseline each signal alone is a candidate, too, so that no single attack on it is stronger.
    alone = singles(halves[0].lessons + halves[1].lessons, lens.blocks) if signals.stop is not None else {}
    fitted = [alone | made for made in fitted_on(halves)]
    if not len(halves[1].truth):
        # A single shadow model shows no shift of any record, so the signals are compared with those of all others.
        how = AS_THEY_ARE if shadows.member.shape[1] == 1 and AS_THEY_ARE in fitted[0] else "sum"
        return Pool(signals, lens, fitted[0], dict.fromkeys(metrics, how), dict.fromkeys(metrics, Way(how)))
    tried = Tried.of(*_crossed(fitted, halves), metrics)
    chosen = {metric: tried.best(metric) for metric in metrics}
    ways = {metric: Way(name) for metric, name in chosen.items()}
    if signals.stop is not None:
        reached: Reached = {}
        for metric, name in chosen.items():
            ways[metric] = _best_way(metric, tried, _each(tried, (name, ways[metric]), tried, reached))
    return Pool(signals, lens, averaged(*fitted), chosen, ways, tried)


Said = tuple[dict[str, list[Floats]], list[Bools]]  # scores by candidate and shadow model, and truth by model


def _crossed(fitted: Sequence[Mapping[str, Rule]], halves: Sequence[Half]) -> Said:
    """What candidates fitted on one half of the shadow models say about the other half, both ways."""
    first, truth = _said(fitted[0], halves[1])
    if not len(halves[0].truth):
        return first, truth
    second, rest = _said(fitted[1], halves[0])
    return {name: parts + second[name] for name, parts in first.items() if name in second}, truth + rest


def _said(made: Mapping[str, Rule], half: Half) -> Said:
    """The scores of candidates on some shadow models."""
    ends = np.cumsum(half.counts)[:-1]
    whole = scored(made, half.table)
    return {name: np.split(score, ends) for name, score in whole.items()}, np.split(half.truth, ends)


def _applied(pool: Pool, wanted: set[str], targets: Sequence[Target], shadows: Shadows, sets: Bools) -> list[Scores]:
    """The scores (N,) of targets by some candidates of a pool."""
    there = np.asarray(shadows.observed.any(axis=(0, 2)))
    for target in targets:
        there |= target.observed.any(axis=0)
    some = shadows.pick(pool.signals)
    some = some if there.all() else some.rows(there)
    manner = pool.lens.features.manner(some, pool.lens.differ)
    out = []
    for part in _parts(len(targets), pool.lens, int(there.sum()), MEMORY):
        reading = Reading.of(pool.lens, some, sets[part], manner)
        values = taken([target.value[pool.signals] for target in targets[part]], np.flatnonzero(there))
        for t, (target, value) in enumerate(zip(targets[part], values, strict=True)):
            seen = np.asarray(target.observed[pool.signals][:, there].all(axis=0))
            table = reading.table(t, value, seen)
            said = scored(pool.rules, table, wanted)
            out.append({name: _spread(score, there) for name, score in said.items()})
        del reading  # it is large, and would be there beside the next one
    return out


def _spread(score: Floats, there: Bools) -> Floats:
    """Scores of some records (N,) among all; 0 for the others."""
    out = np.zeros(len(there))
    out[there] = score
    return out


def _parts(models: int, lens: Lens, records: int, memory: int) -> Iterator[slice]:
    """So many models a few at a time, so that their sums are so many numbers at most."""
    each = 4 * lens.size * max(1, records)
    step = max(1, memory // each)
    for start in range(0, models, step):
        yield slice(start, start + step)


def _lessons(
    lens: Lens, shadows: Shadows, aside: tuple[Ints, Ints], judged: Callable[[int], Bools]
) -> tuple[Half, Half]:
    """The tables of some shadow models in two halves, each read in directions that come from all others."""
    rows = {column: judged(column) for column in np.concatenate(aside).tolist()}
    truth = {column: shadows.member[mine, column] for column, mine in rows.items()}
    some = [[c for c in half.tolist() if truth[c].any() and not truth[c].all()] for half in aside]
    halves = Half.room([truth[c] for c in some[0]], lens.blocks), Half.room([truth[c] for c in some[1]], lens.blocks)
    manner = lens.features.manner(shadows, lens.differ)
    for k, (half, mine) in enumerate(zip(halves, some, strict=True)):
        _read_as_targets(half, lens.for_part(k), manner, shadows, np.array(mine, dtype=np.int64), rows)
    return halves


def _read_as_targets(
    half: Half, lens: Lens, manner: Manner, shadows: Shadows, columns: Ints, rows: Mapping[int, Bools]
) -> None:
    """Enter the tables of some shadow models, each judged by all the others, for the records of each (N,)."""
    seen = shadows.answered
    for part in _parts(len(columns), lens, len(shadows.member), LEARNING):
        reading = Reading.of(lens, shadows, without(columns[part], shadows.member.shape[1]), manner)
        for t, (column, lesson) in enumerate(zip(columns[part].tolist(), half.lessons[part], strict=True)):
            whole = bool(rows[column].all())
            place = lesson.table if whole else None
            table = reading.table(t, shadows.value[:, :, column], seen[:, column], place)
            if not whole:
                lesson.table[:] = table[:, rows[column]]
        del reading  # it is large, and would be there beside the next one
