"""Two worlds that differ in one record, and statistics, learnt on some draws, that tell apart what they release."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.core import Bools, Dataset, Floats, Model, Rng, Trainer
from jali.data import _standard
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.encoding import Encoding
from jali.parallel import alone
from jali.stats.epsilon import best_threshold, epsilon_at
from jali.stats.roc import auc

Score = Callable[[Floats], Floats]
Learner = Callable[[Floats, Bools, Rng], Score]
LEVEL = 0.95
CAUTION = 0.999  # level at which thresholds are chosen: at less, the luckiest rare event would be


# --- worlds --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Worlds:
    """Two training sets that differ in one record, and the query (1, D) asked of both."""

    name: str
    data: Dataset
    neighbour: Dataset
    query: Floats

    def __str__(self) -> str:
        rows, columns = self.data.X.shape
        return f"{self.name} ({rows} rows of {columns} column{'s' if columns > 1 else ''})"


Rows = tuple[tuple[float, int, int], ...]
FAR = _standard.REACH  # beyond the length that defences cut rows to, so that a record here counts as much as one can
STEEP: Rows = ((-4.0, 0, 25), (4.0, 1, 25), (0.0, 0, 460))  # value, label, how many
FLAT: Rows = ((0.0, 0, 40), (0.0, 1, 6))
QUERIES = {"steep": (2.0, 1.0, 0.0, -2.0), "flat": (-7.0, -3.0, -1.0, 0.0), "moved": (0.0, 2.0, -2.0, 7.0, -7.0)}


def pairs(trainer: Trainer, seed: int) -> tuple[Worlds, ...]:
    """Pairs of worlds that are adverse in different ways, in which models of the trainer decide the query alike.

    wide: see `adverse`. The others have one column, where noise has little room, and one record at the end of it.
    steep: it changes its label, and many rows make a slope that recourse can follow, past a boundary that lies
    beyond the query; score and slope fall together. flat: it changes its label among few rows, of which none but it
    has a value, so that little resists. moved: its value goes from one end to the other.
    """
    ends = {"steep": (STEEP, (FAR, 0)), "flat": (FLAT, (FAR, 0)), "moved": (FLAT, (-FAR, 1))}
    made = [_narrow(name, rows, other, trainer) for name, (rows, other) in ends.items()]
    return (adverse(trainer, seed=seed), *(pair for pair in made if pair is not None))


def adverse(trainer: Trainer, data: Dataset | None = None, seed: int = 0) -> Worlds:
    """Data, the neighbour whose record of highest leverage has the other label, and the query this tells most about.

    Leverage is x'(Z'Z)^-1 x. The query is the row whose score the label moves most, among those that models trained
    on either data set decide alike: claims about explanations do not cover the decision. Without data: 500 rows of
    20 normal columns, within public bounds of four standard deviations.
    """
    given = data or _bounded(Sample(LinearGaussian(n=20_000, d=20), n=500, skip=500 * (1 + seed % 30)).load())
    Z = np.column_stack([Encoding(given.schema).encode(given.X), np.ones(len(given))])
    leverage = (Z * np.linalg.solve(Z.T @ Z + 1e-9 * len(Z) * np.eye(Z.shape[1]), Z.T).T).sum(axis=1)
    who, y = int(leverage.argmax()), given.y.copy()
    y[who] = (y[who] + 1) % len(given.schema.classes)
    other = dataclasses.replace(given, y=y)
    here, there = (fitted(trainer, d).logits(given.X) for d in (given, other))
    moved = np.abs(here - there).max(axis=1) * (here.argmax(axis=1) == there.argmax(axis=1))
    return Worlds("wide", given, other, given.X[[int(moved.argmax())]])


def alike(trainer: Trainer, pair: Worlds, most: int = 30) -> Floats:
    """The query of a pair, and after it rows (n, D) of its data that models of both worlds decide alike."""
    rows = np.vstack([pair.query, np.unique(pair.data.X, axis=0)])
    here, there = (fitted(trainer, d).logits(rows).argmax(axis=1) for d in (pair.data, pair.neighbour))
    return np.asarray(rows[here == there][:most])


def fitted(trainer: Trainer, data: Dataset) -> Model:
    """One model of all rows."""
    return trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])[0]


def _narrow(name: str, rows: Rows, other: tuple[float, int], trainer: Trainer) -> Worlds | None:
    """Rows of one column and a record (FAR, 1) or, in the other world, `other`; the first query decided alike."""
    value, label, count = zip(*rows, strict=True)
    X, y = np.repeat(value, count), np.repeat(label, count)
    worlds = [_standard.dataset(np.append(X, x)[:, None], np.append(y, c), 2) for x, c in ((FAR, 1), other)]
    queries = np.array(QUERIES[name])[:, None]
    here, there = (fitted(trainer, d).logits(queries).argmax(axis=1) for d in worlds)
    alike = np.flatnonzero(here == there)
    return Worlds(name, worlds[0], worlds[1], queries[alike[:1]]) if len(alike) else None


def _bounded(data: Dataset) -> Dataset:
    """The same rows, cut to four standard deviations, which the schema declares."""
    columns = tuple(dataclasses.replace(c, low=-4.0, high=4.0, centre=0.0, spread=1.0) for c in data.schema.columns)
    return Dataset(np.clip(data.X, -4, 4), data.y, dataclasses.replace(data.schema, columns=columns))


# --- telling them apart --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Telling:
    """One way to tell: which view of the answers, by which statistic, flagged from which threshold on.

    promise: the bound it showed on draws that its statistic was not learnt on, and then its AUC there.
    """

    view: str
    statistic: str
    score: Score
    threshold: float
    promise: tuple[float, float]

    def bound(self, answers: Floats, world: Bools, delta: float) -> float:
        """The lower bound on epsilon that draws not used so far show."""
        seen = VIEWS[self.view](answers)
        return epsilon_at(self.threshold, self.score(seen), world, delta, LEVEL)


def learn(answers: Floats, world: Bools, delta: float, rng: Rng) -> dict[str, Telling]:
    """The best way to tell for each view of answers (T, k); chosen on one half, its statistic learnt on the other."""
    first = rng.permutation(len(answers)) % 2 == 0
    return {view: _best(view, answers, world, first, delta, rng) for view in VIEWS}


def glance(answers: Floats, world: Bools, delta: float, rng: Rng) -> tuple[float, float]:
    """What the whole answer promises to tell."""
    first = rng.permutation(len(answers)) % 2 == 0
    return _best(WHOLE, answers, world, first, delta, rng).promise


def _best(view: str, answers: Floats, world: Bools, first: Bools, delta: float, rng: Rng) -> Telling:
    seen, made = VIEWS[view](answers), []
    for name, learner in LEARNERS.items():
        score = learner(seen[first], world[first], rng)
        value, truth = score(seen[~first]), world[~first]
        threshold = best_threshold(value, truth, delta, CAUTION)
        promise = epsilon_at(threshold, value, truth, delta, CAUTION), auc(value, truth)
        made.append(Telling(view, name, score, threshold, promise))
    return max(made, key=lambda t: t.promise)


# --- views of an answer --------------------------------------------------------------------------------------------


def _whole(answers: Floats) -> Floats:
    """The answers, and beside more than two numbers their direction and length."""
    return answers if answers.shape[1] < 3 else np.hstack([answers, _direction(answers), _length(answers)])


def _length(answers: Floats) -> Floats:
    return np.asarray(np.linalg.norm(answers, axis=1, keepdims=True))


def _direction(answers: Floats) -> Floats:
    """Unit vectors, opposite ones made equal: the sign says on which side of the boundary a record lies."""
    length = _length(answers)
    unit = np.divide(answers, length, out=np.zeros_like(answers), where=length > 0)
    largest = np.take_along_axis(unit, np.abs(unit).argmax(axis=1)[:, None], axis=1)
    return np.asarray(unit * np.where(largest < 0, -1.0, 1.0))


WHOLE = "the whole answer"
VIEWS: dict[str, Callable[[Floats], Floats]] = {WHOLE: _whole, "its direction": _direction, "its length": _length}


# --- statistics ----------------------------------------------------------------------------------------------------


def _linear(seen: Floats, world: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression

    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    spread = np.where(spread > 1e-12 * (np.abs(centre) + 1e-300), spread, 1.0)

    def scaled(x: Floats) -> Floats:
        return np.asarray(np.clip((x - centre) / spread, -1e3, 1e3))

    model = LogisticRegression(C=1.0, max_iter=500).fit(scaled(seen), world)
    return lambda x: np.asarray(model.decision_function(scaled(x)))


def _trees(seen: Floats, world: Bools, rng: Rng) -> Score:
    """Gradient boosting, for what no line separates."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=int(rng.integers(2**31)))
    alone(lambda m: m.fit(seen, world), model)  # again, because a limit does not reach a library loaded under it
    return lambda x: np.asarray(alone(model.decision_function, x))


def _atoms(seen: Floats, world: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Values that come back to the digit: log-ratio of how often each world gave them, zero for values never seen."""
    count: dict[bytes, list[float]] = {}
    for key, inside in zip(_keys(seen), world, strict=True):
        count.setdefault(key, [0.5, 0.5])[int(inside)] += 1

    def score(x: Floats) -> Floats:
        known = (count.get(key, [1.0, 1.0]) for key in _keys(x))
        return np.array([np.log(b / a) for a, b in known])

    return score


def _keys(seen: Floats) -> list[bytes]:
    """One key per row, to ten digits of its own size."""
    size = np.maximum(np.abs(seen).max(axis=1, keepdims=True), 1e-300)
    power = 10.0 ** np.floor(np.log10(size))
    return [row.tobytes() for row in np.round(seen / power, 10) * power + 0.0]


LEARNERS: dict[str, Learner] = {"a line": _linear, "boosted trees": _trees, "values that come back": _atoms}
