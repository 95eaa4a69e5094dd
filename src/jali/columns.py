"""One column of the game at a time: train a model, explain it tile by tile, keep the signals, forget the rest.

A tile is 256 records of one model: the unit of arithmetic and of randomness, with the stream (seed, stage, column,
tile). Workers get blocks of columns, so neither their number nor the size of a block changes a bit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali import parts
from jali.core import Bools, Dataset, Ensemble, Existing, Explainer, Model, Rng, Seen, Signal, Trainer
from jali.encoding import Encoding
from jali.models._restore import restore
from jali.store import Arrays, Store

TILE = 256
GAME, TRAIN, EXPLAIN, JUDGE = 1, 2, 3, 4


def stream(seed: int, stage: int, *where: int) -> Rng:
    """The random stream of one place in a run; adding a worker or a stage changes no other number."""
    return np.random.default_rng(np.random.SeedSequence([seed, stage, *where]))


@dataclass(frozen=True)
class Channel:
    """What is released: an explainer (None: the prediction itself) and the signals read from it."""

    explainer: Explainer | None
    signals: tuple[Signal, ...]

    @property
    def name(self) -> str:
        """Specification of the explainer, or prediction."""
        return "prediction" if self.explainer is None else parts.spec(self.explainer)

    def names(self) -> tuple[str, ...]:
        """Names of the signals in evidence: signal, or explainer/signal."""
        prefix = "" if self.explainer is None else f"{self.name}/"
        return tuple(prefix + parts.spec(s) for s in self.signals)


@dataclass(frozen=True)
class Block:
    """Work for one process: some columns of the game, each with the channels that are still to be done."""

    data: Dataset
    trainer: Trainer
    member: Bools
    columns: tuple[int, ...]
    channels: tuple[Channel, ...]
    keys: tuple[tuple[str, ...], ...]
    models: tuple[str, ...]
    store: Store | None
    seed: int


def digest(*arrays: Any) -> str:
    """Fingerprint of arrays, by shape, type and bytes."""
    out = hashlib.sha256()
    for array in arrays:
        whole = np.ascontiguousarray(array)
        out.update(f"{whole.shape}{whole.dtype}".encode() + whole.tobytes())
    return out.hexdigest()


def run_block(block: Block) -> list[list[Arrays]]:
    """Evidence of each channel of each column of a block; whatever is new is kept in the store."""
    models = _models(block)
    out = []
    for at, column in enumerate(block.columns):
        made = []
        for channel, key in zip(block.channels, block.keys[at], strict=True):
            arrays = None if block.store is None else block.store.load(key)
            if arrays is None:
                arrays = observe(models(at), block.data, block.member[:, at], channel, block.seed, column)
                if block.store is not None:
                    block.store.save(key, arrays)
            made.append(arrays)
        out.append(made)
    return out


def observe(model: Model, data: Dataset, inside: Bools, channel: Channel, seed: int, column: int) -> Arrays:
    """Signals (S, N) of one channel of one model trained on the rows inside (N,), and where they were observed."""
    owner = data.rows(inside)
    value = np.zeros((len(channel.signals), len(data)))
    observed = np.ones((len(channel.signals), len(data)), dtype=bool)
    label = zlib.crc32(channel.name.encode())
    for tile, start in enumerate(range(0, len(data), TILE)):
        rows = slice(start, start + TILE)
        seen = look(model, data, owner, channel.explainer, rows, stream(seed, EXPLAIN, label, column, tile))
        for s, signal in enumerate(channel.signals):
            value[s, rows] = signal(seen.only(signal.needs))
            if channel.explainer is not None:
                observed[s, rows] = getattr(seen, channel.explainer.gives).found
    arrays = {"value": np.where(observed, value, 0.0), "observed": observed}
    return arrays if channel.explainer else arrays | {"parity": np.array(company(model, data, inside))}


def company(model: Model, data: Dataset, inside: Bools) -> float:
    """How much outputs change when members and non-members of the first tile are evaluated apart, not together."""
    X, mine = data.X[:TILE], inside[:TILE]
    together, worst = model.logits(X), 0.0
    for side in (mine, ~mine):
        if side.any():
            apart = model.logits(X[side])
            worst = max(worst, float((np.abs(apart - together[side]) / (1 + np.abs(apart))).max()))
    return worst


def look(model: Model, data: Dataset, owner: Dataset, explainer: Explainer | None, rows: slice, rng: Rng) -> Seen:
    """The lazy view of one tile: the explanation is computed once for all signals, then dropped."""
    X = data.X[rows]
    makers: dict[str, Callable[[], Any]] = {
        "x": lambda: X,
        "y": lambda: data.y[rows],
        "logits": lambda: model.logits(X),
        "decision": lambda: seen.logits.argmax(axis=1),
        "encode": lambda: Encoding(data.schema).encode,
    }
    if explainer is not None:
        known = owner if "owner" in explainer.reads else None
        makers[explainer.gives] = lambda: explainer.explain(model, X, data.schema, known, rng)
    seen = Seen(makers)
    return seen


def _models(block: Block) -> Callable[[int], Model]:
    """Models of a block by position, trained on first use, all missing ones in one call."""
    made: dict[int, Model] = {}

    def model(at: int) -> Model:
        if at not in made:
            made.update(_stored(block))
            missing = [i for i in range(len(block.columns)) if i not in made]
            if missing:
                made.update(_trained(block, missing))
        return made[at]

    return model


def _stored(block: Block) -> dict[int, Model]:
    found = {}
    for at, key in enumerate(block.models):
        arrays = None if block.store is None else block.store.load(key)
        if arrays is not None and (ensemble := restore(arrays, Encoding(block.data.schema))) is not None:
            found[at] = ensemble[0]
    return found


def _trained(block: Block, missing: list[int]) -> dict[int, Model]:
    """Train what is missing; a model that already exists is asked for, not trained."""
    out: dict[int, Model] = {}
    if isinstance(block.trainer, Existing) and 0 in (block.columns[at] for at in missing):
        at = block.columns.index(0)
        out[at] = block.trainer.existing(block.data)
        missing = [i for i in missing if i != at]
    if missing:
        rngs = [stream(block.seed, TRAIN, block.columns[at]) for at in missing]
        ensemble = block.trainer.fit(block.data, block.member[:, missing], rngs)
        for i, at in enumerate(missing):
            out[at] = ensemble[i]
            _keep(block, at, ensemble, i)
    return out


def _keep(block: Block, at: int, ensemble: Ensemble, i: int) -> None:
    arrays = getattr(ensemble, "arrays", None)
    if block.store is not None and arrays is not None:
        block.store.save(block.models[at], {name: array[i : i + 1] for name, array in arrays().items()})
