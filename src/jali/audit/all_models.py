"""All models of a game: cut the work into blocks, compute the keys of the store, and join the results of the models."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.audit import faithfulness
from jali.audit.attack_runs import AttackRun, Completed, Failed, restored
from jali.audit.evidence import read_only
from jali.audit.one_model import Block, Readout, Roles, digest, run_block, shared_arrays, unfinished
from jali.audit.quality import Quality
from jali.audit.setup import Experiment, Resources, Setup
from jali.core import registry
from jali.core.contents import untold
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.protocols import Controlled, Existing, OnRequest, Signal
from jali.core.values import Bools, Dataset, Evidence, Floats, Game, Ints
from jali.parallel import HERE, Here, Ref, fan_out, sharing
from jali.parallel.one_thread import alone
from jali.store import Arrays

EXPLAINED = frozenset({"attribution", "counterfactual"})


@dataclass(frozen=True)
class RunRecord:
    """The results of an attack run on all targets, or why it failed.

    guesses: score and truth of each record. values (K, G): the metrics of `Grader.per_record`, in the order of the
    guesses. defined (K, G): where they are defined. overall: by metric, one number per target (T,). queries: mean
    number of rows queried per target.
    """

    run: AttackRun
    guesses: Guesses | None = None
    values: Floats | None = None
    defined: Bools | None = None
    overall: Mapping[str, Floats] | None = None
    queries: int = 0
    failed: str = ""


@dataclass(frozen=True)
class Gathered:
    """The results of all models of a game; parity: the largest sign of unequal preprocessing.

    failures: a sentence for each explainer that could not explain some rows.
    """

    evidence: Evidence
    quality: Quality
    parity: float
    runs: tuple[RunRecord, ...]
    failures: tuple[str, ...] = ()

    def record(self, run: AttackRun) -> RunRecord:
        """The record of one attack run."""
        return next(record for record in self.runs if record.run.label == run.label)


def readouts(experiment: Experiment, regression: bool = False) -> tuple[Readout, ...]:
    """The prediction and each explainer, with every default signal that reads it and those named."""
    known: list[Signal] = [registry.build("signal", name) for name in registry.names("signal")]
    built_in = [s for s in known if regression or "outcome" not in s.needs]
    signals = [s for s in built_in if not isinstance(s, OnRequest) or s.usual]
    named = [*experiment.signal, *controls(experiment.signal)]
    built = set(map(registry.spec, signals))
    signals += [s for s in registry.distinct(named) if registry.spec(s) not in built]
    out = [Readout(None, tuple(s for s in signals if not s.needs & EXPLAINED))]
    for explainer in experiment.explain:
        mine = tuple(s for s in signals if s.needs & EXPLAINED == {explainer.gives})
        out.append(Readout(explainer, mine, experiment.faithful if explainer.gives == "attribution" else None))
    return tuple(out)


def controls(named: Sequence[Signal]) -> list[Signal]:
    """The signals that make as many queries as those named, without an explanation."""
    return [registry.build("signal", s.control) for s in named if isinstance(s, Controlled)]


def gather(setup: Setup, resources: Resources) -> Gathered:
    """Evidence of all models, quality of the targets' recourse, and attack runs; stored results are reused."""
    resources = resources.for_parts(setup.parts)
    game = setup.game
    chosen = readouts(setup.parts, setup.data.outcome is not None)
    schema = setup.data.schema
    names = tuple(name for readout in chosen for name in readout.names(schema))
    units = tuple(unit for readout in chosen for unit in readout.units(schema))
    value = np.zeros((len(names), *game.member.shape))
    observed = np.zeros(value.shape, dtype=bool)
    parity = 0.0
    targets: dict[int, list[Arrays]] = {}  # by number of the model
    failed: list[list[Arrays]] = []
    for number, results in enumerate(_each_model(setup, resources, chosen)):
        seen = results[: len(chosen)]
        value[:, :, number] = _joined(seen, "value")
        observed[:, :, number] = _joined(seen, "observed")
        parity = max(parity, float(seen[0]["parity"]))
        failed.append([{name: arrays[name] for name in ("failed", "failure") if name in arrays} for arrays in seen])
        if number in game.targets:
            kept = [{name: arrays[name] for name in ("quality", "defined")} for arrays in seen]
            targets[number] = [*kept, *results[len(chosen) :]]
    read_only(value, observed)
    in_order = [targets[j] for j in game.targets.tolist()]
    quality = np.concatenate([_joined(c[: len(chosen)], "quality") for c in in_order], axis=1)
    defined = np.concatenate([_joined(c[: len(chosen)], "defined") for c in in_order], axis=1)
    measured = tuple(name for readout in chosen for name in readout.measures())
    runs = []
    for k, run in enumerate(setup.parts.runs):
        done = [restored(results[len(chosen) + k]) for results in in_order]
        runs.append(_recorded(run, done, game, setup.data.group_numbers()))
    return Gathered(
        Evidence(names, value, observed, game.member, units),
        Quality(measured, quality, defined),
        parity,
        tuple(runs),
        _failures(chosen, failed, int(game.cells().sum())),
    )


def _each_model(setup: Setup, resources: Resources, chosen: tuple[Readout, ...]) -> Iterator[list[Arrays]]:
    """The results of each readout and attack run, model by model."""
    engine = resources.pool
    with sharing(shared_arrays(setup.data, roles_of(setup.game)), engine, resources.place) as ref:
        todo = list(blocks(setup, resources, chosen, ref))
        # What is stored already is read here: workers would take longer to start.
        new = any(unfinished(block, at) for block in todo for at in range(len(block.numbers)))
        watch = resources.watch("training and explaining")
        for block, done in zip(todo, fan_out(run_block, todo, engine if new else HERE, watch), strict=True):
            for at, results in enumerate(done):
                yield [_fetched(block, at, k, arrays) for k, arrays in enumerate(results)]


def _fetched(block: Block, at: int, k: int, arrays: Arrays | None) -> Arrays:
    """A result that a worker gave back, or left in the store; one that is damaged there is made again."""
    if arrays is None and block.store is not None:
        arrays = block.store.load(block.keys[at][k])
    if arrays is None:
        arrays = alone(run_block, replace(block, by_key=False))[at][k]  # as in a worker, so that the bits are the same
    assert arrays is not None
    return arrays


def shard(setup: Setup, resources: Resources, part: int, of: int) -> tuple[int, int]:
    """Put the results of some models into the store: number `part` (from 1) of `of` equal parts; (models, new ones)."""
    if why := untold(setup.parts):
        raise JaliError(f"Shards find each other's results by specification, and here that is not enough: {why}.")
    resources = resources.for_parts(setup.parts)
    engine = resources.pool
    chosen = readouts(setup.parts, setup.data.outcome is not None)
    with sharing(shared_arrays(setup.data, roles_of(setup.game)), engine, resources.place) as ref:
        numbers = range(part - 1, setup.game.member.shape[1], of)
        mine = list(blocks(setup, resources, chosen, ref, numbers))
        todo = [block for block in mine if any(unfinished(block, at) for at in range(len(block.numbers)))]
        made = sum(unfinished(block, at) for block in todo for at in range(len(block.numbers)))
        for _ in fan_out(run_block, todo, engine, resources.watch("training and explaining")):
            pass
    return len(numbers), made


def missing(setup: Setup, resources: Resources) -> list[int]:
    """The numbers of the models of which the store lacks something."""
    return [
        block.numbers[at]
        for block in blocks(setup, resources, readouts(setup.parts, setup.data.outcome is not None))
        for at in range(len(block.numbers))
        if unfinished(block, at)
    ]


def _failures(chosen: Sequence[Readout], failed: Sequence[Sequence[Arrays]], queries: int) -> tuple[str, ...]:
    """A sentence for each explainer that could not explain some of the rows it was asked about, of all models."""
    out = []
    for k, readout in enumerate(chosen):
        some = [arrays[k] for arrays in failed if "failed" in arrays[k] and int(arrays[k]["failed"])]
        if some:
            count = sum(int(arrays["failed"]) for arrays in some)
            out.append(
                f"{readout.label} failed in {count:,} of {queries:,} queries, and these are missing. The first reason: "
                f"{some[0]['failure']}."
            )
    return tuple(out)


def _joined(readings: Sequence[Arrays], name: str) -> npt.NDArray[Any]:
    """The named array of all readouts of a model, one below the other."""
    return np.concatenate([arrays[name] for arrays in readings])


def _recorded(run: AttackRun, results: list[Completed | Failed], game: Game, person: Ints) -> RunRecord:
    """One attack run over all targets."""
    failures = [f for f in results if isinstance(f, Failed)]
    if failures:
        some = f" (It failed on {len(failures)} of {len(results)} targets.)" if len(failures) < len(results) else ""
        return RunRecord(run, failed=failures[0].reason + some)
    done = [d for d in results if isinstance(d, Completed)]
    graded = [d.graded for d in done]
    unit, record = np.nonzero(game.scored.T)
    guesses = None
    if all(len(g.score) for g in graded):
        score = np.concatenate([g.score for g in graded])
        truth = np.concatenate([g.truth for g in graded])
        guesses = Guesses(score, truth, unit, record, person[record])
    names = [name for name in graded[0].overall if all(name in g.overall for g in graded)]
    return RunRecord(
        run,
        guesses,
        np.concatenate([g.values for g in graded], axis=1),
        np.concatenate([g.defined for g in graded], axis=1),
        {name: np.array([g.overall[name] for g in graded]) for name in names},
        round(float(np.mean([d.queries for d in done]))),
    )


def blocks(
    setup: Setup,
    resources: Resources,
    chosen: tuple[Readout, ...],
    ref: Ref | None = None,
    only: Sequence[int] | None = None,
) -> Iterator[Block]:
    """The models of an experiment in blocks, with the readouts of each and the keys of what is stored.

    A model that exists is sent only to its own block; all others get the trainer of its shadows. Without
    a reference, the blocks are for this process. only: the numbers of the models, if not all.
    """
    experiment = setup.parts
    data = setup.data
    roles = roles_of(setup.game)
    shared = ref or Here(shared_arrays(data, roles))
    kept = resources.store is not None  # otherwise nobody asks for a key
    fingerprint = _fingerprint(data) if kept else ""
    trainer = experiment.model
    exists = isinstance(trainer, Existing)
    chosen_numbers = range(setup.game.member.shape[1]) if only is None else only
    for numbers in _cut(chosen_numbers, resources.block, 1 if ref is None else resources.pool.workers, exists):
        models = tuple(_model_key(experiment, fingerprint, setup.game, j) if kept else "" for j in numbers)
        pairs = zip(models, numbers, strict=True)
        none = ("",) * (len(chosen) + len(experiment.runs))
        yield Block(
            shared=shared,
            schema=data.schema,
            trainer=trainer.unfitted() if isinstance(trainer, Existing) and 0 not in numbers else trainer,
            numbers=numbers,
            readouts=chosen,
            runs=experiment.runs,
            keys=tuple(_keys(m, roles.pick(j), chosen, experiment.runs) if kept else none for m, j in pairs),
            models=models,
            store=resources.store,
            seed=experiment.seed,
            by_key=not isinstance(shared, Here),
        )


def _cut(numbers: Sequence[int], block: int, workers: int, exists: bool) -> Iterator[tuple[int, ...]]:
    """Models by number, in blocks of equal size; number 0 is a block of its own if it is a model that exists.

    >>> list(_cut(range(5), 2, 1, exists=True))
    [(0,), (1, 2), (3, 4)]
    """
    size = max(1, min(block, -(-len(numbers) // max(1, workers))))
    rest = [number for number in numbers if number or not exists]
    if len(rest) < len(numbers):
        yield (0,)
    for start in range(0, len(rest), size):
        yield tuple(rest[start : start + size])


def _fingerprint(data: Dataset) -> str:
    """What identifies a table: its numbers, its people and its schema."""
    return digest(data.X, data.y, *(() if data.groups is None else (data.groups,))) + repr(data.schema)


def _model_key(experiment: Experiment, fingerprint: str, game: Game, number: int) -> str:
    member = digest(game.member[:, number])
    return registry.key("model", experiment.model, fingerprint, member, experiment.seed, number)


def roles_of(game: Game) -> Roles:
    """The role of each record for each model; recourse is measured where a target is scored."""
    measured = np.zeros_like(game.member)
    measured[:, game.targets] = game.scored
    return Roles(game.member, game.cells(), measured)


def _keys(model: str, roles: Roles, chosen: tuple[Readout, ...], runs: tuple[AttackRun, ...]) -> tuple[str, ...]:
    """The key of each readout and each attack run of a model."""
    queried = digest(roles.asked, roles.measured)
    seen = (
        registry.key("evidence", model, queried, r.explainer or "prediction", *r.signals, *_more(r)) for r in chosen
    )
    attacked = (registry.key("run", model, queried, *_parts_of(run)) for run in runs)
    return (*seen, *attacked)


def _more(readout: Readout) -> tuple[str, ...]:
    """What determines the result of a readout beside its parts."""
    return () if readout.faithful is None else (repr(readout.faithful), inspect.getsource(faithfulness))


def _parts_of(run: AttackRun) -> tuple[Any, ...]:
    """Everything that determines the result of an attack run."""
    return run.explainer or "prediction", run.attack, run.knowledge, run.grader
