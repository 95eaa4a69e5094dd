"""Is a privacy claim true? Two worlds that differ in one record, many draws of each, and what tells them apart."""

from __future__ import annotations

import dataclasses
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from jali import parts
from jali.accounting import recomputed
from jali.core import Bools, Dataset, Floats, JaliError, Model, Rng, Trainer
from jali.data.linear_gaussian import LinearGaussian
from jali.encoding import Encoding
from jali.explanation import Explainer
from jali.guarantee import Adjacency, Guarantee
from jali.models.logistic import Logistic
from jali.parallel import alone
from jali.results import Verification
from jali.stats.epsilon import epsilon_ceiling
from jali.taint import carriers
from jali.tell import LEVEL, learn

Draw = Callable[[Dataset, Floats, int, Rng], Floats]
DRAWS, SEED = 2000, 0


@dataclass(frozen=True)
class Subject:
    """A mechanism under test: its claim, and how to draw many answers (count, k) to one query on one data set."""

    name: str
    guarantee: Guarantee
    draw: Draw
    trainer: Trainer


@dataclass(frozen=True)
class Worlds:
    """Two training sets that differ in one record, and the query asked of both."""

    data: Dataset
    neighbour: Dataset
    query: Floats


def verify(subject: Subject, worlds: Worlds | None = None, draws: int = DRAWS, seed: int = SEED) -> Verification:
    """Test a claim: a lower bound on epsilon from draws of both worlds, a taint check, and a second accountant."""
    began, pair = time.perf_counter(), worlds or adverse(subject.trainer, seed=seed)
    if draws < 100:
        raise JaliError(f"A claim is tested with at least 100 draws of each world, not {draws}.")
    given = subject.guarantee
    rng = np.random.default_rng([seed, 1])
    chosen, fresh = (_drawn(subject, pair, draws, rng) for _ in range(2))
    ways = alone(lambda r: learn(*chosen, given.delta, r), rng)
    bounds = {view: way.bound(*fresh, given.delta) for view, way in ways.items()}
    best = max(ways.values(), key=lambda way: way.promise)
    ceiling = epsilon_ceiling(draws, LEVEL)
    return Verification(
        name=subject.name,
        claim=str(given),
        epsilon=given.epsilon,
        draws=draws,
        bounds=bounds,
        by=f"{best.view}, by {best.statistic}",
        lower=bounds[best.view],
        ceiling=ceiling,
        verdict=_verdict(bounds[best.view], given.epsilon, ceiling),
        carriers=list(_carriers(subject, pair, seed)),
        recomputed=recomputed(given).pld,
        assumes=list(given.assumes),
        refuted=given.refuted,
        seconds=time.perf_counter() - began,
    )


def _verdict(lower: float, claimed: float, ceiling: float) -> Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]:
    if lower > claimed:
        return "REFUTED"
    return "NOT REFUTED" if ceiling > claimed else "NOT TESTABLE"


def _drawn(subject: Subject, pair: Worlds, draws: int, rng: Rng) -> tuple[Floats, Bools]:
    """Answers (2 draws, k) of both worlds, and which come from the first."""
    made = [np.asarray(subject.draw(d, pair.query, draws, rng), dtype=np.float64) for d in (pair.data, pair.neighbour)]
    if made[0].shape != made[1].shape or made[0].ndim != 2 or not np.isfinite(np.concatenate(made)).all():
        raise JaliError(f"{subject.name} must release finite numbers, as many on every data set.")
    return np.concatenate(made), np.arange(2 * draws) < draws


def _carriers(subject: Subject, pair: Worlds, seed: int) -> tuple[str, ...]:
    return carriers(
        lambda d: subject.draw(d, pair.query, 1, np.random.default_rng([seed, 2])), pair.data, pair.neighbour
    )


# --- two worlds ----------------------------------------------------------------------------------------------------


def adverse(trainer: Trainer, data: Dataset | None = None, seed: int = SEED) -> Worlds:
    """Data, the neighbour whose record of highest leverage has the other label, and the query this tells most about.

    Leverage is x'(Z'Z)^-1 x. The query is the row whose score the label moves most, among those that models trained
    on either data set decide alike: claims about explanations do not cover the decision. Without data: 500 rows of
    20 normal columns, within public bounds of four standard deviations.
    """
    given = data or _bounded(LinearGaussian(n=500, d=20, seed=seed).load())
    Z = np.column_stack([Encoding(given.schema).encode(given.X), np.ones(len(given))])
    leverage = (Z * np.linalg.solve(Z.T @ Z + 1e-9 * len(Z) * np.eye(Z.shape[1]), Z.T).T).sum(axis=1)
    who, y = int(leverage.argmax()), given.y.copy()
    y[who] = (y[who] + 1) % len(given.schema.classes)
    other = dataclasses.replace(given, y=y)
    here, there = (_fitted(trainer, d).logits(given.X) for d in (given, other))
    moved = np.abs(here - there).max(axis=1) * (here.argmax(axis=1) == there.argmax(axis=1))
    return Worlds(given, other, given.X[[int(moved.argmax())]])


def _fitted(trainer: Trainer, data: Dataset) -> Model:
    return trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(SEED)])[0]


def _bounded(data: Dataset) -> Dataset:
    """The same rows, cut to four standard deviations, which the schema declares."""
    columns = tuple(dataclasses.replace(c, low=-4.0, high=4.0, centre=0.0, spread=1.0) for c in data.schema.columns)
    return Dataset(np.clip(data.X, -4, 4), data.y, dataclasses.replace(data.schema, columns=columns))


# --- what can be tested --------------------------------------------------------------------------------------------


def subject(name: str, epsilon: float | None = None, adjacency: Adjacency = "replace-one") -> Subject:
    """A defence by name or specification, or a callable `release(data, query, rng)` as package.module:name."""
    head = name.partition("(")[0]
    if ":" in head:
        return _callable(name, epsilon, adjacency)
    if head not in defences():
        raise JaliError(f"There is no defence {head!r}; there are {', '.join(defences())}, or a callable module:name.")
    kind: parts.PartKind = "model" if head in parts.names("model") else "explain"
    cls = parts.find(kind, head)
    part = parts.build(kind, name) if "(" in name else cls.example(1.0 if epsilon is None else epsilon)
    if epsilon is not None and part.guarantee().epsilon != epsilon:
        raise JaliError(f"{name} says epsilon = {part.guarantee().epsilon:g} and --epsilon says {epsilon:g}.")
    return Subject(parts.spec(part), part.guarantee(), *_drawing(part))


def defences() -> tuple[str, ...]:
    """Built-in parts that promise something and can be tested by their name alone."""
    both = {n: parts.find(kind, n) for kind in ("model", "explain") for n in parts.names(kind)}
    return tuple(sorted(n for n, cls in both.items() if hasattr(cls, "guarantee") and hasattr(cls, "example")))


def _drawing(part: Any) -> tuple[Draw, Trainer]:
    """How to draw answers of a defence, and the trainer of the model it stands on."""
    if hasattr(part, "draws"):
        return lambda data, query, count, rng: _weights(part.draws(data, count, rng)), part.plain()  # noqa: ARG005
    trainer = part.deployed()
    return partial(_answers, part, trainer), trainer


def _weights(ensemble: Any) -> Floats:
    """Weights and intercepts (count, k) of released models."""
    return np.hstack([ensemble.coef.reshape(len(ensemble), -1), ensemble.intercept])


def _answers(part: Explainer, trainer: Trainer, data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
    """Moves (count, P) in model space that as many answers to one query ask for."""
    encode, X = Encoding(data.schema).encode, np.repeat(query, count, axis=0)
    out = part.explain(_fitted(trainer, data), X, data.schema, data, rng)
    return np.asarray(encode(out.rows) - encode(X))  # type: ignore[union-attr]


def _callable(name: str, epsilon: float | None, adjacency: Adjacency) -> Subject:
    """A user's own release; its claim is what the command line says."""
    if epsilon is None:
        raise JaliError(f"{name} makes no claim of its own: say which one to test, --epsilon 1 for example.")
    module, _, attribute = name.partition(":")
    try:
        release = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise JaliError(f"Cannot import {name!r}: {error}.") from None
    if not callable(release):
        raise JaliError(f"{name} must be callable as release(data, query, rng), and is {type(release).__name__}.")

    def draw(data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
        try:
            made = [np.asarray(release(data, query[0].copy(), rng), dtype=np.float64).ravel() for _ in range(count)]
        except (TypeError, ValueError) as error:
            raise JaliError(f"{name} must take (data, query, rng) and release numbers; it said: {error}.") from error
        if len({len(m) for m in made}) != 1:
            raise JaliError(f"{name} must release as many numbers every time.")
        return np.stack(made)

    given = Guarantee(f"as claimed for {name}", epsilon, adjacency, ("explanations",), per="release")
    return Subject(name, given, draw, Logistic())
