"""Differential-privacy guarantees: the epsilon, the adjacency, and which releases are covered."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, get_args, runtime_checkable

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Adjacency = Literal["replace-one", "add-remove"]
Covered = Literal["decisions", "explanations", "one noised score"]
Noise = Literal["pure", "laplace"]
Constant = Literal["bounds", "scale", "categories", "classes"]
CONSTANTS: tuple[Constant, ...] = get_args(Constant)
NAMED = 5  # columns that a sentence names before it only counts
HOW = "declare them in a schema file (--declare columns.toml)"
SECRET = "the random draws and their seed stay secret: whoever can repeat the noise can subtract it"


@dataclass(frozen=True)
class Guarantee:
    """A claim of (epsilon, delta) differential privacy in the training data.

    adjacency: data sets that differ by one record replaced, or by one added or removed. covers: what may be released
    under it. per: whether epsilon is spent by each release, or by all releases together. assumes: conditions of this
    mechanism beside the proof (`conditions` adds those of every claim). decides: the constants of the schema that
    influence decisions; all of them influence explanations, which are computed in its units and kept within its bounds.
    refuted: why the claim is known to be false, if it is. void: which condition is visibly not met, so that nothing
    is claimed.

    >>> claim = Guarantee("objective perturbation", 1.0, "replace-one", ("decisions", "explanations"))
    >>> print(claim)
    epsilon = 1 in total (objective perturbation, replace-one), for decisions and explanations
    >>> print(claim.on(Schema((Column("age", known="observed"),))).void.partition(";")[0])
    bounds and scale of 1 column (age) were taken from the rows
    """

    mechanism: str
    epsilon: float
    adjacency: Adjacency
    covers: tuple[Covered, ...]
    per: Literal["release", "total"] = "total"
    delta: float = 0.0
    noise: Noise = "pure"
    assumes: tuple[str, ...] = ()
    decides: tuple[Constant, ...] = CONSTANTS
    refuted: str = ""
    void: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise JaliError(f"{self.mechanism}: epsilon must be positive and finite, not {self.epsilon}.")
        if not 0 <= self.delta < 1:
            raise JaliError(f"{self.mechanism}: delta must be at least 0 and below 1, not {self.delta}.")
        if self.adjacency not in get_args(Adjacency):
            raise JaliError(
                f"{self.mechanism}: a claim needs its adjacency, {' or '.join(get_args(Adjacency))}, "
                f"not {self.adjacency!r}."
            )

    def __str__(self) -> str:
        delta = f", delta = {self.delta:g}" if self.delta else ""
        when = "a release" if self.per == "release" else "in total"
        text = f"epsilon = {self.epsilon:g}{delta} {when} ({self.mechanism}, {self.adjacency})"
        text = f"{text}, for {' and '.join(self.covers)}" if self.covers else text
        return f"VOID: {self.void} (the claim would be: {text})" if self.void else text

    @property
    def conditions(self) -> tuple[str, ...]:
        """All conditions beside the proof: those of this claim, and those of every claim."""
        return (*self.assumes, SECRET)

    def on(self, schema: Schema | None) -> Self:
        """The claim about data of this schema: as it is, for decisions alone, or void.

        Constants that were taken from the rows are a release of their own, which no epsilon covers. Without a schema
        this cannot be checked, and the claim is returned as it is.
        """
        if schema is None or self.void:
            return self
        reason = taken(schema, CONSTANTS)
        if not reason or not {"decisions", "explanations"} & set(self.covers):
            return self
        if "decisions" not in self.covers or taken(schema, self.decides):
            return replace(self, void=reason)
        assumes = (*self.assumes, f"explanations are not covered: {reason}")
        return replace(self, covers=("decisions",), assumes=assumes)

    def of_explanations(self, schema: Schema | None) -> Self:
        """The claim about explanations alone of data of this schema: as it is, or void."""
        found = self.on(schema)
        if schema is None or "explanations" in found.covers or "explanations" not in self.covers:
            return found
        return replace(self, void=taken(schema, CONSTANTS))

    def of_people(self, rows: int) -> Self:
        """The claim about people with up to so many rows: k epsilon, and delta (e^(k epsilon) - 1) / (e^epsilon - 1).

        >>> Guarantee("noise", 1.0, "replace-one", ("decisions",)).of_people(3).epsilon
        3.0
        """
        if rows <= 1:
            return self
        delta = 0.0
        if self.delta:
            delta = self.delta * math.expm1(min(rows * self.epsilon, 700.0)) / math.expm1(self.epsilon)
        if delta >= 1:
            return replace(self, void=f"one person has up to {rows} rows, and then its delta is not below 1")
        mechanism = f"{self.mechanism}, for people with up to {rows} rows"
        return replace(self, mechanism=mechanism, epsilon=rows * self.epsilon, delta=delta)

    def for_people_in(self, data: Dataset) -> Self:
        """The claim about the people of these data, as `of_people` where somebody has several rows."""
        if data.groups is None:
            return self
        return self.of_people(int(np.unique(data.groups, return_counts=True)[1].max()))

    def event(self) -> DpEvent:
        """One use of the mechanism for `dp-accounting`.

        Laplace noise is itself; any other pure guarantee is dominated by randomised response between two answers,
        which differ with probability 1 / (1 + e^epsilon).
        """
        dp = accounting()
        if self.delta:
            raise JaliError(f"{self.mechanism}: only pure guarantees are accounted for here, and delta = {self.delta}.")
        if self.noise == "laplace":
            return dp.LaplaceDpEvent(1 / self.epsilon)
        return dp.RandomizedResponseDpEvent(2 / (1 + math.exp(min(self.epsilon, 700.0))), 2)


@runtime_checkable
class Private(Protocol):
    """A part with a privacy guarantee: a trainer or an explainer."""

    def guarantee(self) -> Guarantee:
        """The guarantee."""
        ...


@runtime_checkable
class Verifiable(Private, Protocol):
    """A private part that `jali verify` can build from its name alone and test."""

    @classmethod
    def example(cls, epsilon: float) -> Self:
        """A part with this epsilon, for tables of standardised numbers."""
        ...


@runtime_checkable
class GaussianNoise(Protocol):
    """A guarantee based on Gaussian noise of a stated size: a dataclass with this field."""

    multiplier: float

    def event(self) -> DpEvent:
        """The noise with this multiplier, for `dp-accounting`."""
        ...


@runtime_checkable
class Unmet(Protocol):
    """A part that may lack what its guarantee needs; `guarantee` then raises, and `claim` returns a void one."""

    def claim(self) -> Guarantee:
        """The guarantee, void where something is missing."""
        ...


class VoidClaim(UserWarning):
    """A private part is used in a way in which its privacy claim is void."""


def announce(name: str, given: Guarantee, schema: Schema) -> None:
    """Warn that the claim of a private part is void for these data, entirely or for explanations."""
    found = given.on(schema)
    if found.void:
        warnings.warn(f"The privacy claim of {name} is VOID: {found.void}.", VoidClaim, stacklevel=3)
    elif found.covers != given.covers:
        why = given.of_explanations(schema).void
        warnings.warn(f"The privacy claim of {name} does not cover explanations: {why}.", VoidClaim, stacklevel=3)


@contextlib.contextmanager
def unannounced() -> Iterator[None]:
    """Suppress these warnings where a report states the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoidClaim)
        yield


def taken(schema: Schema, constants: Collection[Constant]) -> str:
    """Which of these constants of a schema were taken from the rows, and what to do; empty where none was.

    >>> taken(Schema((Column("age", known="bounds"), Column("sex", "category", known="observed"))), ["bounds"])
    ''
    """
    numbers = [c for c in schema.columns if c.kind != "category"]
    observed = [c for c in numbers if c.known == "observed" and {"bounds", "scale"} & set(constants)]
    scaled = [c for c in numbers if c.known == "bounds" and "scale" in constants]
    named = [c for c in schema.columns if c.kind == "category" and c.known != "declared" and "categories" in constants]
    found = [
        _of("bounds and scale", observed),
        _of("scale", scaled),
        _of("categories", named),
        f"the classes of {schema.target!r}" if "classes" in constants and schema.outcome != "declared" else "",
    ]
    reasons = [text for text in found if text]
    if not reasons:
        return ""
    listed = " and ".join(filter(None, [", ".join(reasons[:-1]), reasons[-1]]))
    return f"{listed} were taken from the rows; {HOW}"


def _of(what: str, columns: list[Column]) -> str:
    """A property of some columns in words, such as 'scale of 1 column (age)'; empty where there are none."""
    if not columns:
        return ""
    more = f" and {len(columns) - NAMED} more" if len(columns) > NAMED else ""
    names = ", ".join(c.name for c in columns[:NAMED]) + more
    return f"{what} of {len(columns)} column{'s' * (len(columns) > 1)} ({names})"


def accounting() -> Any:
    """The library dp-accounting, or one sentence on how to get it."""
    try:
        import dp_accounting
    except ImportError:
        raise JaliError("Privacy accounting needs dp-accounting: pip install 'jali-audit[dp]'.") from None
    return dp_accounting


class Allowed(NamedTuple):
    """The epsilon and delta that a claim allows between two data sets in which one record is replaced."""

    epsilon: float
    delta: float


def under_replacement(given: Guarantee) -> Allowed:
    """What a claim allows in the membership game and in `verify`, which replace one record.

    Under add-remove adjacency, a replacement is one record removed and one added: 2 epsilon and (1 + e^epsilon) delta.
    There is no way back: a claim under replace-one says nothing about a record that is only removed.

    >>> under_replacement(Guarantee("x", 1.0, "add-remove", ("decisions",), delta=0.0))
    Allowed(epsilon=2.0, delta=0.0)
    """
    if given.adjacency == "replace-one":
        return Allowed(given.epsilon, given.delta)
    return Allowed(2 * given.epsilon, min(1.0, given.delta * (1 + math.exp(min(given.epsilon, 700.0)))))
