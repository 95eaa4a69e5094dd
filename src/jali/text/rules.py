"""Rules as sentences, which rows they cover, and how well their surrogate imitates the black box.

n rows, D raw columns, R rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.protocols import Model
from jali.core.values import Bools, Column, Dataset, Floats, Ints, Schema
from jali.text.shares import whole_percent

FEW = 10  # training rows below which the share for which a rule holds is not told
LISTED = 6  # most categories that a sentence names; further ones are counted


@dataclass(frozen=True)
class Term:
    """A condition on one raw column: low < x <= high for numbers, x among `codes` for categories.

    >>> schema = Schema((Column("age", "integer"), Column("job", "category", categories=("cook", "spy", "vet", "dj"))))
    >>> Term(0, low=30.5).sentence(schema), Term(1, codes=(0, 2)).sentence(schema)
    ('age is at least 31', 'job is cook or vet')
    >>> Term(0, low=30.5).holds(np.array([[30.0, 0], [31.0, 1]]))
    array([False,  True])
    """

    column: int
    low: float = -np.inf
    high: float = np.inf
    codes: tuple[int, ...] | None = None

    def allows(self, values: Floats) -> Bools:
        """Whether values (n,) of the column satisfy the condition."""
        if self.codes is None:
            return np.asarray((self.low < values) & (values <= self.high))
        return np.isin(values.astype(np.int64), np.array(self.codes, dtype=np.int64))

    def holds(self, X: Floats) -> Bools:
        """Whether the condition is true (n,) of raw rows (n, D)."""
        return self.allows(X[:, self.column])

    def sentence(self, schema: Schema, verb: str = "is") -> str:
        """The condition in words; bounds are written with six digits, whole numbers exactly."""
        column = schema.columns[self.column]
        condition = _among(column, self.codes) if self.codes is not None else _between(column, self.low, self.high)
        return f"{column.name} {verb} {condition}"


@dataclass(frozen=True)
class AtLeast:
    """At least `m` of some terms.

    >>> some = AtLeast(2, (Term(0, high=30.5), Term(1, low=5.0), Term(1, low=9.0)))
    >>> some.sentence(Schema((Column("age", "integer"), Column("income"))))
    'at least 2 of (age is at most 30; income is above 5; income is above 9)'
    >>> some.holds(np.array([[30.0, 6.0], [31.0, 6.0], [31.0, 10.0]]))
    array([ True, False,  True])
    """

    m: int
    terms: tuple[Term, ...]

    def holds(self, X: Floats) -> Bools:
        """Whether the condition is true (n,) of raw rows (n, D)."""
        return np.asarray(np.sum([term.holds(X) for term in self.terms], axis=0) >= self.m)

    def sentence(self, schema: Schema, verb: str = "is") -> str:
        """The condition in words."""
        return f"at least {self.m} of ({'; '.join(term.sentence(schema, verb) for term in self.terms)})"


Condition = Term | AtLeast


class Held(NamedTuple):
    """How far a rule holds: how many training rows it covers, and how many of these the model gives its outcome.

    >>> Held(130, 94).sentence(), Held(7, 7).sentence(), Held(0, 0).sentence()
    (' (true of 72 % of the training rows that this covers)', ' (this covers fewer than 10 training rows)', \
' (this covers no training row)')
    """

    covered: int
    right: int

    def sentence(self) -> str:
        """The share in words; of few rows it is not told, because it would describe single people."""
        if not self.covered:
            return " (this covers no training row)"
        if self.covered < FEW:
            return f" (this covers fewer than {FEW} training rows)"
        return f" (true of {whole_percent(self.right / self.covered)} of the training rows that this covers)"


@dataclass(frozen=True)
class Rule:
    """Rows for which all conditions of the premise are true have this outcome; an empty premise covers all rows.

    >>> schema = Schema((Column("age", "integer"), Column("income")), classes=("denied", "granted"))
    >>> rule = Rule((Term(0, high=30.5), Term(1, low=5.0, high=9.0)), 1)
    >>> rule.sentence(schema)
    'If age is at most 30 and income is above 5 and at most 9, then granted.'
    >>> rule.covers(np.array([[30.0, 6.0], [30.0, 10.0]]))
    array([ True, False])
    >>> rule.change(np.array([30.0, 3.0]), schema)
    'If income were above 5 and at most 9 (now 3), the outcome would be granted.'
    """

    premise: tuple[Condition, ...]
    outcome: int

    def covers(self, X: Floats) -> Bools:
        """Which raw rows (n, D) satisfy the premise (n,)."""
        out = np.ones(len(X), dtype=bool)
        for condition in self.premise:
            out &= condition.holds(X)
        return out

    def sentence(self, schema: Schema, held: Held | None = None) -> str:
        """The rule in words; held: how far it holds, if that is to be told."""
        premise = " and ".join(condition.sentence(schema) for condition in self.premise)
        outcome = schema.classes[self.outcome]
        how = "" if held is None else held.sentence()
        return f"If {premise}, then {outcome}{how}." if premise else f"In all cases {outcome}{how}."

    def change(self, x: Floats, schema: Schema, held: Held | None = None) -> str:
        """The changes after which the rule would cover a record x (D,), in words, with the present values."""
        changes = [c.sentence(schema, "were") + _now(c, x, schema) for c in self.premise if not c.holds(x[None])[0]]
        outcome = schema.classes[self.outcome]
        if not changes:
            return f"Nothing would have to change for the outcome to be {outcome}."
        how = "" if held is None else held.sentence()
        return f"If {' and '.join(changes)}, the outcome would be {outcome}{how}."


def narrowed(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The same premise with all terms on one column merged, in the order in which columns first appear.

    >>> narrowed((Term(0, high=9.0), Term(1, codes=(0, 1)), Term(0, low=2.0), Term(1, codes=(1, 2))))
    (Term(column=0, low=2.0, high=9.0, codes=None), Term(column=1, low=-inf, high=inf, codes=(1,)))
    """
    single: dict[int, Term] = {}
    several: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, AtLeast):
            several += [condition] if condition not in several else []
        else:
            before = single.get(condition.column)
            single[condition.column] = condition if before is None else _both(before, condition)
    return (*single.values(), *several)


@runtime_checkable
class Readable(Protocol):
    """A model that can be read as rules."""

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are shown to people."""


@runtime_checkable
class Prunable(Readable, Protocol):
    """A readable model that can be cut back until no rule speaks of few people."""

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D)."""

    def pruned(self, train: Dataset, labels: Ints, k: int) -> Prunable:
        """The model whose rules each cover at least k training people; labels (N,): the black box's classes."""


def published(surrogate: Surrogate) -> tuple[Rule, ...]:
    """All rules of the readable models of a surrogate, each once, in the order in which they first appear."""
    shown = (rule for model in surrogate.models if isinstance(model, Readable) for rule in model.rules())
    return tuple(dict.fromkeys(shown))


def support(rules: Sequence[Rule], X: Floats) -> Ints:
    """How many of the raw rows (n, D) each rule covers, (R,)."""
    return np.array([rule.covers(X).sum() for rule in rules], dtype=np.int64)


def holding(rules: Sequence[Rule], X: Floats, labels: Ints) -> tuple[Held, ...]:
    """How far each rule holds on raw rows (n, D) that the model gives these labels (n,).

    >>> holding([Rule((Term(0, low=2.0),), 1)], np.array([[1.0], [3.0], [4.0]]), np.array([0, 1, 0]))
    (Held(covered=2, right=1),)
    """
    inside = [rule.covers(X) for rule in rules]
    right = [int((labels[rows] == rule.outcome).sum()) for rule, rows in zip(rules, inside, strict=True)]
    return tuple(Held(int(rows.sum()), many) for rows, many in zip(inside, right, strict=True))


def exposing(rules: Sequence[Rule], X: Floats, k: int) -> Bools:
    """Which rules (R,) cover some of the training rows (n, D) but fewer than k, and so describe only a few people.

    >>> exposing([Rule((Term(0, high=2.0),), 0), Rule((Term(0, low=2.0),), 1)], np.array([[1.0], [3.0], [4.0]]), k=2)
    array([ True, False])
    """
    if k < 1:
        raise JaliError(f"k must be at least 1, not {k}: it is the number of people that a rule should cover.")
    count = support(rules, X)
    return np.asarray((count > 0) & (count < k))


def rule_support(surrogate: Surrogate, X: Floats, train: Floats) -> Ints:
    """How many training rows, train (m, D), are covered by the factual rule of each of the records X (n, D), (n,).

    The factual rule of a record is the first rule of its model that covers it; the count is 0 where there is none. A
    record of the training set is counted too, so 1 then means that its rule describes this person alone.
    """
    out = np.zeros(len(X), dtype=np.int64)
    for at in np.unique(surrogate.which):
        model, todo = surrogate.models[at], surrogate.which == at
        for rule in model.rules() if isinstance(model, Readable) else ():
            mine = todo & rule.covers(X)
            if mine.any():
                out[mine] = support([rule], train)[0]
                todo = todo & ~mine
    return out


def fidelity(surrogate: Model, black_box: Model, X: Floats) -> float:
    """Share of raw rows (n, D) on which a surrogate predicts what the black box predicts."""
    return accuracy(surrogate, X, black_box.logits(X).argmax(axis=1))


def accuracy(surrogate: Model, X: Floats, y: Ints) -> float:
    """Share of raw rows (n, D) on which a surrogate predicts the true class y (n,)."""
    if not len(X):
        raise JaliError("Fidelity and accuracy are shares of rows, and there are none: pass at least one row.")
    return float((surrogate.logits(X).argmax(axis=1) == y).mean())


def hits(surrogate: Surrogate, black_box: Model, X: Floats) -> Bools:
    """Whether the surrogate model of each of the raw rows (n, D) predicts the same class as the black box, (n,)."""
    label = black_box.logits(X).argmax(axis=1)
    own = np.empty(len(X), dtype=np.int64)
    for at in np.unique(surrogate.which):
        mine = surrogate.which == at
        own[mine] = surrogate.models[at].logits(X[mine]).argmax(axis=1)
    return np.asarray(own == label)


def _both(one: Term, other: Term) -> Term:
    if one.codes is None or other.codes is None:
        return Term(one.column, max(one.low, other.low), min(one.high, other.high))
    return Term(one.column, codes=tuple(code for code in one.codes if code in other.codes))


def _between(column: Column, low: float, high: float) -> str:
    """The bounds of a number in words; those of an integer column as whole numbers."""
    above = "above"
    if column.kind == "integer":
        above = "at least"
        low = np.floor(low) + 1
        high = np.floor(high)
    if low == high:
        return _number(low)
    bounds = [f"{above} {_number(low)}"] if np.isfinite(low) else []
    bounds += [f"at most {_number(high)}"] if np.isfinite(high) else []
    return " and ".join(bounds) or "anything"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == np.rint(value) and abs(value) < 1e15 else f"{value:,.6g}"


def _among(column: Column, codes: tuple[int, ...]) -> str:
    """The allowed categories in words, or the excluded ones where they are fewer."""
    rest = [code for code in range(len(column.categories)) if code not in codes]
    named, denial = (list(codes), "") if len(codes) <= len(rest) else (rest, "not ")
    if not named:
        return "anything" if codes else "nothing"
    words = [column.categories[code] for code in named]
    listed = words if len(words) <= LISTED else [*words[: LISTED - 1], f"{len(words) - LISTED + 1} others"]
    return denial + " or ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def _now(condition: Condition, x: Floats, schema: Schema) -> str:
    """The values of a record x (D,) in the columns that a condition names."""
    terms = condition.terms if isinstance(condition, AtLeast) else (condition,)
    columns = [schema.columns[term.column] for term in terms]
    values = [x[term.column] for term in terms]
    texts = [c.categories[int(v)] if c.kind == "category" else _number(v) for c, v in zip(columns, values, strict=True)]
    return f" (now {'; '.join(texts)})"
