"""Experiments: the only place where stages meet."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.audit import query_rows as asked
from jali.audit import sanity
from jali.audit.attack_runs import FACT, FAILED, Inquest
from jali.audit.guarantees import Promises, broken, promises, told, voided
from jali.audit.guarantees import stamped as covered
from jali.audit.plan import Plan, plan, with_gaps
from jali.audit.quality import Quality
from jali.audit.scoring import Trial, contrast_rows, curve, group_rows, guess, paired, paired_rows, rows_of, unresolved
from jali.audit.summary import exposed, groups, left_out, measures, sensitive, several_rows, sizes, twins
from jali.audit.worker import GAME, JUDGE, Block, Channel, Roles, digest, run_block, stream
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.protocols import Attack, Design, Signal, Source, Trainer
from jali.core.values import Dataset, Evidence, Floats, Game, Guesses
from jali.parallel import Progress, Watch, alone, fan_out, silent
from jali.results import Check, Curve, Results, Row
from jali.store import Arrays, Store

ALPHA = 0.01
NOTHING = "One side of the difference could not be judged: too little was observed."


def unwatched(label: str) -> Progress:  # noqa: ARG001
    """No progress bars."""
    return silent


@dataclass(frozen=True)
class Experiment:
    """A point of the grid: one part of each kind, and a seed."""

    data: Source
    model: Trainer
    game: Design
    explain: tuple[Explainer, ...] = ()
    attack: tuple[Attack, ...] = ()
    signal: tuple[Signal, ...] = ()
    inquest: tuple[Inquest, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class Machine:
    """Where and how an experiment runs; nothing here changes a number."""

    workers: int = 1
    block: int = 4
    store: Store | None = None
    watch: Watch = unwatched


@dataclass(frozen=True)
class Gathered:
    """What all columns of a game left: evidence, quality of recourse, the largest sign of unequal preprocessing.

    claims: guesses of each inquest, by its name; facts: what else it tells, one number per target (T,); failed: why
    another could not be made of every target.
    """

    evidence: Evidence
    quality: Quality
    parity: float
    claims: dict[str, Guesses]
    facts: dict[str, dict[str, Floats]]
    failed: dict[str, str]


@dataclass(frozen=True)
class Collected:
    """An experiment before anything is judged: data, game, what was gathered, and the seconds each stage took."""

    data: Dataset
    game: Game
    evidence: Evidence
    quality: Quality
    parity: float
    claims: dict[str, Guesses]
    facts: dict[str, dict[str, Floats]]
    failed: dict[str, str]
    timings: dict[str, float]


@dataclass(frozen=True)
class Outcome:
    """What an experiment leaves: the results, and the evidence they rest on."""

    results: Results
    evidence: Evidence
    game: Game
    data: Dataset | None = field(default=None, repr=False)


def grid(experiment: Experiment, **axes: Sequence[Any]) -> Iterator[Experiment]:
    """Every combination of the given parts, the rest as in the experiment.

    >>> from jali.core.registry import build
    >>> e = Experiment(build("data", "lending"), build("model", "logistic"), build("game", "rotate"))
    >>> [x.seed for x in grid(e, seed=[1, 2])]
    [1, 2]
    """
    unknown = set(axes) - {f.name for f in fields(Experiment)}
    if unknown:
        raise JaliError(f"An experiment has no {sorted(unknown)[0]!r}; it has {[f.name for f in fields(Experiment)]}.")
    for combination in itertools.product(*axes.values()):
        yield replace(experiment, **dict(zip(axes, combination, strict=True)))


def run(experiment: Experiment, machine: Machine = Machine()) -> Outcome:  # noqa: B008 (frozen)
    """Draw the game, make the evidence, judge it."""
    found, began = collect(experiment, machine), time.perf_counter()
    data, game = found.data, found.game
    outcome = conclude(found.evidence, game, experiment.attack, experiment.seed, machine, data)
    return Outcome(_documented(experiment, found, outcome.results, began), found.evidence, game, data)


def ask(experiment: Experiment, machine: Machine = Machine()) -> Outcome:  # noqa: B008 (frozen)
    """Draw the game and hold the inquests; signals are not attacked, so the game needs no shadow models."""
    found, began = collect(experiment, machine), time.perf_counter()
    return Outcome(_documented(experiment, found, Results(), began), found.evidence, found.game, found.data)


def _documented(experiment: Experiment, found: Collected, results: Results, began: float) -> Results:
    """The results with all that is known beside the attacks on signals."""
    data, game = found.data, found.game
    given = promises(experiment.model, experiment.explain, data)
    blind = alone(lambda rng: sanity.blind(data, game, rng), stream(experiment.seed, JUDGE, 1))
    rows = covered(results.rows, given) + _measured(experiment, found)
    return results.model_copy(
        update={
            "sanity": [
                blind,
                *sanity.rows_per_person(data, game),
                *results.sanity,
                sanity.parity(found.parity),
            ],
            "timings": found.timings | {"attacks and statistics": time.perf_counter() - began},
            "warnings": [*_warnings(experiment, given, data, game), *results.warnings],
            "rows": stamped(rows, _key(experiment, data)),
            "broken": broken(results.rows, given),
            "promises": told(given),
            "facts": sizes(game, data),
        }
    )


def _measured(experiment: Experiment, found: Collected) -> list[Row]:
    """What is measured of models and explanations, and what each inquest achieved."""
    every = measures(found.evidence, found.game, found.quality, sensitive(found.data))
    out = [row for row in every if asked.foreign(row, experiment.inquest)]
    for inquest in experiment.inquest:
        if inquest.name in found.failed:
            out += asked.failed(inquest, found.failed[inquest.name])
        else:
            claims, facts = found.claims[inquest.name], found.facts[inquest.name]
            out += asked.rows(inquest, claims, facts, every, lambda: stream(experiment.seed, JUDGE, 2))
    return out


def collect(experiment: Experiment, machine: Machine = Machine()) -> Collected:  # noqa: B008 (frozen)
    """Load the data, draw the game and make the evidence; nothing is judged yet."""
    began = time.perf_counter()
    data = experiment.data.load()
    if len(np.unique(data.y)) < 2:
        raise JaliError(f"The data hold one class only ({data.schema.classes[int(data.y[0])]!r}); two are needed.")
    game = experiment.game.draw(data, stream(experiment.seed, GAME))
    loaded = time.perf_counter()
    made = gather(experiment, data, game, machine)
    timings = {"data and game": loaded - began, "models and explanations": time.perf_counter() - loaded}
    told = (made.claims, made.facts, made.failed)
    return Collected(data, game, made.evidence, made.quality, made.parity, *told, timings)


def stamped(rows: list[Row], key: str) -> list[Row]:
    """The rows with the key of the experiment they come from."""
    return [row.model_copy(update={"key": key[:16]}) for row in rows]


def _key(experiment: Experiment, data: Dataset) -> str:
    chosen = (getattr(experiment, f.name) for f in fields(experiment) if f.name not in ("data", "seed"))
    flat = (part for item in chosen for part in (item if isinstance(item, tuple) else (item,)))
    return registry.key("experiment", digest(data.X, data.y), experiment.seed, *flat)


def _warnings(experiment: Experiment, given: Promises, data: Dataset, game: Game) -> list[str]:
    return [*cautions(experiment), *voided(given), *twins(data, game), *several_rows(data), *left_out(game)]


def cautions(experiment: Experiment) -> list[str]:
    """What parts that exist only for comparison, or lack something in use, say about themselves."""
    chosen = (experiment.data, experiment.model, experiment.game, *experiment.explain, *experiment.attack)
    return [said for part in chosen if (said := getattr(part, "caution", ""))]


def channels(experiment: Experiment) -> tuple[Channel, ...]:
    """The prediction and each explanation, with every usual signal that reads it and those named."""
    built_in: list[Signal] = [registry.build("signal", name) for name in registry.names("signal")]
    signals = [s for s in built_in if getattr(s, "usual", True)]
    signals += [s for s in experiment.signal if s not in signals]
    explained = frozenset({"attribution", "counterfactual"})
    plain = tuple(s for s in signals if not s.needs & explained)
    out = [Channel(None, plain)]
    for explainer in experiment.explain:
        out.append(Channel(explainer, tuple(s for s in signals if s.needs & explained == {explainer.gives})))
    return tuple(out)


def gather(experiment: Experiment, data: Dataset, game: Game, machine: Machine) -> Gathered:
    """Evidence of all columns and the quality of the targets' recourse; what the store has is not redone."""
    chosen = channels(experiment)
    todo = list(blocks(experiment, data, game, machine, chosen))
    made = itertools.chain(*fan_out(run_block, todo, machine.workers, machine.watch("training and explaining")))
    columns = list(made)
    value, observed = (np.stack([_joined(c, name) for c in columns], axis=2) for name in ("value", "observed"))
    names = tuple(name for channel in chosen for name in channel.names())
    work: tuple[Channel | Inquest, ...] = (*chosen, *experiment.inquest)
    measured = tuple(name for one in work for name in one.measures())
    targets = [columns[j] for j in game.targets]
    quality, there = (np.concatenate([_joined(c, name) for c in targets], axis=1) for name in ("quality", "there"))
    parity = max(float(column[0]["parity"]) for column in columns)
    held = {q.name: [c[len(chosen) + k] for c in targets] for k, q in enumerate(experiment.inquest)}
    failed = {name: why for name, made in held.items() if (why := _failure(made))}
    claims = {name: _claimed(made, game) for name, made in held.items() if name not in failed}
    facts = {name: _facts(held[name]) for name in claims}
    found = Evidence(names, value, observed, game.member)
    return Gathered(found, Quality(measured, quality, there), parity, claims, facts, failed)


def _joined(column: list[Arrays], name: str) -> npt.NDArray[Any]:
    """The named array of all channels of a column, one below the other."""
    return np.concatenate([channel[name] for channel in column if name in channel])


def _claimed(targets: list[Arrays], game: Game) -> Guesses:
    """The claims of an inquest about all targets, with the truth."""
    score, truth = (np.concatenate([t[name] for t in targets]) for name in ("score", "truth"))
    return Guesses(score, truth, *np.nonzero(game.scored.T))


def _failure(targets: list[Arrays]) -> str:
    """Why an inquest could not be made of some targets, and of how many; empty where it was made of all."""
    reasons = [str(t[FAILED]) for t in targets if FAILED in t]
    of = f"of {len(reasons)} of {len(targets)} targets" if len(reasons) < len(targets) else ""
    return " ".join(filter(None, [reasons[0], f"(It failed {of}.)" if of else ""])) if reasons else ""


def _facts(targets: list[Arrays]) -> dict[str, Floats]:
    """What an inquest tells of every target, by name (T,)."""
    names = [name for name in targets[0] if name.startswith(FACT) and all(name in t for t in targets)]
    return {name.removeprefix(FACT): np.array([float(t[name]) for t in targets]) for name in names}


def blocks(
    experiment: Experiment, data: Dataset, game: Game, machine: Machine, chosen: tuple[Channel, ...]
) -> Iterator[Block]:
    """The columns of an experiment, some at a time, with what is to be seen of each and the keys of what is stored."""
    trainer, seed, roles = experiment.model, experiment.seed, _roles(game)
    fingerprint = digest(data.X, data.y, *(() if data.groups is None else (data.groups,))) + repr(data.schema)
    total = game.member.shape[1]
    size = max(1, min(machine.block, -(-total // max(1, machine.workers))))
    for start in range(0, total, size):
        columns = tuple(range(start, min(start + size, total)))
        models = tuple(registry.key("model", trainer, fingerprint, digest(game.member[:, j]), seed, j) for j in columns)
        pairs = zip(models, columns, strict=True)
        keys = tuple(_keys(m, roles.pick(j), chosen, experiment.inquest) for m, j in pairs)
        yield Block(
            data, trainer, roles.pick(columns), columns, chosen, experiment.inquest, keys, models, machine.store, seed
        )


def _roles(game: Game) -> Roles:
    """What the records are to each column: recourse is measured where a target is scored."""
    measured = np.zeros_like(game.member)
    measured[:, game.targets] = game.scored
    return Roles(game.member, game.cells(), measured)


def _keys(model: str, roles: Roles, chosen: tuple[Channel, ...], inquests: tuple[Inquest, ...]) -> tuple[str, ...]:
    """The key of each channel and each inquest of a column."""
    asked = digest(roles.asked, roles.measured)
    seen = (registry.key("evidence", model, asked, c.explainer or "prediction", *c.signals) for c in chosen)
    held = (registry.key("claims", model, asked, q.explainer or "prediction", q.inquiry, q.knowledge) for q in inquests)
    return (*seen, *held)


# --- judging ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Job:
    trial: Trial
    evidence: Evidence
    game: Game
    seed: int
    keep: bool


def _judge(job: _Job) -> tuple[list[Row], Guesses | None]:
    try:
        found = guess(job.evidence, job.game, job.trial)
    except JaliError as error:
        return unresolved(job.trial, str(error)), None
    return rows_of(job.trial, found, job.game, stream(job.seed, JUDGE, 2)), found if job.keep else None


def conclude(
    evidence: Evidence,
    game: Game,
    attacks: Sequence[Attack] = (),
    seed: int = 0,
    machine: Machine = Machine(),  # noqa: B008 (frozen)
    data: Dataset | None = None,
) -> Outcome:
    """Run every planned attack on the evidence and turn the guesses into rows, curves and exposure."""
    full = with_gaps(evidence, game)
    todo = plan(full, game, attacks)
    jobs = [_Job(t, full, game, seed, False) for t in todo.singles]
    jobs += [_Job(t, full, game, seed, True) for t in todo.joints.values()]
    done = list(fan_out(_judge, jobs, machine.workers, machine.watch("attacking")))
    kept = {key: g for key, (_, g) in zip(todo.joints, done[len(todo.singles) :], strict=True) if g is not None}
    rows = [row for made, _ in done for row in made] + _contrasts(todo, kept, game, seed)
    if not kept:
        raise JaliError(f"No joint attack could be run: {done[-1][0][0].reason}")
    lead = leading(todo, kept)
    results = Results(rows=rows, curves=_curves(todo, kept), sanity=_sanity(full, game, todo.joints[lead], kept[lead]))
    results.exposed = exposed(kept[lead], ALPHA)
    if data is not None:
        results.rows += group_rows(todo.joints[lead], kept[lead], groups(data), ALPHA, stream(seed, JUDGE, 4))
    return Outcome(results, evidence, game, data)


def _contrasts(todo: Plan, kept: dict[tuple[str, str], Guesses], game: Game, seed: int) -> list[Row]:
    by_trial = {id(todo.joints[key]): g for key, g in kept.items()}
    out: list[Row] = []
    for with_, without, _ in todo.contrasts():
        both = [by_trial.get(id(trial)) for trial in (with_, without)]
        if both[0] is None or both[1] is None:
            out += unresolved(with_, NOTHING, "contrast")
        else:
            out += contrast_rows(with_, both[0], both[1], game, stream(seed, JUDGE, 3))
            # The stream of `_judge`: where everybody is explained, these are the numbers of the attacks themselves.
            out += paired_rows((with_, without), (both[0], both[1]), game, lambda: stream(seed, JUDGE, 2))
    return out


def leading(todo: Plan, kept: dict[tuple[str, str], Guesses]) -> tuple[str, str]:
    """The joint trial that stands for exposure: most guesses first, then most signals; never by its success."""
    return max(kept, key=lambda k: (len(kept[k].score), len(todo.joints[k].names), k))


def _sanity(evidence: Evidence, game: Game, trial: Trial, guesses: Guesses) -> list[Check]:
    return [sanity.null_target(evidence, game, trial), sanity.orientation(guesses)]


def _curves(todo: Plan, kept: dict[tuple[str, str], Guesses]) -> list[Curve]:
    """A curve per joint attack; an explainer that leaves people out has a baseline of its own, on those it explains."""
    drawn = dict(kept)
    keys = {id(trial): key for key, trial in todo.joints.items()}
    for with_, without, base in todo.contrasts():
        explained, everybody = kept.get(keys[id(with_)]), kept.get(keys[id(without)])
        if explained is None or everybody is None:
            continue
        same = paired(explained, everybody)[1]
        if 0 < len(same.score) < len(everybody.score):
            drawn[with_.explainer, base] = same
    return [curve(channel.replace("+", " + "), explainer, guesses) for (explainer, channel), guesses in drawn.items()]
