"""Rules that people can read: what they say, whom they cover, and how far the surrogate behind them can be trusted.

n rows, D raw columns, R rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.protocols import Model
from jali.core.values import Bools, Column, Floats, Ints, Schema

LISTED = 6  # categories that a sentence names; more are counted


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
        """Whether values (n,) of the column fulfil it."""
        if self.codes is None:
            return np.asarray((self.low < values) & (values <= self.high))
        return np.isin(values.astype(np.int64), np.array(self.codes, dtype=np.int64))

    def holds(self, X: Floats) -> Bools:
        """Whether it is true (n,) of raw rows (n, D)."""
        return self.allows(X[:, self.column])

    def sentence(self, schema: Schema, verb: str = "is") -> str:
        """The condition in words; bounds have six digits, whole numbers are exact."""
        column = schema.columns[self.column]
        told = _among(column, self.codes) if self.codes is not None else _between(column, self.low, self.high)
        return f"{column.name} {verb} {told}"


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
        """Whether it is true (n,) of raw rows (n, D)."""
        return np.asarray(np.sum([term.holds(X) for term in self.terms], axis=0) >= self.m)

    def sentence(self, schema: Schema, verb: str = "is") -> str:
        """The condition in words."""
        return f"at least {self.m} of ({'; '.join(term.sentence(schema, verb) for term in self.terms)})"


Condition = Term | AtLeast


@dataclass(frozen=True)
class Rule:
    """Rows of which the whole premise is true have this outcome; an empty premise is true of all.

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
        """Of which raw rows (n, D) the premise is true (n,)."""
        out = np.ones(len(X), dtype=bool)
        for condition in self.premise:
            out &= condition.holds(X)
        return out

    def sentence(self, schema: Schema) -> str:
        """The rule in words."""
        told = " and ".join(condition.sentence(schema) for condition in self.premise)
        outcome = schema.classes[self.outcome]
        return f"If {told}, then {outcome}." if told else f"In all cases {outcome}."

    def change(self, x: Floats, schema: Schema) -> str:
        """What would have to be otherwise for a record x (D,) to obey the rule, beside what is; the rest stays."""
        told = [c.sentence(schema, "were") + _now(c, x, schema) for c in self.premise if not c.holds(x[None])[0]]
        outcome = schema.classes[self.outcome]
        if not told:
            return f"Nothing would have to change for the outcome to be {outcome}."
        return f"If {' and '.join(told)}, the outcome would be {outcome}."


def narrowed(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The same premise with all terms on one column made one, in the order in which columns first appear.

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
    """A model that can be read."""

    def rules(self) -> tuple[Rule, ...]:
        """The rules that people are shown."""


def published(surrogate: Surrogate) -> tuple[Rule, ...]:
    """All rules of the models of a surrogate that can be read, each once, in the order in which they first appear."""
    shown = (rule for model in surrogate.models if isinstance(model, Readable) for rule in model.rules())
    return tuple(dict.fromkeys(shown))


def support(rules: Sequence[Rule], X: Floats) -> Ints:
    """How many of the raw rows (n, D) each rule covers, (R,)."""
    return np.array([rule.covers(X).sum() for rule in rules], dtype=np.int64)


def exposing(rules: Sequence[Rule], X: Floats, k: int) -> Bools:
    """Which rules (R,) cover some of the training rows (n, D) but fewer than k: each speaks of so few people.

    >>> exposing([Rule((Term(0, high=2.0),), 0), Rule((Term(0, low=2.0),), 1)], np.array([[1.0], [3.0], [4.0]]), k=2)
    array([ True, False])
    """
    if k < 1:
        raise JaliError(f"A crowd is of at least 1 person: k must be at least 1, not {k}.")
    count = support(rules, X)
    return np.asarray((count > 0) & (count < k))


def crowd(surrogate: Surrogate, X: Floats, people: Floats) -> Ints:
    """How many training rows, people (m, D), share the rule that each of the records X (n, D) is told of itself, (n,).

    That is the first rule of its model that is true of it; 0 where none is. A record that was trained on counts
    itself: 1 then means that the rule is about this person alone.
    """
    out = np.zeros(len(X), dtype=np.int64)
    for at in np.unique(surrogate.which):
        model, todo = surrogate.models[at], surrogate.which == at
        for rule in model.rules() if isinstance(model, Readable) else ():
            mine = todo & rule.covers(X)
            if mine.any():
                out[mine], todo = support([rule], people)[0], todo & ~mine
    return out


def fidelity(surrogate: Model, black_box: Model, X: Floats) -> float:
    """Share of raw rows (n, D) on which a surrogate predicts what the black box predicts."""
    return accuracy(surrogate, X, black_box.logits(X).argmax(axis=1))


def accuracy(surrogate: Model, X: Floats, y: Ints) -> float:
    """Share of raw rows (n, D) on which a surrogate predicts the true class y (n,)."""
    if not len(X):
        raise JaliError("Agreement is a share of rows, and there are none: pass at least one.")
    return float((surrogate.logits(X).argmax(axis=1) == y).mean())


def hits(surrogate: Surrogate, black_box: Model, X: Floats) -> Bools:
    """Whether the model that explains each of the raw rows (n, D) predicts for it what the black box does, (n,)."""
    label, own = black_box.logits(X).argmax(axis=1), np.empty(len(X), dtype=np.int64)
    for at in np.unique(surrogate.which):
        mine = surrogate.which == at
        own[mine] = surrogate.models[at].logits(X[mine]).argmax(axis=1)
    return np.asarray(own == label)


def _both(one: Term, other: Term) -> Term:
    if one.codes is None or other.codes is None:
        return Term(one.column, max(one.low, other.low), min(one.high, other.high))
    return Term(one.column, codes=tuple(code for code in one.codes if code in other.codes))


def _between(column: Column, low: float, high: float) -> str:
    """Bounds of a number, those of a whole number drawn in to whole numbers."""
    above = "above"
    if column.kind == "integer":
        above, low, high = "at least", np.floor(low) + 1, np.floor(high)
    if low == high:
        return _number(low)
    told = [f"{above} {_number(low)}"] if np.isfinite(low) else []
    told += [f"at most {_number(high)}"] if np.isfinite(high) else []
    return " and ".join(told) or "anything"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == np.rint(value) and abs(value) < 1e15 else f"{value:,.6g}"


def _among(column: Column, codes: tuple[int, ...]) -> str:
    """The categories that are allowed, or those that are not where they are fewer."""
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
    told = [c.categories[int(v)] if c.kind == "category" else _number(v) for c, v in zip(columns, values, strict=True)]
    return f" (now {'; '.join(told)})"
