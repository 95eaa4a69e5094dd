"""One model of the game at a time: train it, explain it tile by tile, keep the signals, forget the rest.

A tile is 256 random records of one model: the unit of arithmetic and of randomness, with the stream (seed, stage,
model, tile). Explainers may share draws within a tile, so tiles must not follow the order of the rows: where members
come first, the shared draws would reveal them. Workers get blocks of models; neither their number nor the size of a
block changes a bit. Only the records of a tile that are queried are shown to the model and its explainer; the rest is
not observed.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from jali.audit import faithfulness
from jali.audit.attack_runs import AttackRun, TargetModel, try_run
from jali.audit.faithfulness import Faithful
from jali.audit.one_tile import company, look, predicted, tiles
from jali.audit.preparations import Preparations
from jali.audit.quality import MEASURES, RELIANCE, SECONDS, Measured, Neighbourhood, appraise, reliance
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.guarantee import unannounced
from jali.core.protocols import (
    CountsFailures,
    DrawsModels,
    Ensemble,
    Existing,
    HasUnit,
    LibraryNoise,
    Model,
    Signal,
    Storable,
    Trainer,
    Vector,
)
from jali.core.values import Bools, Dataset, Floats, Rng, Schema, Seen, SignalName, Unit
from jali.models.fitted.restore import restore
from jali.parallel import Ref
from jali.store import Arrays, Store

# Stages of a run, each with random streams of its own.
GAME = 1
TRAIN = 2
EXPLAIN = 3
STATISTICS = 4
QUERY = 5
PREPARE = 6
FORECAST = 7
TWIN = 8


def stream(seed: int, stage: int, *where: int) -> Rng:
    """The random stream of one stage and place in a run; adding a worker or a stage changes no other number."""
    return np.random.default_rng(np.random.SeedSequence([seed, stage, *where]))


@dataclass(frozen=True)
class Readout:
    """What is read of a model: an explainer (None: the prediction itself) and the signals of its explanations.

    faithful: of how many attributions faithfulness is measured; None: of none.
    """

    explainer: Explainer | None
    signals: tuple[Signal, ...]
    faithful: Faithful | None = None

    @property
    def label(self) -> str:
        """Specification of the explainer, or prediction; it names the random streams."""
        return "prediction" if self.explainer is None else registry.spec(self.explainer)

    def names(self, schema: Schema) -> tuple[SignalName, ...]:
        """Names of the signals in evidence, of a vector one per part."""
        explainer = "" if self.explainer is None else self.label
        out: list[SignalName] = []
        for signal in self.signals:
            spec = registry.spec(signal)
            parts = range(signal.width(schema)) if isinstance(signal, Vector) else (None,)
            out += [SignalName(spec, explainer, part) for part in parts]
        return tuple(out)

    def units(self, schema: Schema) -> tuple[Unit, ...]:
        """The scale of each signal in evidence."""
        out: list[Unit] = []
        for signal in self.signals:
            unit = signal.unit if isinstance(signal, HasUnit) else Unit.PLAIN
            out += [unit] * (signal.width(schema) if isinstance(signal, Vector) else 1)
        return tuple(out)

    def measures(self) -> tuple[Measured, ...]:
        """The measures: quality of recourse, and for any explainer the time it takes."""
        if self.explainer is None:
            return (Measured(RELIANCE),)
        kinds: dict[str, tuple[str, ...]] = {"counterfactual": MEASURES}
        if self.faithful is not None:
            kinds["attribution"] = faithfulness.MEASURES
        measures = (*kinds.get(self.explainer.gives, ()), SECONDS)
        return tuple(Measured(metric, self.label) for metric in measures)


@dataclass(frozen=True)
class Roles:
    """The role of each record for some models of a game, each (N, C): member, queried, recourse measured."""

    member: Bools
    asked: Bools
    measured: Bools

    def pick(self, numbers: int | tuple[int, ...]) -> Roles:
        """The roles for the models with these numbers (N, C), or for one of them (N,)."""
        return Roles(self.member[:, numbers], self.asked[:, numbers], self.measured[:, numbers])


@dataclass(frozen=True)
class Block:
    """Work for one process: some models of the game, with their readouts and attack runs.

    shared: a reference to the data and the roles for all models, which all blocks of a run read. numbers: of
    the models, which are columns of the membership matrix. models: the keys of the trained models in the store.
    by_key: what is in the store does not come back with the result.
    """

    shared: Ref
    schema: Schema
    trainer: Trainer
    numbers: tuple[int, ...]
    readouts: tuple[Readout, ...]
    runs: tuple[AttackRun, ...]
    keys: tuple[tuple[str, ...], ...]
    models: tuple[str, ...]
    store: Store | None
    seed: int
    by_key: bool = False

    @cached_property
    def data(self) -> Dataset:
        """The whole table."""
        arrays = self.shared.read()
        return Dataset(arrays["X"], arrays["y"], self.schema, arrays.get("groups"), arrays.get("outcome"))

    @cached_property
    def roles(self) -> Roles:
        """The role of each record for the models of this block."""
        arrays = self.shared.read()
        return Roles(arrays["member"], arrays["asked"], arrays["measured"]).pick(self.numbers)


def shared_arrays(data: Dataset, roles: Roles) -> Arrays:
    """The arrays that all blocks of a run share."""
    arrays: Arrays = {"X": data.X, "y": data.y, "member": roles.member, "asked": roles.asked}
    arrays["measured"] = roles.measured
    beside = {"groups": data.groups, "outcome": data.outcome}
    return arrays | {name: array for name, array in beside.items() if array is not None}


def digest(*arrays: Any) -> str:
    """Fingerprint of arrays, by shape, type and bytes."""
    out = hashlib.sha256()
    for array in arrays:
        whole = np.ascontiguousarray(array)
        out.update(f"{whole.shape}{whole.dtype}".encode())
        out.update(whole.view(np.uint8).data if whole.ndim and whole.size else whole.tobytes())
    return out.hexdigest()


@unannounced()
def run_block(block: Block) -> list[list[Arrays | None]]:
    """The results of each readout and each attack run, model by model; new ones are kept in the store.

    None stands for a result that the caller finds in the store under its key.
    """
    models = models_of(block)
    works: list[Readout | AttackRun] = [*block.readouts, *block.runs]
    out = []
    for at in range(len(block.numbers)):
        number = _OneModel(block, at, partial(models, at))
        out.append([_result(number, work, key) for work, key in zip(works, block.keys[at], strict=True)])
    return out


def _result(model: _OneModel, work: Readout | AttackRun, key: str) -> Arrays | None:
    """One result of a model, or None where it is in the store and is not to come back."""
    block = model.block
    if block.store is None:
        return model.done(work)
    if block.by_key and block.store.has(key):
        return None
    arrays = block.store.load(key)
    stored = arrays is not None
    if arrays is None:
        arrays = model.done(work)
        stored = bool(arrays) and block.store.save(key, arrays)
    return None if block.by_key and stored else arrays


@dataclass(frozen=True, eq=False)
class _OneModel:
    """One model of a block; it is fetched, and its explainers are prepared, when they are first needed."""

    block: Block
    at: int
    model: Callable[[], Model]

    @cached_property
    def prepared(self) -> Preparations:
        """The explainers of the model."""
        block = self.block
        member = block.roles.pick(self.at).member
        return preparations(self.model(), block.data, member, block.seed, block.numbers[self.at])

    @cached_property
    def twin(self) -> Preparations:
        """The explainers of a model that is trained on the same rows without noise, in a stream of its own."""
        block = self.block
        number = block.numbers[self.at]
        member = block.roles.pick(self.at).member
        trainer = block.trainer
        plain = trainer.plain() if isinstance(trainer, DrawsModels | LibraryNoise) else trainer
        model = plain.fit(block.data, member[:, None], [stream(block.seed, TWIN, number)])[0]
        return preparations(model, block.data, member, block.seed, number)

    @cached_property
    def attacked(self) -> TargetModel:
        """The model under attack, shared by all attacks on it."""
        block = self.block
        roles = block.roles.pick(self.at)
        draws = partial(_named_stream, block.seed, QUERY, block.numbers[self.at])
        return TargetModel.of(self.prepared, block.data, roles.member, roles.measured, draws, _like(block.trainer))

    def done(self, work: Readout | AttackRun) -> Arrays:
        """The signals of a readout, or the claims of an attack run where the model is a target."""
        block = self.block
        roles = block.roles.pick(self.at)
        number = block.numbers[self.at]
        if isinstance(work, Readout):
            return observe(self.prepared, block.data, roles, work, block.seed, number, lambda: self.twin)
        if not roles.measured.any():
            return {}
        return try_run(work, self.attacked, _named_stream(block.seed, QUERY, number, work.label)).arrays()


def preparations(model: Model, data: Dataset, member: Bools, seed: int, number: int) -> Preparations:
    """The explainers of a model that was trained on the members (N,), with the streams of its number."""
    return Preparations(model, data.rows(member), partial(_named_stream, seed, PREPARE, number))


def _named_stream(seed: int, stage: int, number: int, name: str) -> Rng:
    """The random stream of one model and stage for a specification, such as that of an explainer or an attack run."""
    return stream(seed, stage, zlib.crc32(name.encode()), number)


def observe(
    prepared: Preparations,
    data: Dataset,
    roles: Roles,
    readout: Readout,
    seed: int,
    number: int,
    twin: Callable[[], Preparations] | None = None,
) -> Arrays:
    """Signals (S, N) of one readout of one model, where they were observed, and the quality of explanations.

    twin: a model without noise that faithful attributions are compared with, where they are measured.
    """
    model = prepared.model
    label = zlib.crc32(readout.label.encode())
    kinds = len(readout.measures())
    numbers = len(readout.names(data.schema))
    value = np.zeros((numbers, len(data)))
    found = np.zeros(len(data), dtype=bool)
    quality = np.zeros((kinds, len(data)), dtype=np.float32)
    defined = np.zeros((kinds, len(data)), dtype=bool)
    near = Neighbourhood(prepared.train)
    logits = predicted(model, data.X, roles.asked) if readout.explainer is None else None
    for tile, rows in tiles(roles.asked):
        rng = stream(seed, EXPLAIN, label, number, tile)
        seen = look(prepared, data, readout.explainer, rows, rng, None if logits is None else logits[rows])
        began = time.perf_counter()
        found[rows] = answered(seen, readout.explainer, len(rows))
        each = (time.perf_counter() - began) / len(rows)
        value[:, rows] = _read(readout.signals, seen, len(rows))
        some = roles.measured[rows]
        if readout.explainer is None and some.any():
            rng = stream(seed, STATISTICS, label, number, tile)
            quality[0, rows[some]], defined[0, rows[some]] = reliance(
                model, data.rows(rows[some]), rng, seen.decision[some]
            )
        elif some.any():
            quality[-1, rows[some]] = each  # SECONDS
            defined[-1, rows[some]] = True
            if readout.explainer is not None and readout.explainer.gives == "counterfactual":
                rng = stream(seed, STATISTICS, label, number, tile)
                given = seen.explanation.pick(some)
                quality[:-1, rows[some]], defined[:-1, rows[some]] = appraise(model, seen.x[some], given, near, rng)
    if readout.faithful is not None and readout.explainer is not None and twin is not None:
        few = readout.faithful.rows(roles.measured, number)
        if len(few):
            rng = stream(seed, STATISTICS, label, number)
            quality[:-1, few] = faithfulness.measured(prepared, twin(), readout.explainer, data.rows(few), rng)
            defined[:-1, few] = True
    observed = np.tile(found, (numbers, 1))
    arrays = {"value": np.where(observed, value, 0.0), "observed": observed}
    arrays |= {"quality": quality[:, roles.measured], "defined": defined[:, roles.measured]}
    if readout.explainer is not None and isinstance(ready := prepared.of(readout.explainer), CountsFailures):
        count, reason = ready.failures
        arrays |= {"failed": np.array(count), "failure": np.array(reason)}
    return arrays if readout.explainer else arrays | {"parity": np.array(company(model, data, roles.member))}


def answered(seen: Seen, explainer: Explainer | None, rows: int) -> Bools:
    """Which records (n,) of a tile have an answer; a prediction is always there."""
    return np.ones(rows, dtype=bool) if explainer is None else np.asarray(getattr(seen, explainer.gives).found)


def _read(signals: tuple[Signal, ...], seen: Seen, rows: int) -> Floats:
    """All numbers (S, n) of the signals of one tile, vectors part by part."""
    found = [np.asarray(signal(seen.only(signal.needs))).reshape(rows, -1).T for signal in signals]
    return np.concatenate(found) if found else np.zeros((0, rows))


def models_of(block: Block) -> Callable[[int], Model]:
    """Models of a block by position, trained on first use, in one call with others that are needed and missing."""
    made: dict[int, Model] = {}

    def model(at: int) -> Model:
        if at not in made:
            made.update(_stored(block))
            missing = [i for i in range(len(block.numbers)) if i not in made and (i == at or unfinished(block, i))]
            if missing:
                made.update(_trained(block, missing))
        return made[at]

    return model


def unfinished(block: Block, at: int) -> bool:
    """Whether the store lacks anything about a model; some models cannot be stored and take minutes to train."""
    works = block.keys[at] if block.roles.measured[:, at].any() else block.keys[at][: len(block.readouts)]
    return block.store is None or not all(block.store.has(key) for key in works)


def _stored(block: Block) -> dict[int, Model]:
    found = {}
    encoding = Encoding(block.data.schema)
    modules = registry.modules(block.trainer)
    for at, key in enumerate(block.models):
        arrays = None if block.store is None else block.store.load(key)
        if arrays is not None and (ensemble := restore(arrays, encoding, modules)) is not None:
            found[at] = ensemble[0]
    return found


def _trained(block: Block, missing: list[int]) -> dict[int, Model]:
    """Train the missing models; one that already exists is taken as it is."""
    out: dict[int, Model] = {}
    if isinstance(block.trainer, Existing) and 0 in (block.numbers[at] for at in missing):
        at = block.numbers.index(0)
        out[at] = block.trainer.existing(block.data)
        missing = [i for i in missing if i != at]
    if missing:
        rngs = [stream(block.seed, TRAIN, block.numbers[at]) for at in missing]
        ensemble = block.trainer.fit(block.data, block.roles.member[:, missing], rngs)
        for i, at in enumerate(missing):
            out[at] = ensemble[i]
            _keep(block, at, ensemble, i)
    return out


def _keep(block: Block, at: int, ensemble: Ensemble, i: int) -> None:
    if block.store is not None and isinstance(ensemble, Storable):
        block.store.save(block.models[at], {name: array[i : i + 1] for name, array in ensemble.arrays().items()})


def _like(trainer: Trainer) -> Trainer | None:
    """How models like those of a trainer are trained; None where that is a model that cannot be cloned."""
    try:
        return trainer.unfitted() if isinstance(trainer, Existing) else trainer
    except JaliError:
        return None
