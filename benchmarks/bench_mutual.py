"""What `mutual` leaves an insider, and whether `minimality` finds it: every native explainer, two models, six tables.

Run `python benchmarks/bench_mutual.py` (with JALI_DATA for the real tables), or with names of tables. A forest and a
linear model are trained on 600 rows (heart: 200), and the others, at most 150, get answers. The insider holds the
model, its labels of the training rows, which of these the explainer may show, everybody's quasi-identifiers and the
answer, but does not know who asked. For each table, model and explainer: the answers; the least number of people that
`minimality` leaves, and how many answers leave fewer than k; and in how many of the answers checked (the first few)
the number differs from a brute force that puts each candidate into the training set and runs the defence from scratch.
The last column is the same comparison for the published CF-K (`grasp`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core import registry
from jali.core.distance import nearest, ranges
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Wants
from jali.core.protocols import Model, keeps_immutable
from jali.core.query import Oracle
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.defend.explain.k_anonymous import KAnonymous
from jali.explain.face import FACE
from jali.explain.native.rows import Immutable, predictions
from jali.explain.nice import NICE
from jali.models.logistic import Logistic
from jali.models.sklearn import Sklearn
from jali.query_attacks.minimality import Minimality

TABLES = ("adult", "cmc(target='method')", "german", "heart", "hospital", "informs")
FOREST = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=30, max_depth=8")
IMMUTABLE: tuple[Immutable, ...] = ("agree", "free")
TRAIN = 600
ASK = 150
K = 10
CHECKED = 3  # answers of each combination that are checked by brute force


def explainers() -> Iterator[Explainer]:
    """Every native explainer that shows whole rows, with all its options."""
    for candidates in ("predicted", "justified"):
        for immutable in IMMUTABLE:
            for spans in ("schema", "train"):
                yield NICE("none", candidates, immutable, spans)
    for confidence, sparse in ((0.5, 0.1), (0.8, 0.1), (0.8, 0.0), (0.5, 0.5)):
        for immutable in IMMUTABLE:
            yield FACE(10, confidence, sparse, immutable)


@dataclass(frozen=True)
class Insider:
    """What the insider knows of one deployment; shown (N,): which training rows the explainer may show."""

    model: Model
    train: Dataset
    explainer: Explainer
    shown: Bools

    def possible(self, rows: Floats) -> Bools:
        """Whether rows (n, D) could be shown, by the model alone."""
        if isinstance(self.explainer, FACE):
            return np.asarray(predictions(self.model, rows)[0].max(axis=1) >= self.explainer.confidence)
        return np.ones(len(rows), dtype=bool)


def shown_by(explainer: Explainer, model: Model, train: Dataset) -> Bools:
    """Which training rows an explainer may show, from its definition."""
    p, label = predictions(model, train.X)
    if isinstance(explainer, NICE):
        return np.asarray((label == train.y) | (explainer.candidates == "predicted"))
    assert isinstance(explainer, FACE)
    spans = ranges(train.schema, train.X, "schema")
    far = nearest(train.X, train.X, train.schema, spans, explainer.neighbours + 1)[1][:, -1]
    return np.asarray((p.max(axis=1) >= explainer.confidence) & (far <= np.quantile(far, 1 - explainer.sparse)))


@dataclass(frozen=True)
class ShowsOne:
    """An explainer that shows one training row to everybody, by the rules of an insider's."""

    insider: Insider
    row: int
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def keeps_immutable(self) -> bool:
        """As the real explainer."""
        return keeps_immutable(self.insider.explainer)

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:  # noqa: ARG002
        """Keep the training set."""
        assert train is not None
        return Ready(self, train)


@dataclass(frozen=True)
class Ready:
    """The same, prepared."""

    part: ShowsOne
    train: Dataset

    def showable(self) -> Bools:
        """As the insider knows it."""
        return self.part.insider.shown

    def may_show(self, rows: Floats) -> Bools:
        """As the model says."""
        return self.part.insider.possible(rows)

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """The one row."""
        at = np.full(len(X), self.part.row)
        return Counterfactual(self.train.X[at], np.ones(len(X), dtype=bool), origin=at)


def left(insider: Insider, solver: str, answer: Counterfactual, i: int, outcomes: Ints) -> int:
    """How many people brute force leaves for answer i, which states one of these outcomes."""
    train = insider.train
    assert answer.regions is not None
    assert answer.origin is not None
    quasi = np.flatnonzero([c.role == "quasi" for c in train.schema.columns])
    region = answer.regions.pick(np.array([i]))
    label = predictions(insider.model, train.X)[1]
    found = 0
    for j in np.flatnonzero(region.covers(train.X, quasi)[0] & insider.shown):
        row = train.X[[answer.origin[i]]].copy()
        row[:, quasi] = train.X[j, quasi]
        outcome = predictions(insider.model, row)[1][0]
        if outcome != label[j] or outcome not in outcomes or not insider.possible(row)[0]:
            continue
        X = train.X.copy()
        X[j] = row
        again = KAnonymous(ShowsOne(insider, int(j)), K, solver)  # type: ignore[arg-type]
        rng = np.random.default_rng(0)
        other = Dataset(X, train.y, train.schema)
        out = again.prepare(insider.model, train.schema, other, rng).explain(train.X[:1], rng)
        assert out.regions is not None
        found += bool(out.found[0] and out.regions.same(region)[0])
    return found


def attacked(insider: Insider, solver: str, asking: Dataset) -> tuple[Ints, int]:
    """What minimality leaves of each answer, and how many of the answers checked differ from brute force."""
    train = insider.train
    rng = np.random.default_rng(0)
    ready = KAnonymous(insider.explainer, K, solver).prepare(insider.model, train.schema, train, rng)  # type: ignore[arg-type]
    answer = ready.explain(asking.X, rng)
    oracle = Oracle(train.schema, insider.model.logits, lambda _: answer.public(), regions_for=ready.regions_for)
    many = Minimality().run(oracle, train, asking, rng).candidates
    now = predictions(insider.model, asking.X)[1]
    wrong = 0
    for i in np.flatnonzero(answer.found)[:CHECKED]:
        hoped = train.schema.favourable
        outcomes = np.setdiff1d(np.arange(len(train.schema.classes)), now[i]) if hoped is None else np.array([hoped])
        wrong += left(insider, solver, answer, int(i), outcomes) != many[i]
    return many[answer.found], wrong


def main() -> None:
    """Print a line for each combination, and the totals."""
    answers = few = wrong = 0
    for name in sys.argv[1:] or TABLES:
        data = registry.build("data", name).load()
        order = np.random.default_rng(1).permutation(len(data))
        n = min(TRAIN, 2 * len(data) // 3)
        train = data.rows(order[:n])
        asking = data.rows(order[n : n + ASK])
        for trainer in (FOREST, Logistic()):
            model = trainer.fit(train, np.ones((n, 1), dtype=bool), [np.random.default_rng(2)])[0]
            for explainer in explainers():
                insider = Insider(model, train, explainer, shown_by(explainer, model, train))
                try:
                    many, differ = attacked(insider, "mutual", asking)
                    apart = attacked(insider, "grasp", asking)[1]
                except JaliError as error:
                    print(name, registry.name_of(trainer), registry.spec(explainer), "refused:", str(error)[:60])
                    continue
                least = many.min() if len(many) else "-"
                words = (len(many), f"least {least}", f"{(many < K).sum()} below {K}", f"{differ} and {apart} differ")
                print(name, registry.name_of(trainer), registry.spec(explainer), *words, sep="  ", flush=True)
                answers += len(many)
                few += int((many < K).sum())
                wrong += differ + apart
    print(f"{answers} answers of mutual, {few} leave fewer than {K}; {wrong} counts differ from brute force")


if __name__ == "__main__":
    main()
