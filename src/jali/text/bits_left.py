"""How much about its training rows a published list of rules leaves open, in bits.

n people, R rules, D columns. Every column has cells: its categories, the whole numbers between its bounds, or
equal parts of the range of any other number. Somebody whom a rule covers can be in as many cells of the table as agree
with its premise, so the rule leaves log2 of that number of bits about the person's row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Column, Floats, Schema
from jali.text.rules import AtLeast, Condition, Rule, Term

PARTS = 100  # of the range of a number that is not whole, or has more values than that
OUTER = 10.0  # spreads from the centre at which a number without bounds ends


def bits_left(rules: Sequence[Rule], X: Floats, schema: Schema) -> Floats:
    """The bits (n,) that rules with published counts leave open about each row X (n, D), as a share of those before.

        log2(cells of the rule that covers the row) / log2(all cells)

    1: nothing is learnt, 0: the row is known. The mean is the uncertainty that is left about the whole table. The rules
    must not overlap. People whom none covers are in the cells that are left.

    Ferry, Aïvodji, Gambs, Huguet and Siala, Probabilistic Dataset Reconstruction from Interpretable Models, 2023.

    >>> schema = Schema((Column("age", "integer", low=1, high=8), Column("sex", "category", categories=("f", "m"))))
    >>> rules = [Rule((Term(0, high=2.0),), 0), Rule((Term(0, low=2.0),), 1)]
    >>> bits_left(rules, np.array([[1.0, 0], [5.0, 1]]), schema).round(4)  # log2 4 and log2 12, by log2 16
    array([0.5   , 0.8962])
    """
    values = [_values(column) for column in schema.columns]
    every = math.prod(len(v) for v in values)
    inside = [rule.covers(X) for rule in rules]
    covered = np.sum(inside, axis=0) if inside else np.zeros(len(X))
    if len(X) == 0 or every < 2:
        raise JaliError("Bits are counted for at least one row of a table with at least two possible rows.")
    if (covered > 1).any():
        raise JaliError("Bits are counted for rules that do not overlap, and here one row is covered by several.")
    cells = [_cells(rule.premise, values) for rule in rules]
    out = np.full(len(X), math.log2(max(1, every - sum(cells))))
    for rows, many in zip(inside, cells, strict=True):
        out[rows] = math.log2(max(1, many))
    return out / math.log2(every)


def _values(column: Column) -> Floats:
    """One value of each cell of a column."""
    if column.kind == "category":
        return np.arange(len(column.categories), dtype=np.float64)
    low = column.low if np.isfinite(column.low) else column.centre - OUTER * column.spread
    high = column.high if np.isfinite(column.high) else column.centre + OUTER * column.spread
    if column.kind == "integer" and high - low < PARTS:
        return np.arange(low, high + 1)
    return np.asarray(low + (np.arange(PARTS) + 0.5) * (high - low) / PARTS)


def _cells(premise: Sequence[Condition], values: Sequence[Floats]) -> int:
    """How many cells of the table agree with a premise, counted column by column.

    state: how many terms of each "at least m of" are true so far; the rest of a premise is decided in one column.
    """
    several = [c for c in premise if isinstance(c, AtLeast)]
    single = [c for c in premise if isinstance(c, Term)]
    states = Counter({(0,) * len(several): 1})
    for j, value in enumerate(values):
        allowed = np.ones(len(value), dtype=bool)
        for term in single:
            allowed &= term.allows(value) if term.column == j else True
        kinds = Counter(_true_terms(several, j, v) for v in value[allowed])
        after: Counter[tuple[int, ...]] = Counter()
        for state, many in states.items():
            for more, times in kinds.items():
                after[tuple(a + b for a, b in zip(state, more, strict=True))] += many * times
        states = after
    return sum(n for state, n in states.items() if all(s >= c.m for s, c in zip(state, several, strict=True)))


def _true_terms(several: Sequence[AtLeast], column: int, value: float) -> tuple[int, ...]:
    """How many terms about this column are true of a value, in each "at least m of"."""
    at = np.array([value])
    return tuple(sum(bool(t.allows(at)[0]) for t in c.terms if t.column == column) for c in several)
