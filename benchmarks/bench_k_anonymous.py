"""k-anonymous counterfactuals: all rows and starts at once against the published search, row by row in plain Python.

Run `python benchmarks/bench_k_anonymous.py` (with JALI_DATA for the real tables), or with names of tables, or with
`growth` for the rest. For each table a forest is trained on 60 % of the rows, and the first 1,000 of the others that it
denies (all, where there are fewer) get the nearest training row with the outcome, which is then generalised. `plain` is
the algorithm of the paper as a person writes it first: loops over rows, one counterfactual after the other, 100 drawn
combinations for pureness. Milliseconds are CPU time of one thread for each answer: `together` all in one call, `alone`
with one record; medians of several calls. Labels of the training rows are asked for once and not timed, nor is the
search for the nearest row. Proved: share of answers whose NCP no other region of as many people and as much pureness
undercuts.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import sys
import time
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from jali.anonymity.measures import matching, ncp, pureness
from jali.core import registry
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Column, Dataset, Floats, Ints, Rng, Schema
from jali.data.tables import files
from jali.defend._generalise import Protected
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.mondrian import Mondrian
from jali.explain.nice import NICE
from jali.models.fitted.estimator import FittedModel
from jali.models.sklearn import Sklearn

TREES = {"heart": (50, 10), "cmc": (100, 100), "german": (50, 1000), "adult": (500, 500)}
MOST, ALONE, AGAIN = 1000, 30, 10  # answers, calls with one of them, and with all if that is quick
FEW, MANY, LONG = 8, 60, 10.0  # answers of the plain search: at least, at most, and for how many seconds
SOLVERS: tuple[Literal["grasp", "optimal", "mutual", "as_released"], ...] = (
    "grasp",
    "optimal",
    "mutual",
    "as_released",
)
FREE = NICE(immutable="free", ranges="train")
Box = list[set[float]]


# --- the published algorithm, row by row ------------------------------------------------------------------------------


@dataclass
class Plain:
    """CF-K for one counterfactual, in loops; the forest is asked as scikit-learn is."""

    model: FittedModel
    train: Dataset
    said: Ints
    k: int = 10
    alpha: int = 20
    iterations: int = 3

    def __post_init__(self) -> None:
        self.quasi = [j for j, c in enumerate(self.train.schema.columns) if c.role == "quasi"]
        self.numeric = [self.train.schema.columns[j].kind != "category" for j in self.quasi]
        self.table = [[row[j] for j in self.quasi] for row in self.train.X.tolist()]
        self.values = [sorted({row[q] for row in self.table}) for q in range(len(self.quasi))]
        self.draw = random.Random(0)

    def solve(self, row: Floats, wanted: int) -> tuple[float, float]:
        """Pureness and NCP of the best start."""
        best = (-1.0, -2.0)
        for _ in range(self.iterations):
            box = self.grown([{float(row[j])} for j in self.quasi], wanted)
            best = max(best, self.improved(box, row, wanted))
        return best[0], -best[1]

    def inside(self, value: float, q: int, box: Box) -> bool:
        return min(box[q]) <= value <= max(box[q]) if self.numeric[q] else value in box[q]

    def people(self, box: Box) -> list[list[float]]:
        return [row for row in self.table if all(self.inside(v, q, box) for q, v in enumerate(row))]

    def far(self, row: list[float], box: Box) -> float:
        total = 0.0
        for q, value in enumerate(row):
            if not self.inside(value, q, box):
                span = self.values[q][-1] - self.values[q][0]
                total += max(min(box[q]) - value, value - max(box[q])) / span if self.numeric[q] else 1.0
        return total

    def grown(self, box: Box, wanted: int) -> Box:
        """Take in one of the nearest people after the other."""
        while len(self.people(box)) < self.k:
            near = []
            for row, label in zip(self.table, self.said.tolist(), strict=True):
                distance = self.far(row, box)
                if label == wanted and distance > 0:
                    near.append((distance, row))
            near.sort(key=lambda pair: pair[0])
            chosen = self.draw.choice(near[: self.alpha])[1]
            box = [have | {value} for have, value in zip(box, chosen, strict=True)]
        return box

    def improved(self, box: Box, row: Floats, wanted: int) -> tuple[float, float]:
        """Add or drop a value at a time while that helps."""
        score, again = self.score(box, row, wanted), True
        while again:
            again = False
            for q in range(len(box)):
                trial = [set(have) for have in box]
                self.changed(trial, q, float(row[self.quasi[q]]))
                if trial != box and len(self.people(trial)) >= self.k:
                    new = self.score(trial, row, wanted)
                    if new > score:
                        box, score, again = trial, new, True
        return score

    def changed(self, box: Box, q: int, own: float) -> None:
        others = sorted(box[q] - {own})
        if others:
            box[q].discard(self.draw.choice([others[0], others[-1]] if self.numeric[q] else others))
        elif not self.numeric[q]:
            box[q].add(self.draw.choice(self.values[q]))
        else:
            at = self.values[q].index(own) + self.draw.choice([-1, 1])
            box[q].add(self.values[q][min(max(at, 0), len(self.values[q]) - 1)])

    def score(self, box: Box, row: Floats, wanted: int) -> tuple[float, float]:
        """Pureness of 100 draws, and minus the NCP."""
        held = self.people(box)
        loss = 0.0
        for q in range(len(box)):
            have = sorted({person[q] for person in held})
            if self.numeric[q]:
                loss += (have[-1] - have[0]) / (self.values[q][-1] - self.values[q][0])
            elif len(have) > 1:
                loss += len(have) / len(self.values[q])
        rows = []
        for _ in range(100):
            one = row.copy()
            for q, j in enumerate(self.quasi):
                one[j] = self.draw.choice([v for v in self.values[q] if self.inside(v, q, box)])
            rows.append(one)
        label = self.model.estimator.predict(self.model.feed(np.array(rows)))
        pure = float((self.model.position[np.searchsorted(self.model.estimator.classes_, label)] == wanted).mean())
        return pure, -loss / len(box)


# --- real tables ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """Answers with counterfactuals that are known already."""

    counterfactuals: Counterfactual
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Found:  # noqa: ARG002
        return self

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        return self.counterfactuals


class Protects(Protocol):
    """A k-anonymous explainer that was prepared."""

    def protect(self, counterfactuals: Counterfactual) -> Protected: ...


def timed(ready: Protects, counterfactuals: Counterfactual) -> tuple[float, Protected]:
    began = time.process_time()
    out = ready.protect(counterfactuals)
    return time.process_time() - began, out


def ranks(many: int, some: int) -> Ints:
    """Some positions of many, evenly spread."""
    return np.unique(np.linspace(0, many - 1, some).astype(int))


def solvers(model: Model, counterfactuals: Counterfactual, train: Dataset) -> float:
    """Print a line for each solver; seconds of `grasp` for all answers."""
    count, seconds, loss = len(counterfactuals.found), {}, {}
    some = [np.arange(count) == i for i in ranks(count, ALONE)]
    for solver in SOLVERS:
        ready = KAnonymous(FREE, solver=solver).prepare(model, train.schema, train, np.random.default_rng(0))
        began = time.perf_counter()
        runs = [timed(ready, counterfactuals)]
        took = time.perf_counter() - began
        runs += [timed(ready, counterfactuals) for _ in range(AGAIN if took < 1 else 0)]
        seconds[solver], kept = statistics.median(second for second, _ in runs), runs[0][1]
        alone = [timed(ready, counterfactuals.pick(one))[0] for one in some]
        of = kept.who.of
        loss[solver], proved = kept.loss, f"proved {(kept.loss - kept.bound < 1e-9)[of].mean():.3f}"
        above = int((kept.loss > loss["grasp"] + 1e-9)[of].sum())
        print(
            f"  {solver:12} NCP {kept.loss[of].mean():.4f}  pureness {kept.pure[of].mean():.4f}  "
            f"withheld {(~kept.able[of]).sum()}  fewest people {kept.people[kept.able].min()}  "
            f"together {1e3 * seconds[solver] / count:.2f} ms ({took:.1f} s on the clock)  "
            f"alone {1e3 * statistics.median(alone):.1f} ms"
            + (f"  {proved}  above grasp in {above}" if solver == "optimal" else "")
        )
    return seconds["grasp"]


def cut(
    model: Model, X: Floats, counterfactuals: Counterfactual, train: Dataset, widths: Literal["normalised", "raw"]
) -> None:
    """Print a line for Mondrian, which cuts the table once."""
    wanted, began = np.full(len(X), train.schema.favourable or 0), time.process_time()
    shown = (
        Mondrian(Found(counterfactuals), widths=widths)
        .prepare(model, train.schema, train, np.random.default_rng(0))
        .explain(X, np.random.default_rng(0))
    )
    together, alone = time.process_time() - began, []
    for i in ranks(len(X), ALONE):
        one, began = np.arange(len(X)) == i, time.process_time()
        Mondrian(Found(counterfactuals.pick(one)), widths=widths).prepare(
            model, train.schema, train, np.random.default_rng(0)
        ).explain(X[one], np.random.default_rng(0))
        alone.append(time.process_time() - began)
    regions = shown.shown(train.schema)
    pure = pureness(model, regions, train, wanted, np.random.default_rng(0)).value
    print(
        f"  mondrian     NCP {ncp(regions, train).mean():.4f}  pureness {pure.mean():.4f}  "
        f"withheld {(~shown.found).sum()}  fewest people {matching(regions, train)[shown.found].min()}  "
        f"together {1e3 * together / len(X):.2f} ms  alone {1e3 * statistics.median(alone):.1f} ms  {widths} widths"
    )


def compare(name: str) -> None:
    """One real table."""
    data = registry.build("data", name).load()
    order = np.random.default_rng(0).permutation(len(data))
    size = int(0.6 * len(data))
    train, X = data.rows(order[:size]), data.X[order[size:]]
    trees, leaves = TREES[name]
    forest = Sklearn("sklearn.ensemble:RandomForestClassifier", f"n_estimators={trees}, max_leaf_nodes={leaves}")
    model = forest.fit(train, np.ones((size, 1), dtype=bool), [np.random.default_rng(0)])[0]
    assert isinstance(model, FittedModel)
    X = X[model.logits(X).argmax(axis=1) != data.schema.favourable][:MOST]
    counterfactuals = FREE.prepare(model, data.schema, train, np.random.default_rng(0)).explain(
        X, np.random.default_rng(0)
    )
    print(f"{name}: {size} training rows, {len(X)} answers from {len(np.unique(counterfactuals.rows, axis=0))} people")
    whole = solvers(model, counterfactuals, train)
    cut(model, X, counterfactuals, train, "normalised")
    cut(model, X, counterfactuals, train, "raw")
    slow(model, counterfactuals, train, whole)


def slow(model: FittedModel, counterfactuals: Counterfactual, train: Dataset, whole: float) -> None:
    """The plain algorithm on some answers, at even ranks, in an order that does not follow them.

    whole: seconds that `grasp` took for all answers. It solves rows that several answers show once, so the ratio is
    given for each different row as well.
    """
    plain, took = Plain(model, train, model.logits(train.X).argmax(axis=1)), 0.0
    got: list[tuple[float, float]] = []
    for i in np.random.default_rng(0).permutation(ranks(len(counterfactuals.rows), MANY)):
        if len(got) >= FEW and took > LONG:
            break
        began = time.process_time()
        got.append(plain.solve(counterfactuals.rows[i], int(train.schema.favourable or 0)))
        took += time.process_time() - began
    (pure, loss), each, rows = np.mean(got, axis=0), took / len(got), len(np.unique(counterfactuals.rows, axis=0))
    print(
        f"  plain Python on {len(got)} of them: NCP {loss:.4f}  pureness {pure:.4f}  "
        f"{1e3 * each:.0f} ms each, {each / whole * len(counterfactuals.rows):.0f} times as long as grasp together, "
        f"for each different row {each / whole * rows:.0f} times"
    )


# --- growth -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Score:
    """Accepts by income, age and one category."""

    def logits(self, X: Floats) -> Floats:
        score = X[:, 5] + X[:, 0] / 100 - 0.2 * (X[:, 1] == 3) - 1.0
        return np.stack([-score, score], axis=1)


def synthetic(n: int) -> Dataset:
    """Quasi-identifiers like those of adult: an age and categories of 7, 6, 5 and 2 values, some of them rare."""
    rng = np.random.default_rng(0)
    names = [Column("age", "integer", 17, 90, role="quasi")]
    names += [Column(f"c{m}", "category", categories=tuple("abcdefg"[:m]), role="quasi") for m in (7, 6, 5, 2)]
    X = [17 + np.floor(73 * rng.beta(2, 3, n))]
    X += [np.minimum(rng.geometric(0.5, n) - 1, m - 1) for m in (7, 6, 5, 2)]
    X.append(rng.random(n))
    schema = Schema((*names, Column("income", low=0, high=1)), favourable=1)
    return Dataset(np.stack(X, axis=1).astype(float), np.zeros(n, dtype=int), schema)


def growth(answers: int = 200) -> None:
    """The same number of answers from ever more training rows."""
    print(f"growth with the number of training rows, {answers} answers")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        train, model = synthetic(n), Score()
        at = np.random.default_rng(1).permutation(np.flatnonzero(model.logits(train.X).argmax(axis=1) == 1))[:answers]
        counterfactuals = Counterfactual(train.X[at], np.ones(len(at), dtype=bool), origin=at)
        for part in (KAnonymous(), KAnonymous(solver="optimal")):
            ready = part.prepare(model, train.schema, train, np.random.default_rng(0))
            seconds, kept = timed(ready, counterfactuals)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"  {n:9,} rows  {part.solver:8} {1e3 * seconds / len(at):6.2f} ms an answer  "
                f"NCP {kept.loss.mean():.4f}  peak memory so far {peak:.0f} MB"
            )


def main() -> None:
    """What the command line names, or all there is."""
    asked = sys.argv[1:] or [*TREES, "growth"]
    with threadpool_limits(1):
        for name in asked:
            if name == "growth":
                growth()
            elif files.present(registry.build("data", name)):
                compare(name)
            else:
                print(f"{name}: no files in {os.environ.get('JALI_DATA', 'JALI_DATA')}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
