"""Ways to turn the table of a reading into one score, fitted on some shadow models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.attacks._combined.quadratic import Quadratic
from jali.attacks._combined.reading import (
    ABOVE,
    COMMON,
    OWN,
    PLACE,
    RAW,
    SUMS,
    WHITE_COMMON,
    WHITE_OWN,
    WHITE_PLACE,
    WHITE_STEADY,
)
from jali.attacks._combined.screen import more_than_linear
from jali.core.values import Bools, Floats, Ints
from jali.stats.several_scores import aucs

Rule = Callable[[Floats], Floats]  # table (Q, N) to score (N,)
FARTHEST = 8.0  # standard deviations beyond which a column of a table is cut
AS_THEY_ARE = "as they are"
RIDGE = 0.1  # of the number of cells, where a weight is learnt for each signal
FAINT = 1e-3  # the same where there are a few sums to weigh
# Ratios with one shift for all records are weighed in sums only. The shift without one shadow model holds the noise of
# the others: weights of single ones learn that noise, and shadow models set aside seem to confirm it.
ALL_SUMS = (WHITE_COMMON, WHITE_STEADY, SUMS)
LINEAR = (OWN, ABOVE, WHITE_OWN, *ALL_SUMS)
# Trees multiply: they read places, not ratios, whose sign is chance where there is no common shift.
TREES = (OWN, PLACE, RAW, WHITE_OWN, WHITE_PLACE, *ALL_SUMS)
ENOUGH = 4_000  # cells needed to fit trees
MANY = 20_000  # cells with which trees are tried without a look
LOOKED_AT = 50  # rows of a table: with more, a look takes longer than loading the trees
MOST = 60_000  # cells that a linear rule is fitted on
MOST_FOR_TREES = 20_000  # three times as many gave the same shares of known leaks
TOGETHER = 8_000  # cells that trees score at once: their rows are copied


@dataclass(frozen=True)
class Lesson:
    """The table (Q, n) of one shadow model with its membership (n,), where it can be judged."""

    table: Floats
    truth: Bools


@dataclass(frozen=True)
class Half:
    """The lessons of one half of the shadow models, side by side, so that each table is there once.

    table (Q, n), truth (n,): those of all models. counts (L,): the records of each. block (Q,): to which block each row
    belongs.
    """

    table: Floats
    truth: Bools
    counts: Ints
    block: Ints

    @staticmethod
    def room(truths: Sequence[Bools], block: Ints) -> Half:
        """Models with their membership, and tables that are still to be filled."""
        counts = np.array([len(truth) for truth in truths], dtype=np.int64)
        truth = np.concatenate(truths) if truths else np.empty(0, dtype=bool)
        return Half(np.empty((len(block), len(truth))), truth, counts, block)

    @property
    def lessons(self) -> list[Lesson]:
        """Model by model."""
        ends = np.cumsum(self.counts)
        spans = [slice(end - count, end) for end, count in zip(ends, self.counts, strict=True)]
        return [Lesson(self.table[:, span], self.truth[span]) for span in spans]

    @property
    def cells(self) -> tuple[Floats, Bools]:
        """As many cells (Q, n) with their membership (n,) as a rule is fitted on."""
        step = max(1, -(-len(self.truth) // MOST))
        return self.table[:, ::step], self.truth[::step]

    @property
    def weighed(self) -> Ints:
        """The rows that linear rules weigh."""
        return np.flatnonzero(np.isin(self.block, LINEAR))

    @cached_property
    def linear(self) -> Rule:
        """The rule that weighs every row by itself."""
        return linear(*self.cells, self.weighed, RIDGE)


def rules(half: Half, trees: bool = False) -> dict[str, Rule]:
    """All candidates by name, with or without trees; those that are fitted learn from the lessons."""
    block = half.block
    out: dict[str, Rule] = {}
    out["sum"] = Weighted(np.isin(block, (OWN, COMMON)).astype(np.float64))
    out["independent directions, one shift"] = Weighted((block == WHITE_COMMON).astype(np.float64))
    out["independent directions, own shifts"] = Weighted((block == WHITE_OWN).astype(np.float64))
    out["independent directions, own spreads"] = Weighted((block == WHITE_STEADY).astype(np.float64))
    both = np.isin(block, (WHITE_OWN, WHITE_COMMON)).astype(np.float64)
    out["independent directions"] = Weighted(both)
    if not len(half.truth):
        return out
    everything, truth = half.cells
    out[AS_THEY_ARE] = linear(everything, truth, np.flatnonzero(block == RAW), FAINT)
    # Of one signal all records may lie on one level, of another each on its own.
    out["as they are, and by place"] = linear(everything, truth, np.flatnonzero(np.isin(block, (RAW, PLACE))), FAINT)
    out["sums, weighted"] = linear(everything, truth, np.flatnonzero(np.isin(block, ALL_SUMS)), FAINT)
    out["linear"] = half.linear
    fewer = -(-len(truth) // MOST_FOR_TREES)
    curved = Quadratic.of(everything[:, ::fewer], truth[::fewer], np.flatnonzero(np.isin(block, (RAW, PLACE))))
    if curved is not None:
        out["linear and quadratic"] = linear(everything, truth, half.weighed, RIDGE, curved)
    if trees:
        out["boosted"] = boosted(everything[:, ::fewer], truth[::fewer], block)
    return out


def worth_trees(halves: Sequence[Half]) -> bool:
    """Whether trees are tried: both halves of the lessons need cells; with few, one must show a reason (`screen`)."""
    cells = [len(half.truth) for half in halves]
    if min(cells) < ENOUGH:
        return False
    rows = np.flatnonzero(np.isin(halves[0].block, TREES))
    if min(cells) >= MANY or len(rows) > LOOKED_AT:
        return True
    for half in halves:
        table, truth = half.cells
        if more_than_linear(table[rows], truth, half.linear(table)):
            return True
    return False


def fitted_on(halves: Sequence[Half]) -> list[dict[str, Rule]]:
    """The candidates of each half, with trees where these are worth trying."""
    trees = worth_trees(halves)
    return [rules(half, trees) for half in halves]


MIXTURES = {
    "boosted and linear": {"boosted": 1.0, "linear": 1.0},
    "boosted, linear and sum": {"boosted": 1.0, "linear": 1.0, "sum": 0.5},
}


def scored(rules: Mapping[str, Rule], table: Floats, wanted: Collection[str] = ()) -> dict[str, Floats]:
    """The score (N,) of each candidate, or of those wanted, and of mixtures with trees, at a table (Q, N)."""
    mixed = {name: parts for name, parts in MIXTURES.items() if "boosted" in rules and (not wanted or name in wanted)}
    needed = {part for parts in mixed.values() for part in parts} | set(wanted)
    out = {name: rule(table) for name, rule in rules.items() if not wanted or name in needed}
    for name, parts in mixed.items():
        out[name] = np.sum([weight * out[part] for part, weight in parts.items()], axis=0)
    return out


def averaged(first: Mapping[str, Rule], second: Mapping[str, Rule]) -> dict[str, Rule]:
    """The candidates that both have, each the mean of the two."""
    return {name: _mean(rule, second[name]) for name, rule in first.items() if name in second}


def _mean(a: Rule, b: Rule) -> Rule:
    return a if isinstance(a, Weighted) else lambda table: (a(table) + b(table)) / 2


@dataclass(frozen=True)
class Weighted:
    """A weighted sum of the rows of a table."""

    weight: Floats

    def __call__(self, table: Floats) -> Floats:
        """Score (N,)."""
        used = np.flatnonzero(self.weight)
        if len(used) and used[-1] - used[0] == len(used) - 1:
            return np.asarray(self.weight[used] @ table[used[0] : used[-1] + 1])  # as they are: tables are large
        return np.asarray(self.weight[used] @ table[used])


@dataclass(frozen=True)
class Standard:
    """Rows of a table in standard deviations, cut far out."""

    mean: Floats
    deviation: Floats

    @staticmethod
    def of(table: Floats) -> Standard:
        """Mean and deviation of each row."""
        deviation = np.array([row.std() for row in table]).reshape(-1, 1)  # all at once would take as much memory again
        return Standard(table.mean(axis=1, keepdims=True), np.where(deviation > 0, deviation, 1.0))

    def into(self, table: Floats) -> Floats:
        """The standardised table (Q, N), in the place of the given one."""
        table -= self.mean
        table /= self.deviation
        return np.clip(table, -FARTHEST, FARTHEST, out=table)


def singles(lessons: Sequence[Lesson], block: Ints) -> dict[str, Rule]:
    """Each signal alone; the best six, by their mean AUC on the lessons."""
    kinds = {OWN: "own shift", COMMON: "common shift", ABOVE: "above out-models", RAW: "as it is"}
    found: dict[str, tuple[float, int]] = {}
    for kind, text in kinds.items():
        rows = np.flatnonzero(block == kind)
        each = [aucs(lesson.table[rows], lesson.truth) for lesson in lessons]
        reached = np.mean(each, axis=0).tolist() if each else [0.5] * len(rows)
        found |= {f"signal {s}, {text}": (reached[s], int(at)) for s, at in enumerate(rows)}
    best = sorted(found, key=lambda name: -found[name][0])[:6]
    return {name: Weighted((np.arange(len(block)) == found[name][1]).astype(np.float64)) for name in best}


def linear(table: Floats, truth: Bools, chosen: Ints, ridge: float, further: Rule | None = None) -> Rule:
    """The least-squares discriminant of members on chosen rows with a ridge, about on the scale of log-odds.

    With balanced classes a small difference of probabilities is a quarter of that of log-odds. further: a score that is
    weighed like a row.
    """

    def read(any_table: Floats) -> Floats:
        if further is None:
            return any_table[chosen]
        out = np.empty((len(chosen) + 1, any_table.shape[1]))
        out[-1] = further(any_table)
        np.take(any_table, chosen, axis=0, out=out[:-1])  # at once where it belongs: tables are large
        return out

    rows = read(table)
    standard = Standard.of(rows)
    rows = standard.into(rows)
    gram = rows @ rows.T + ridge * rows.shape[1] * np.eye(len(rows))
    weight = 4 * np.linalg.solve(gram, rows @ (truth - truth.mean()))
    return lambda other: np.asarray(weight @ standard.into(read(other)))


def boosted(table: Floats, truth: Bools, block: Ints) -> Rule:
    """Gradient-boosted trees on the table (Q, n), which find what depends on the kind of record and on two signals."""
    from threadpoolctl import threadpool_limits

    from jali.attacks._combined.trees import Trees

    rows = np.flatnonzero(np.isin(block, TREES))
    model = Trees(
        max_iter=40,
        learning_rate=0.2,
        max_leaf_nodes=8,
        min_samples_leaf=50,
        max_bins=64,
        early_stopping=False,
        random_state=0,
    )
    # Sums split over threads would change the last bits.
    with threadpool_limits(limits=1):
        model.fit(table[rows].T, truth)

    def score(other: Floats) -> Floats:
        out = np.empty(other.shape[1])
        for start in range(0, len(out), TOGETHER):
            some = slice(start, start + TOGETHER)
            out[some] = model.decision_function(other[rows, some].T)
        return out

    return score
