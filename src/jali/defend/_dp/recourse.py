"""Which records need recourse, to which of two classes, and the legal rows that they can move to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Bools, Floats, Ints, Schema
from jali.privacy.mechanisms import mark

DECISION = "the decision who needs recourse"


class Requests(NamedTuple):
    """Recourse for n records.

    needed (n,): which records need recourse. wanted (n,): the desired class of each. score (n,): the score of the
    desired class minus that of the other class.
    """

    needed: Bools
    wanted: Ints
    score: Floats

    @property
    def sign(self) -> Floats:
        """+1 (n,) where class 1 is desired, -1 where class 0 is."""
        return np.where(self.wanted == 1, 1.0, -1.0)


def two_classes(name: str, schema: Schema) -> None:
    """Refuse a table that does not have exactly two classes."""
    if len(schema.classes) != 2:
        raise JaliError(f"{name} needs exactly two classes, and this table has {len(schema.classes)}: merge classes.")


def recourse_requests(name: str, model: Model, X: Floats, schema: Schema) -> Requests:
    """Records that are denied the favourable class need recourse to it; if there is none, all need the other class."""
    two_classes(name, schema)
    scores = model.logits(X)
    predicted = mark(DECISION, scores.argmax(axis=1).astype(np.float64)).astype(np.int64)
    wanted = 1 - predicted if schema.favourable is None else np.full(len(X), schema.favourable)
    lead = scores[:, 1] - scores[:, 0]
    return Requests(predicted != wanted, wanted, np.where(wanted == 1, lead, -lead))


class Free(NamedTuple):
    """The p mutable numbers: positions in encoded features and in the table, bounds, spread, and which are whole."""

    at: Ints
    column: Ints
    low: Floats
    high: Floats
    spread: Floats
    whole: Bools

    def values(self, X: Floats, move: Floats) -> Floats:
        """Legal values (n, p) after moves (n, P) of the encoded features of raw rows X (n, D)."""
        value = X[:, self.column] + move[:, self.at] * self.spread
        outward = np.where(move[:, self.at] > 0, np.ceil(value - 1e-9), np.floor(value + 1e-9))
        return np.clip(np.where(self.whole, outward, value), self.low, self.high)


def free(encoding: Encoding) -> Free:
    """The numbers of a table that a move may change."""
    at = np.flatnonzero(encoding.movable())
    columns = [encoding.schema.columns[j] for j in encoding.source[at]]
    low = np.array([c.low for c in columns])
    high = np.array([c.high for c in columns])
    spread = np.array([c.spread for c in columns])
    whole = np.array([c.kind == "integer" for c in columns], dtype=bool)
    return Free(at, encoding.source[at], low, high, spread, whole)


def moved(X: Floats, move: Floats, encoding: Encoding) -> Floats:
    """Legal raw rows after moves (n, P) of the encoded features: only mutable numbers move, inside their bounds.

    Whole numbers are rounded away from the record.

    >>> from jali.core.values import Column
    >>> encoding = Encoding(Schema((Column("age", "integer", 0, 90, 40, 10), Column("sex", mutable=False))))
    >>> moved(np.array([[30.0, 1.0]]), np.array([[0.23, 5.0]]), encoding)
    array([[33.,  1.]])
    """
    able = free(encoding)
    rows = X.copy()
    rows[:, able.column] = able.values(X, move)
    return rows


def inside(X: Floats, move: Floats, encoding: Encoding) -> Bools:
    """Where (n,) no bound stops a move (n, P)."""
    able = free(encoding)
    there = X[:, able.column] + move[:, able.at] * able.spread
    slack = 1e-9 * able.spread
    return np.asarray(((there >= able.low - slack) & (there <= able.high + slack)).all(axis=1))
