"""Is a privacy claim true? Two worlds that differ in one record, many draws of each, and what tells them apart."""

from __future__ import annotations

import dataclasses
import importlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from jali import parts
from jali.accounting import Recomputed, recomputed
from jali.core import Bools, Dataset, Floats, JaliError, Rng, Trainer
from jali.encoding import Encoding
from jali.explanation import Explainer
from jali.guarantee import Adjacency, Guarantee, doubled
from jali.mechanisms import Tape, recording
from jali.models.logistic import Logistic
from jali.parallel import alone
from jali.results import Verification
from jali.stats.epsilon import epsilon_ceiling
from jali.taint import ROWS, UNDECLARED, carriers, event
from jali.tell import LEVEL, Telling, Worlds, alike, fitted, glance, learn, pairs

Draw = Callable[[Dataset, Floats, int, Rng], Floats]
Release = Callable[[Dataset, Floats, Rng], Any]
DRAWS, SEED = 2000, 0
GLANCE = 4  # a pair of worlds is chosen on this part of the draws


@dataclass(frozen=True)
class Subject:
    """A mechanism under test: its claim, and how to draw many answers (count, k) to one query on one data set.

    trainer: makes models like those it explains, to find queries that both worlds decide alike. answer: what is made
    of a draw and shown, where that is not the draw itself; only the taint check looks at it.
    """

    name: str
    guarantee: Guarantee
    draw: Draw
    trainer: Trainer
    answer: Draw | None = None


def verify(subject: Subject, worlds: Worlds | None = None, draws: int = DRAWS, seed: int = SEED) -> Verification:
    """Test a claim: a lower bound on epsilon from draws of both worlds, a taint check, and a second accountant.

    Without worlds, a few draws choose one of `pairs`. As many draws as are evaluated then choose what to look at, and
    how: the draws that are evaluated decided nothing, so the bound holds at its level.
    """
    began, (epsilon, delta) = time.perf_counter(), between(subject.guarantee)
    if draws < 100:
        raise JaliError(f"A claim is tested with at least 100 draws of each world, not {draws}.")
    if seed < 0:
        raise JaliError(f"The seed must not be below 0, not {seed}.")
    rng = np.random.default_rng([seed, 1])
    found, failed = _asked(subject, (worlds,) if worlds else pairs(subject.trainer, seed), draws, delta, rng)
    pair, given = found[0], subject.guarantee
    ways = alone(lambda r: learn(*_drawn(subject, pair, draws, r), delta, r), rng)
    fresh = _drawn(subject, pair, draws, rng)
    bounds = {view: way.bound(*fresh, delta) for view, way in ways.items()}
    best = max(ways.values(), key=lambda way: way.promise)
    ceiling = epsilon_ceiling(draws, LEVEL, delta)
    again = _recomputed(subject, pair, seed)
    return Verification(
        name=subject.name,
        claim=_claim(given),
        epsilon=epsilon,
        draws=draws,
        bounds=bounds,
        by=_by(best, pair, fresh[0]),
        lower=bounds[best.view],
        ceiling=ceiling,
        verdict=_verdict(bounds[best.view], epsilon, ceiling),
        carriers=list(dict.fromkeys(c for p in found for c in _carriers(subject, p, seed))),
        recomputed=None if again is None else again.pld,
        assumes=[*given.conditions, *failed],
        refuted=" ".join(filter(None, [_shout(again), given.refuted])),
        seconds=time.perf_counter() - began,
    )


def between(given: Guarantee) -> tuple[float, float]:
    """Epsilon and delta that a claim allows between two worlds in which one record is replaced.

    Under add-remove adjacency that is one record removed and one added: 2 epsilon and (1 + e^epsilon) delta.

    >>> between(Guarantee("x", 1.0, "add-remove", ("decisions",), delta=0.0))
    (2.0, 0.0)
    """
    grown = 1 + math.exp(min(given.epsilon, 700.0)) if given.adjacency == "add-remove" else 1.0
    return doubled(given), min(1.0, grown * given.delta)


def _claim(given: Guarantee) -> str:
    if given.adjacency == "replace-one":
        return str(given)
    epsilon, delta = between(given)
    also = f" and delta = {delta:.3g}" if delta else ""
    return f"{given}; a replaced record counts as one removed and one added: 2 epsilon = {epsilon:g}{also}"


def _verdict(lower: float, allowed: float, ceiling: float) -> Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]:
    if lower > allowed:
        return "REFUTED"
    return "NOT REFUTED" if ceiling > allowed else "NOT TESTABLE"


def _by(best: Telling, pair: Worlds, answers: Floats) -> str:
    answered = np.count_nonzero(answers.any(axis=1)) / len(answers)
    return f"{best.view}, by {best.statistic}, in the worlds {pair}, where {answered:.0%} of the draws were answers"


# --- drawing -------------------------------------------------------------------------------------------------------


def _asked(
    subject: Subject, worlds: Sequence[Worlds], draws: int, delta: float, rng: Rng
) -> tuple[list[Worlds], list[str]]:
    """The pairs of worlds that the subject can be asked in, most promising first, and where it cannot and why."""
    if len(worlds) == 1:
        return list(worlds), []
    promise, failed = {}, {}
    for at, pair in enumerate(worlds):
        try:
            some = _drawn(subject, pair, max(50, draws // GLANCE), rng)
        except JaliError as error:
            failed[at] = error
        else:
            promise[at] = alone(partial(glance, *some, delta), rng)
    if not promise:
        raise failed[0]
    order = sorted(promise, key=lambda at: promise[at], reverse=True)
    left_out = [f"the claim in the worlds {worlds[at]}, where it failed: {error}" for at, error in failed.items()]
    return [worlds[at] for at in order], left_out


def _drawn(subject: Subject, pair: Worlds, draws: int, rng: Rng) -> tuple[Floats, Bools]:
    """Answers (2 draws, k) of both worlds, and which come from the first."""
    made = [np.asarray(subject.draw(d, pair.query, draws, rng), dtype=np.float64) for d in (pair.data, pair.neighbour)]
    if made[0].shape != made[1].shape or made[0].ndim != 2 or not np.isfinite(np.concatenate(made)).all():
        raise JaliError(f"{subject.name} must release finite numbers, as many on every data set.")
    if not made[0].shape[1]:
        raise JaliError(f"{subject.name} released no numbers: return at least one.")
    return np.concatenate(made), np.arange(2 * draws) < draws


# --- what the mechanism declares -----------------------------------------------------------------------------------


def _carriers(subject: Subject, pair: Worlds, seed: int) -> list[str]:
    """What passes the declared mechanisms, on the way to a draw and from it to answers to several queries."""
    found: list[str] = []
    for draw in filter(None, (subject.draw, subject.answer)):
        release = partial(_once, draw, alike(subject.trainer, pair), seed)
        names = carriers(release, pair.data, pair.neighbour)
        if names == (ROWS,) and not _tape(subject, pair, seed).releases and _noisy(draw, pair, seed):
            names = (UNDECLARED,)
        found += names
    return found


def _once(draw: Draw, queries: Floats, seed: int, data: Dataset) -> Floats:
    """One draw, with the same noise every time."""
    return draw(data, queries, 1, np.random.default_rng([seed, 2]))


def _noisy(draw: Draw, pair: Worlds, seed: int) -> bool:
    some = draw(pair.data, pair.query, 20, np.random.default_rng([seed, 3]))
    return bool((some != some[0]).any())


def _tape(subject: Subject, pair: Worlds, seed: int) -> Tape:
    with recording() as tape:
        _once(subject.draw, pair.query, seed, pair.data)
    return tape


def _recomputed(subject: Subject, pair: Worlds, seed: int) -> Recomputed | None:
    """The claim beside what two accountants make of the noise declared while drawing, if enough was declared."""
    noise = event(subject.guarantee, _tape(subject, pair, seed))
    return None if noise is None else recomputed(subject.guarantee, noise)


def _shout(again: Recomputed | None) -> str:
    if again is None or again.holds:
        return ""
    return (
        f"THE DECLARED NOISE IS TOO SMALL FOR THE CLAIM: it costs epsilon = {min(again.pld, again.rdp):.4g}, "
        f"not {again.claimed:g}."
    )


# --- what can be tested --------------------------------------------------------------------------------------------


def subject(
    name: str, epsilon: float | None = None, adjacency: Adjacency | None = None, delta: float | None = None
) -> Subject:
    """A defence by name or specification, or a callable `release(data, query, rng)` as package.module:name."""
    head = name.partition("(")[0]
    if ":" in head:
        release = _imported(name)
        return Subject(name, _stated(name, epsilon, adjacency, delta), partial(_released, name, release), Logistic())
    if head not in defences():
        raise JaliError(f"There is no defence {head!r}; there are {', '.join(defences())}, or a callable module:name.")
    kind: parts.PartKind = "model" if head in parts.names("model") else "explain"
    cls = parts.find(kind, head)
    part = parts.build(kind, name) if "(" in name else cls.example(1.0 if epsilon is None else epsilon)
    given = part.guarantee()
    for option, said in (("epsilon", epsilon), ("adjacency", adjacency), ("delta", delta)):
        own = getattr(given, option)
        if said is not None and said != own:
            raise JaliError(f"{name} claims {option} = {own}, and --{option} says {said}: leave it out.")
    return Subject(parts.spec(part), given, *_drawing(part))


def defences() -> tuple[str, ...]:
    """Built-in parts that promise something and can be tested by their name alone."""
    both = {n: parts.find(kind, n) for kind in ("model", "explain") for n in parts.names(kind)}
    return tuple(sorted(n for n, cls in both.items() if hasattr(cls, "guarantee") and hasattr(cls, "example")))


def _drawing(part: Any) -> tuple[Draw, Trainer, Draw | None]:
    """How to draw from a defence, the trainer of the model it stands on, and answers where draws are none."""
    if not hasattr(part, "draws"):
        trainer = part.deployed()
        return partial(_answers, part, trainer), trainer, None
    plain = part.plain()
    answer = partial(_answers, part, plain) if hasattr(part, "explain") else None
    return lambda data, query, count, rng: _weights(part.draws(data, count, rng)), plain, answer  # noqa: ARG005


def _weights(ensemble: Any) -> Floats:
    """Weights and intercepts (count, k) of released models; those of one class where the other has the opposite."""
    every = np.concatenate([ensemble.coef, ensemble.intercept[:, None]], axis=1)
    kept = every[:, :, 1:] if every.shape[2] == 2 and (every[:, :, 0] == -every[:, :, 1]).all() else every
    return np.asarray(kept.reshape(len(every), -1))


def _answers(part: Explainer, trainer: Trainer, data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
    """Moves (count, P) in model space that as many answers to one query ask for."""
    encode, X = Encoding(data.schema).encode, np.repeat(query, count, axis=0)
    out = _local(part, data).explain(fitted(trainer, data), X, data.schema, data, rng)
    return np.asarray(encode(out.rows) - encode(X))  # type: ignore[union-attr]


def _local(part: Any, data: Dataset) -> Explainer:
    """The part with public data, where it needs any, of the columns of a world; no claim rests on which they are."""
    if not hasattr(part, "public"):
        return part  # type: ignore[no-any-return]
    public = type(part).example(part.epsilon, len(data.schema.columns)).public
    return dataclasses.replace(part, public=public)  # type: ignore[no-any-return]


def _stated(name: str, epsilon: float | None, adjacency: Adjacency | None, delta: float | None) -> Guarantee:
    """The claim about a user's own release is what the command line says."""
    if epsilon is None:
        raise JaliError(f"{name} makes no claim of its own: say which one to test, --epsilon 1 for example.")
    relation: Adjacency = "replace-one" if adjacency is None else adjacency
    given = Guarantee(f"as claimed for {name}", epsilon, relation, ("explanations",), per="release")
    return given if delta is None else dataclasses.replace(given, delta=delta)


def _released(name: str, release: Release, data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
    """Numbers (count, k) that as many calls of a user's own release return."""
    try:
        made = [np.asarray(release(data, query[0].copy(), rng), dtype=np.float64).ravel() for _ in range(count)]
    except Exception as error:  # whatever a user's code may raise
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise JaliError(f"{name} must take (data, query, rng) and release numbers; it raised {said}.") from error
    if len({len(m) for m in made}) != 1:
        raise JaliError(f"{name} must release as many numbers every time.")
    return np.stack(made)


def _imported(name: str) -> Release:
    """A user's own release, by module and name."""
    module, _, attribute = name.partition(":")
    if not module or not attribute.isidentifier():
        raise JaliError(f"A release of your own is written package.module:name, not {name!r}.")
    try:
        release = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a user's module may raise
        raise JaliError(f"Cannot import {name!r}: {type(error).__name__}: {error}.") from error
    if not callable(release):
        raise JaliError(f"{name} must be callable as release(data, query, rng), and is {type(release).__name__}.")
    return release  # type: ignore[no-any-return]
