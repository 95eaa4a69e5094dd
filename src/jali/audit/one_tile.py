"""What an adversary sees of some records under one model: predictions, and the explanation of a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jali.audit.preparations import Preparations
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Explainer, public
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Seen

TILE = 256  # random records that are explained together
PREDICTED = 8192  # rows that a model predicts in one call, at most
NUMBERS = 400_000  # and the numbers in them


def predicted(model: Model, X: Floats, asked: Bools) -> Floats:
    """The logits (N, C) of the records that a model is asked about (N,), many at a time; 0 for the others.

    A call of a user's model has a price of its own, and takes rows in the form of the user's table.
    """
    rows = np.flatnonzero(asked)
    step = max(TILE, min(PREDICTED, NUMBERS // max(1, X.shape[1])))
    parts = [model.logits(X[rows[start : start + step]]) for start in range(0, len(rows), step)]
    out = np.zeros((len(X), parts[0].shape[1] if parts else 0))
    if parts:
        out[rows] = np.concatenate(parts)
    return out


def look(
    prepared: Preparations,
    data: Dataset,
    explainer: Explainer | None,
    rows: Ints,
    rng: Rng,
    logits: Floats | None = None,
) -> Seen:
    """The lazy view of one tile: the explanation is computed once for all signals, then dropped.

    logits: those of the rows, where they are known.
    """
    X = data.X[rows]
    makers: dict[str, Callable[[], Any]] = {
        "x": lambda: X,
        "y": lambda: data.y[rows],
        "logits": lambda: prepared.model.logits(X) if logits is None else logits,
        "decision": lambda: seen.logits.argmax(axis=1),
        "encode": lambda: Encoding(data.schema).encode,
        "schema": lambda: data.schema,
        "outcome": lambda: _outcome(data, rows),
        "ask": lambda: prepared.model.logits,
    }
    if explainer is not None:
        makers["explanation"] = lambda: prepared.of(explainer).explain(X, rng)
        makers[explainer.gives] = lambda: public(seen.explanation)
    seen = Seen(makers)
    return seen


def _outcome(data: Dataset, rows: Ints) -> Floats:
    """The true values (n,) of a regression model's records."""
    if data.outcome is None:
        raise JaliError("A signal reads the true value that a regression model predicts, and this model has classes.")
    values: Floats = data.outcome[rows]
    return values


def tiles(queried: Bools) -> Iterator[tuple[int, Ints]]:
    """Number and rows, in ascending order, of every tile in which a record is queried."""
    number = tile_numbers(len(queried))
    order = np.argsort(number, kind="stable")
    for tile, rows in enumerate(np.split(order, np.arange(TILE, len(order), TILE))):
        some = rows[queried[rows]]
        if len(some):
            yield tile, some


def tile_numbers(records: int) -> Ints:
    """The tile number (N,) of each record: the same for all models, seeds and games of a table of this size.

    >>> tile_numbers(1000).max(), np.bincount(tile_numbers(1000)).tolist()
    (np.int64(3), [256, 256, 256, 232])
    """
    shuffled = np.random.default_rng(records).permutation(records)
    return np.asarray(shuffled // TILE)


def company(model: Model, data: Dataset, inside: Bools) -> float:
    """The largest change of outputs when members and non-members of the first tile are evaluated separately."""
    first = tile_numbers(len(data)) == 0
    X = data.X[first]
    mine = inside[first]
    together = model.logits(X)
    worst = 0.0
    for side in (mine, ~mine):
        if side.any():
            apart = model.logits(X[side])
            worst = max(worst, float((np.abs(apart - together[side]) / (1 + np.abs(apart))).max()))
    return worst
