"""Is a privacy claim true? Neighbouring data sets, many draws of each, and what tells them apart."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.guarantee import Adjacency, Guarantee, doubled
from jali.core.protocols import Trainer
from jali.core.values import Bools, Dataset, Floats, Rng
from jali.models.logistic import Logistic
from jali.parallel import alone
from jali.privacy.accounting import Recomputed, recomputed
from jali.privacy.mechanisms import CallsDifferError, Tape, recording
from jali.results import Verification
from jali.stats.epsilon import epsilon_ceiling
from jali.verify.answers import NUMBERS, Answers, Probe, coding, joined, nothing, vectors
from jali.verify.dependence import CALLS, ROWS, UNDECLARED, carriers, event
from jali.verify.distinguishers import LEVEL, Telling, glance, learn
from jali.verify.neighbours import Worlds, alike, fitted, pairs, tables
from jali.verify.own_release import answers_of, imported, stated

Draw = Callable[[Dataset, Floats, int, Rng], "Floats | Answers"]
Verdict = Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]
DRAWS, SEED = 2000, 0
GLANCE = 16  # every pair of worlds in which the answer changes is tried on this part of the draws
FINAL = 2  # and the best of them on this part
PROBE = 25  # draws of each data set, with the noise held fixed, that show whether the answer changes with the record
FINALISTS = 4  # how many are the best


@dataclass(frozen=True)
class Subject:
    """A mechanism under test: its claim, and how to draw many answers (count, k) to one query on one data set.

    trainer: makes models like those it explains, to find queries that both worlds decide alike. answer: what is made
    of a draw and shown, where that is not the draw itself; only the taint check looks at it. own: a user's release,
    which is asked in tables with categories as well, and whose zeros are answers.
    """

    name: str
    guarantee: Guarantee
    draw: Draw
    trainer: Trainer
    answer: Draw | None = None
    own: bool = False


def verify(subject: Subject, worlds: Worlds | None = None, draws: int = DRAWS, seed: int = SEED) -> Verification:
    """Test a claim: a lower bound on epsilon from draws of both worlds, a taint check, and a second accountant.

    Without worlds, a few draws choose one of `pairs`. As many draws as are evaluated then choose what to look at, and
    how: the draws that are evaluated decided nothing, so the bound holds at its level, however many pairs were tried.
    """
    began, (epsilon, delta) = time.perf_counter(), between(subject.guarantee)
    if draws < 100:
        raise JaliError(f"A claim is tested with at least 100 draws of each world, not {draws}.")
    if seed < 0:
        raise JaliError(f"The seed must not be below 0, not {seed}.")
    rng = np.random.default_rng([seed, 1])
    found = _asked(subject, (worlds,) if worlds else _tried(subject, seed), draws, delta, seed, rng)
    pair, given = found.pairs[0], subject.guarantee
    answers, first = _drawn(subject, pair, draws, rng)
    code = coding(answers, first)
    ways = alone(lambda r: learn(code.table(answers), first, delta, r), rng)
    fresh, first = _drawn(subject, pair, draws, rng)
    bounds = {view: way.bound(code.table(fresh), first, delta) for view, way in ways.items()}
    best = max(ways.values(), key=lambda way: way.promise)
    ceiling = epsilon_ceiling(draws, LEVEL, delta)
    again = _recomputed(subject, pair, seed)
    return Verification(
        name=subject.name,
        claim=_claim(given),
        epsilon=epsilon,
        draws=draws,
        bounds=bounds,
        by=_by(best, pair, fresh, subject.own),
        lower=bounds[best.view],
        ceiling=ceiling,
        verdict=_verdict(bounds[best.view], epsilon, ceiling, found.reacted),
        carriers=_every_carrier(subject, found, seed),
        recomputed=None if again is None else again.pld,
        assumes=[*given.conditions, *found.failed],
        refuted=" ".join(filter(None, [_shout(again), given.refuted])),
        pairs=found.usable,
        reacted=found.reacted,
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


def _tried(subject: Subject, seed: int) -> tuple[Worlds, ...]:
    """The pairs of neighbouring data sets that a subject is asked in."""
    if not subject.own:
        return pairs(subject.trainer, seed)
    return (*pairs(subject.trainer, seed, covers_decision=True), *tables(None, seed))


def _verdict(lower: float, allowed: float, ceiling: float, reacted: int | None) -> Verdict:
    """What draws say about a claim; nothing, where no answer changed with the record or none was seen to."""
    if reacted == 0 or (reacted is None and lower == 0):
        return "NOT TESTABLE"
    if lower > allowed:
        return "REFUTED"
    return "NOT REFUTED" if ceiling > allowed else "NOT TESTABLE"


def _by(best: Telling, pair: Worlds, answers: Answers, own: bool) -> str:
    """How the data sets are told apart; a defence that recommends no move has not answered."""
    given = answers.finite() if own else answers.finite() & answers.numbers.any(axis=1)
    answered = np.count_nonzero(given) / len(answers)
    return f"{best.view}, by {best.statistic}, in the worlds {pair}, where {answered:.0%} of the draws were answers"


# --- drawing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """Different pairs, the most promising first; of how many usable ones the subject reacted in; failures, and why."""

    pairs: list[Worlds]
    usable: int
    reacted: int | None
    failed: list[str]


@dataclass(frozen=True)
class Hopeful:
    """A pair in which a share of the answers, drawn with the same noise, changed with the record."""

    pair: Worlds
    changed: float


def _asked(subject: Subject, worlds: Sequence[Worlds], draws: int, delta: float, seed: int, rng: Rng) -> Asked:
    """Try the subject in every pair with a few draws, and order those in which it reacts by what more draws promise."""
    probes = {at: _probe(subject, pair, PROBE, seed) for at, pair in enumerate(worlds)}
    if all(probe.silent for probe in probes.values()):
        raise JaliError(_failure(subject, probes[0]))
    failed = {at: _failure(subject, probe) for at, probe in probes.items() if probe.failed}
    usable = {at: probe for at, probe in probes.items() if at not in failed}
    if all(probe.changed < 0.5 for probe in usable.values()):  # an answer that changes seldom needs more to be seen
        usable = {at: _probe(subject, worlds[at], 8 * PROBE, seed) for at in usable}
    distinct = {probe.key: at for at, probe in reversed(usable.items())}
    order = sorted(distinct.values())
    hopeful = [Hopeful(worlds[at], usable[at].changed) for at in order if usable[at].changed]
    best = [each.pair for each in _best(subject, hopeful, draws, delta, rng)]
    rest = [worlds[at] for at in order if all(worlds[at] is not pair for pair in best)]
    repeats = all(probe.repeats for probe in usable.values())
    reacted = sum(probe.changed > 0 for probe in usable.values()) if repeats else None
    return Asked([*best, *rest], len(usable), reacted, _left_out(worlds, failed))


def _left_out(worlds: Sequence[Worlds], failed: dict[int, str]) -> list[str]:
    """One line for each way to fail, with the pairs in which it was met."""
    where: dict[str, list[str]] = {}
    for at, error in failed.items():
        where.setdefault(error, []).append(str(worlds[at]))
    return [f"the claim in the worlds {', '.join(names)}, where it failed: {error}" for error, names in where.items()]


def _best(subject: Subject, hopeful: list[Hopeful], draws: int, delta: float, rng: Rng) -> list[Hopeful]:
    """The most promising pairs, best first; where there are many, few draws drop some before more are spent.

    In many columns few draws teach a statistic little, so that the widest table is never dropped.
    """
    if len(hopeful) < 2:
        return hopeful
    kept = hopeful
    if len(kept) > FINALISTS:
        widest = max(hopeful, key=lambda each: each.pair.data.X.shape[1])
        kept = _ordered(subject, kept, max(50, draws // GLANCE), delta, rng)[:FINALISTS]
        kept += [] if any(each is widest for each in kept) else [widest]
    return _ordered(subject, kept, max(50, draws // FINAL), delta, rng)


def _ordered(subject: Subject, hopeful: list[Hopeful], draws: int, delta: float, rng: Rng) -> list[Hopeful]:
    """Pairs by what so many draws promise to tell; none after one that tells all.

    First by the bound. An AUC that chance may explain says less than how often answers changed with the record.
    """
    chance = 4 / math.sqrt(3 * draws)  # standard deviations of an AUC of half of the draws, without a difference
    promise: list[tuple[float, float, float, float]] = []
    for each in hopeful:
        answers, first = _drawn(subject, each.pair, draws, rng)
        bound, auc = alone(partial(glance, coding(answers, first).table(answers), first, delta), rng)
        promise.append((bound, auc if auc > 0.5 + chance else 0.5, each.changed, auc))
        if auc == 1.0:
            break
    return [hopeful[at] for at in sorted(range(len(promise)), key=lambda at: promise[at], reverse=True)]


def _probe(subject: Subject, pair: Worlds, draws: int, seed: int) -> Probe:
    """Answers of both data sets, and of the first once more, from one stream of noise; a defence is known to use it."""

    def answers(data: Dataset) -> Answers:
        return alone(lambda rng: _side(subject, data, pair.query, draws, rng), np.random.default_rng([seed, 4]))

    before = answers(pair.data)
    return Probe(before, answers(pair.neighbour), answers(pair.data) if subject.own else before)


def _drawn(subject: Subject, pair: Worlds, draws: int, rng: Rng) -> tuple[Answers, Bools]:
    """Answers (2 draws) of both worlds, and which come from the first."""
    before, after = (_side(subject, d, pair.query, draws, rng) for d in (pair.data, pair.neighbour))
    return joined(before, after), np.arange(2 * draws) < draws


def _side(subject: Subject, data: Dataset, query: Floats, draws: int, rng: Rng) -> Answers:
    """Answers to one query on one data set; where nothing can be drawn, that is the answer."""
    try:
        made = subject.draw(data, query, draws, rng)
    except JaliError as error:
        return nothing(draws, str(error))
    if not isinstance(made, Answers) and np.ndim(made) != 2:
        raise JaliError(f"{subject.name} must draw numbers (draws, k), not of shape {np.shape(made)}.")
    return made if isinstance(made, Answers) else vectors(made)


def _failure(subject: Subject, probe: Probe) -> str:
    """Why a pair tells nothing, in a sentence."""
    kind = probe.before.kind[0]
    if kind.startswith(NUMBERS):
        if not probe.before.length.any():
            return f"{subject.name} released no numbers: return at least one."
        return f"{subject.name} must release finite numbers, and every one was NaN or infinite."
    return f"{subject.name} must take (data, query, rng) and release numbers; {kind}." if subject.own else kind


# --- what the mechanism declares -----------------------------------------------------------------------------------


def _every_carrier(subject: Subject, found: Asked, seed: int) -> list[str]:
    """What passes the declared mechanisms in any pair; that nothing was declared is said where nothing else is.

    An answer that changes seldom shows no carrier in one draw. If it changed in others and nothing was declared, then
    nothing was checked.
    """
    names = list(dict.fromkeys(name for pair in found.pairs for name in _carriers(subject, pair, seed)))
    leaks = [name for name in names if name != UNDECLARED]
    declared = bool(_tape(subject, found.pairs[0], seed).releases)
    silent = not names and not declared and found.reacted != 0
    return leaks or ([UNDECLARED] if names or silent else [])


def _carriers(subject: Subject, pair: Worlds, seed: int) -> list[str]:
    """What passes the declared mechanisms, on the way to a draw and from it to answers to several queries."""
    found: list[str] = []
    for draw in filter(None, (subject.draw, subject.answer)):
        queries = alike(None if subject.own else subject.trainer, pair)
        release = partial(_once, draw, queries, seed)
        try:
            names = carriers(release, pair.data, pair.neighbour)
        except CallsDifferError:
            names = (CALLS,)
        if names == (ROWS,) and not _tape(subject, pair, seed).releases and _noisy(draw, pair, seed):
            names = (UNDECLARED,)
        found += names
    return found


def _once(draw: Draw, queries: Floats, seed: int, data: Dataset) -> Floats:
    """One draw, with the same noise every time."""
    return _comparable(draw(data, queries, 1, np.random.default_rng([seed, 2])))


def _noisy(draw: Draw, pair: Worlds, seed: int) -> bool:
    some = _comparable(draw(pair.data, pair.query, 20, np.random.default_rng([seed, 3])))
    return not np.array_equal(some, np.broadcast_to(some[0], some.shape), equal_nan=True)


def _comparable(made: Floats | Answers) -> Floats:
    return made.comparable() if isinstance(made, Answers) else made


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
        release = imported(name)
        return Subject(
            name, stated(name, epsilon, adjacency, delta), partial(answers_of, release), Logistic(), own=True
        )
    if head not in defences():
        raise JaliError(f"There is no defence {head!r}; there are {', '.join(defences())}, or a callable module:name.")
    kind: registry.PartKind = "model" if head in registry.names("model") else "explain"
    cls = registry.find(kind, head)
    part = registry.build(kind, name) if "(" in name else cls.example(1.0 if epsilon is None else epsilon)
    given = part.guarantee()
    for option, said in (("epsilon", epsilon), ("adjacency", adjacency), ("delta", delta)):
        own = getattr(given, option)
        if said is not None and said != own:
            raise JaliError(f"{name} claims {option} = {own}, and --{option} says {said}: leave it out.")
    return Subject(registry.spec(part), given, *_drawing(part))


def defences() -> tuple[str, ...]:
    """Built-in parts that promise something and can be tested by their name alone."""
    both = {n: registry.find(kind, n) for kind in ("model", "explain") for n in registry.names(kind)}
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
    # prepared anew in every call: what is prepared belongs to one recording, or one replaying, of mechanisms
    ready = _local(part, data).prepare(fitted(trainer, data), data.schema, data, rng)
    out = ready.explain(X, rng)
    return np.asarray(encode(out.rows) - encode(X))  # type: ignore[union-attr]


def _local(part: Any, data: Dataset) -> Explainer:
    """The part with public data, where it needs any, of the columns of a world; no claim rests on which they are."""
    if not hasattr(part, "public"):
        return part  # type: ignore[no-any-return]
    public = type(part).example(part.epsilon, len(data.schema.columns)).public
    return dataclasses.replace(part, public=public)  # type: ignore[no-any-return]
