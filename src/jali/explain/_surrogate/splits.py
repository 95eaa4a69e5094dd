"""The split of a node with the largest information gain: a test of one column, or m of n terms.

R rows, C classes, K terms. Labels are shares Y (R, C), one 1 in each row; gains are in nats, summed over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Column, Floats, Ints, Rng, Schema
from jali.explain._surrogate.trees import negated
from jali.text.rules import AtLeast, Condition, Term

BEAM = 2  # width of the beam search for m-of-n tests
RISE = 1.05  # factor by which a further term must raise the gain
ROWS, TERMS = 4000, 64  # most rows and terms that the search for m-of-n tests uses: more do not change the result
NOTHING = 1e-9  # gains below this are rounding error


@dataclass(frozen=True)
class _Found:
    """A test "at least m of the terms at these places", among the K best terms and then their K negations."""

    gain: float
    m: int
    places: tuple[int, ...]


def split(X: Floats, Y: Floats, schema: Schema, terms: int, rng: Rng) -> Condition | None:
    """The test that splits raw rows X (R, D) with labels Y (R, C) best; None where no split has any gain.

    The single term with the largest gain, or at least m of up to `terms` terms. The latter are found by beam search,
    adding one term at a time and keeping m or raising it by one. A term is added only if the gain rises by 5 % and by
    more than a penalty of log 2 K + (C - 1) / 2 log R nats, so that a rare category is not added by chance.

    >>> schema = Schema((Column("a"), Column("b"), Column("c")))
    >>> X = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)] * 40, dtype=float)
    >>> test = split(X, np.eye(2)[(X.sum(axis=1) >= 2).astype(int)], schema, 3, np.random.default_rng(0))
    >>> test.sentence(schema)
    'at least 2 of (a is at most 0.5; b is at most 0.5; c is at most 0.5)'
    """
    found = single(X, Y, schema)
    if not found:
        return None
    return _several(X, Y, [term for _, term in found[:TERMS]], schema, terms, rng) or found[0][1]


def single(X: Floats, Y: Floats, schema: Schema) -> list[tuple[float, Term]]:
    """Terms that split raw rows (R, D), with their gains, best first: every category, and a number's best bound."""
    found = [f for j, c in enumerate(schema.columns) for f in _of_column(c, j, X[:, j], Y)]
    return sorted(found, key=lambda pair: -pair[0])


def gains(inside: Floats, total: Floats) -> Floats:
    """Information gain (K,) of splits with class counts inside (K, C), of rows with class counts total (C,).

    >>> gains(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 2.0])).round(4)
    array([2.7726, 0.    ])
    """
    return np.asarray(_entropy(total) - _entropy(inside) - _entropy(total - inside))


def _entropy(counts: Floats) -> Floats:
    """Number of rows times the entropy of their classes, from counts (..., C)."""
    total = counts.sum(axis=-1)
    return np.asarray(_xlogx(total) - _xlogx(counts).sum(axis=-1))


def _xlogx(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1e-300)))


def _of_column(column: Column, j: int, x: Floats, Y: Floats) -> list[tuple[float, Term]]:
    total = Y.sum(axis=0)
    if column.kind == "category":
        codes, width = x.astype(np.int64), len(column.categories)
        inside = np.stack([np.bincount(codes, y, width).astype(np.float64) for y in Y.T], axis=1)
        gain = gains(inside, total)
        return [(float(gain[code]), Term(j, codes=(int(code),))) for code in np.flatnonzero(gain > NOTHING)]
    order = np.argsort(x, kind="stable")
    values = x[order]
    cut = np.flatnonzero(values[:-1] < values[1:])
    if not len(cut):
        return []
    gain = gains(np.cumsum(Y[order], axis=0)[cut], total)
    best = int(gain.argmax())
    below, above = values[cut[best]], values[cut[best] + 1]
    middle = below + (above - below) / 2
    bound = float(
        middle if middle < above else below
    )  # between adjacent floats, the middle may round up to the upper one
    return [(float(gain[best]), Term(j, high=bound))] if gain[best] > NOTHING else []


def _several(X: Floats, Y: Floats, terms: list[Term], schema: Schema, most: int, rng: Rng) -> AtLeast | None:
    """The best m-of-n test of 2 to `most` terms, if its gain justifies the further terms."""
    if len(X) > ROWS:
        some = rng.permutation(len(X))[:ROWS]
        X, Y = X[some], Y[some]
    true = np.stack([term.holds(X) for term in terms], axis=1)
    true = np.concatenate([true, ~true], axis=1)
    alone = _gained(true, Y)
    ahead = [_Found(float(alone[p]), 1, (p,)) for p in (*_first(alone), *(_first(alone) + len(terms)))]
    best = ahead[0]
    for _ in range(1, most):
        ahead = _longer(ahead, true, Y)
        if not ahead:
            break
        best = max(best, ahead[0], key=lambda found: found.gain)
    if len(best.places) == 1:
        return None
    both = [*terms, *(negated(term, schema) for term in terms)]
    return AtLeast(best.m, tuple(sorted((both[p] for p in best.places), key=lambda term: term.column)))


def _first(gain: Floats) -> Ints:
    """Places of the best terms, negations left out."""
    return np.argsort(-gain[: len(gain) // 2], kind="stable")[:BEAM]


def _gained(true: Bools, Y: Floats) -> Floats:
    return gains(true.T.astype(np.float64) @ Y, Y.sum(axis=0))


def _longer(ahead: list[_Found], true: Bools, Y: Floats) -> list[_Found]:
    """The best tests with one more term than those ahead, if their gain justifies it."""
    half = true.shape[1] // 2
    penalty = np.log(2 * half) + (Y.shape[1] - 1) / 2 * np.log(len(Y))
    out: dict[tuple[int, tuple[int, ...]], _Found] = {}
    for test in ahead:
        count = true[:, test.places].sum(axis=1)[:, None] + true
        for m in (test.m, test.m + 1):
            gain = _gained(count >= m, Y)
            gain[[p % half for p in test.places] + [p % half + half for p in test.places]] = 0.0
            for p in np.argsort(-gain, kind="stable")[: 2 * BEAM]:
                places = tuple(sorted((*test.places, int(p))))
                if gain[p] > RISE * test.gain + penalty:
                    out[m, places] = _Found(float(gain[p]), m, places)
    return sorted(out.values(), key=lambda found: -found.gain)[: 2 * BEAM]
