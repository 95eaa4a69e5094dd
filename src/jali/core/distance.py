"""HEOM, a distance between raw rows of numbers and categories: sum_j |x_j - r_j| / span_j, or [x_j != r_j] for codes.

Wilson and Martinez, Improved Heterogeneous Distance Functions, 1997. A number further out than its span counts more
than one; a number whose span is zero counts like a code. Sums are taken in float64, numbers first and in the order of
the columns, so that two rows of equal values are at equal distance to the last bit.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Schema

Ranges = Literal["schema", "train"]
TILE = 1 << 16  # distances computed at once: so few stay in the processor's cache
HELD = 1 << 23  # distances that a search for neighbours holds at once, 64 megabytes
Columns = list[npt.NDArray[Any]]


def ranges(schema: Schema, rows: Floats, source: Ranges = "schema") -> Floats:
    """Spans (D,) of the columns: high - low of the schema where both are finite, else the range in the rows (N, D).

    With source "train" all spans come from the rows, as in the published NICE; they then depend on the training data.
    Categories have span 1.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age", low=18, high=98), Column("income"), Column("sex", "category")))
    >>> ranges(schema, np.array([[20.0, 1.0, 0.0], [60.0, 5.0, 1.0]]))
    array([80.,  4.,  1.])
    >>> ranges(schema, np.array([[20.0, 1.0, 0.0], [60.0, 5.0, 1.0]]), "train")
    array([40.,  4.,  1.])
    """
    if not len(rows):
        raise JaliError("Ranges of columns are taken from rows, and there are none: pass at least one.")
    declared = np.array([c.high - c.low for c in schema.columns])
    known = np.isfinite(declared) if source == "schema" else np.zeros(len(declared), dtype=bool)
    out = np.where(known, declared, np.ptp(rows, axis=0))
    return np.where(_codes(schema), 1.0, out)


def distances(X: Floats, rows: Floats, schema: Schema, spans: Floats) -> Floats:
    """Distances (n, N) from raw rows X (n, D) to raw rows (N, D).

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age"), Column("sex", "category", categories=("f", "m"))))
    >>> distances(np.array([[30.0, 0]]), np.array([[40.0, 0], [30.0, 1]]), schema, np.array([50.0, 1.0]))
    array([[0.2, 1. ]])
    """
    out = np.empty((len(X), len(rows)))
    _fill(out, _columns(X, schema, spans), _columns(rows, schema, spans), spans)
    return out


def paired(X: Floats, rows: Floats, schema: Schema, spans: Floats) -> Floats:
    """Distance (n,) from each of X (n, D) to the row (n, D) in its place."""
    mine, theirs = (_columns(table, schema, spans) for table in (X, rows))
    return _tile([c[:, None] for c in mine], [c[:, None] for c in theirs], spans)[:, 0]


def nearest(
    X: Floats, rows: Floats, schema: Schema, spans: Floats, k: int, allowed: Bools | None = None
) -> tuple[Ints, Floats]:
    """Positions (n, k) of the k rows nearest to each of X, and their distances (n, k), by distance and then position.

    allowed: the rows that count, (N,) for all of X or (n, N) for each. Where there are fewer than k of them, positions
    are -1 and distances infinite.

    >>> from jali.core.values import Column
    >>> rows = np.array([[5.0], [1.0], [3.0], [1.0]])
    >>> nearest(np.array([[0.0]]), rows, Schema((Column("a"),)), np.array([10.0]), 3)
    (array([[1, 3, 2]]), array([[0.1, 0.1, 0.3]]))
    """
    mine, theirs = _columns(X, schema, spans), _columns(rows, schema, spans)
    index = np.full((len(X), k), -1)
    value = np.full((len(X), k), np.inf)
    size = max(1, HELD // max(1, len(rows)))
    most = min(k, len(rows))
    for start in range(0, len(X) if most else 0, size):
        block = slice(start, min(start + size, len(X)))
        far = np.empty((block.stop - start, len(rows)))
        _fill(far, [column[block] for column in mine], theirs, spans)
        if allowed is not None:
            far[~np.broadcast_to(allowed if allowed.ndim == 1 else allowed[block], far.shape)] = np.inf
        index[block, :most] = _first(far, most)
        value[block, :most] = np.take_along_axis(far, index[block, :most], axis=1)
    index[np.isinf(value)] = -1
    return index, value


def _first(far: Floats, k: int) -> Ints:
    """Positions (n, k) of the k smallest of far (n, N), equal ones by position."""
    if k == 1:
        return np.asarray(far.argmin(axis=1)[:, None])
    last = np.partition(far, k - 1, axis=1)[:, k - 1, None]
    below = far < last
    level = far == last
    level &= np.cumsum(level, axis=1, dtype=np.int32) <= k - below.sum(axis=1, keepdims=True)
    some: Ints = np.nonzero(below | level)[1].reshape(len(far), k)
    order = np.take_along_axis(far, some, axis=1).argsort(axis=1, kind="stable")
    return np.asarray(np.take_along_axis(some, order, axis=1))


def _codes(schema: Schema) -> Bools:
    return np.array([c.kind == "category" for c in schema.columns], dtype=bool)


def _columns(X: Floats, schema: Schema, spans: Floats) -> Columns:
    """The columns of X, each in one piece: numbers as they are, codes as int32, which is quicker to compare."""
    if X.shape[1:] != spans.shape or X.shape[1] != len(schema.columns):
        raise JaliError(f"Rows of {len(schema.columns)} columns with a span each were expected, not {X.shape}.")
    if not np.isfinite(X).all():
        name = schema.columns[int(np.argwhere(~np.isfinite(X))[0, 1])].name
        raise JaliError(f"Column {name!r} holds a missing or infinite value: fill or drop such rows first.")
    return [X[:, j].astype(np.int32 if code else np.float64) for j, code in enumerate(_codes(schema))]


def _fill(out: Floats, mine: Columns, theirs: Columns, spans: Floats) -> None:
    """Write distances (n, N) between two tables given by their columns, one tile after the other."""
    n, size = out.shape
    wide = min(max(1, size), TILE)
    tall = max(1, TILE // wide)
    for i in range(0, n, tall):
        for j in range(0, size, wide):
            left, right = [c[i : i + tall, None] for c in mine], [c[j : j + wide] for c in theirs]
            out[i : i + tall, j : j + wide] = _tile(left, right, spans)


def _tile(left: Columns, right: Columns, spans: Floats) -> Floats:
    """Distances between rows given by their columns, of shapes that fit each other: (t, 1) and (w,) make (t, w)."""
    shape = np.broadcast_shapes(left[0].shape, right[0].shape)
    total = np.zeros(shape)
    step = np.empty(shape)
    changed = np.zeros(shape, dtype=np.int32)
    for x, r, span in zip(left, right, spans, strict=True):
        if x.dtype == np.float64 and span > 0:
            np.subtract(x, r, out=step)
            np.abs(step, out=step)
            step /= span
            total += step
        else:
            changed += x != r
    return total + changed
