"""The values that flow between parts.

N records, M models, T targets, S signals, D raw columns, P encoded features, C classes.
Arrays are frozen on the way in, and every shape is checked here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Rng = np.random.Generator
Kind = Literal["number", "integer", "category"]
Role = Literal["quasi", "private"]

LARGEST = 1e300  # values of signals beyond it have no sum over all records


class Channel(StrEnum):
    """What the attacker sees of a record.

    >>> Channel.SCORE.explained, Channel.SCORE.with_explanation.value, Channel.SCORE.with_explanation.base.value
    (False, 'score+explanation', 'score')
    """

    SCORE = "score"
    DECISION = "decision"
    EXPLANATION = "explanation"
    SCORE_AND_EXPLANATION = "score+explanation"
    DECISION_AND_EXPLANATION = "decision+explanation"

    @property
    def explained(self) -> bool:
        """Whether an explanation is seen."""
        return self not in (Channel.SCORE, Channel.DECISION)

    @property
    def base(self) -> Channel | None:
        """What is seen of the prediction."""
        bases = {Channel.SCORE_AND_EXPLANATION: Channel.SCORE, Channel.DECISION_AND_EXPLANATION: Channel.DECISION}
        return bases.get(self, None if self.explained else self)

    @property
    def label(self) -> str:
        """How curves and tables call it, such as "score + explanation"."""
        return self.value.replace("+", " + ")

    @property
    def with_explanation(self) -> Channel:
        """The same, and an explanation beside it."""
        both = {Channel.SCORE: Channel.SCORE_AND_EXPLANATION, Channel.DECISION: Channel.DECISION_AND_EXPLANATION}
        return both.get(self, self)


class Unit(StrEnum):
    """The scale on which a signal is stored; an attack may read it on others."""

    PLAIN = "plain"
    LOG_ODDS = "log-odds"
    LOG_PROBABILITY = "log-probability"
    PROBABILITY = "probability"
    LOG = "log"
    MINUS_LOG = "minus log"
    YES_NO = "yes or no"


@dataclass(frozen=True)
class SignalName:
    """A signal of the explanations of an explainer, by specification; without an explainer, one of the prediction.

    part: of a signal with several numbers per record, which one.

    >>> print(SignalName("loss"), SignalName("counterfactual_distance", "scfe"), SignalName("attributions", "lime", 2))
    loss scfe/counterfactual_distance lime/attributions[2]
    """

    signal: str
    explainer: str = ""
    part: int | None = None

    def __str__(self) -> str:
        name = self.signal if self.part is None else f"{self.signal}[{self.part}]"
        return f"{self.explainer}/{name}" if self.explainer else name


def frozen(array: npt.ArrayLike, dtype: Any, shape: tuple[int | None, ...], name: str) -> npt.NDArray[Any]:
    """Return a read-only array of this dtype, or raise an error that names the wrong axis; None: any length."""
    try:
        out = np.asarray(array, dtype=dtype)
    except (ValueError, TypeError):
        raise JaliError(f"{name} must be an array of {np.dtype(dtype).name}, with rows of one length.") from None
    if out.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, out.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise JaliError(f"{name} must have shape ({wanted}), not {out.shape}.")
    if out.flags.writeable:
        out = out.copy() if out.base is not None or out is array else out
        out.setflags(write=False)
    return out


@dataclass(frozen=True)
class Column:
    """One raw column: its kind, its legal values, and its role in identifying a person.

    Numbers and integers have bounds and a public centre and spread, which scale them as encoded features;
    a category is stored as its position in `categories`. Quasi-identifiers may link a row to a person. known: whether
    bounds and scale (of a category: its categories) were declared, the bounds alone were, or all were taken from the
    rows. missing: a number may be missing, NaN in the raw table; a missing category is a category of its own. date: a
    number is a date, in days since 1970-01-01.
    """

    name: str
    kind: Kind = "number"
    low: float = -np.inf
    high: float = np.inf
    centre: float = 0.0
    spread: float = 1.0
    categories: tuple[str, ...] = ()
    mutable: bool = True
    role: Role = "private"
    known: Literal["declared", "bounds", "observed"] = "declared"
    missing: bool = field(default=False, repr=False)  # the repr seeds streams, which it must not change
    date: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Schema:
    """What a table's columns mean, and which outcome people hope for (None: no outcome is better).

    image: channels, height and width where a row is a picture, its columns in that order. outcome: whether the classes
    were declared, or taken from the rows; it changes no number, so it is not part of the repr, which seeds streams.
    notes: what was decided about the columns of a user's own table, in sentences.
    """

    columns: tuple[Column, ...]
    classes: tuple[str, ...] = ("0", "1")
    favourable: int | None = None
    sensitive: str | None = None
    target: str = "target"
    image: tuple[int, int, int] | None = None
    outcome: Literal["declared", "observed"] = field(default="declared", repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [c.name for c in self.columns]
        if len(set(names)) < len(names):
            repeated = next(n for n in names if names.count(n) > 1)
            raise JaliError(f"Column names must be unique; {repeated!r} stands more than once.")
        if flat := next((c for c in self.columns if not c.spread > 0), None):
            raise JaliError(f"Column {flat.name!r} must have a positive spread, not {flat.spread}.")
        if self.sensitive is not None and self.sensitive not in names:
            raise JaliError(f"The sensitive column {self.sensitive!r} is not a column of the table.")
        if self.image is not None and np.prod(self.image) != len(names):
            raise JaliError(
                f"An image of {self.image} has {np.prod(self.image)} columns, and the table has {len(names)}."
            )

    def index(self, name: str) -> int:
        """Position of a column."""
        return [c.name for c in self.columns].index(name)


@dataclass(frozen=True)
class Dataset:
    """A raw table: X (N, D) numbers and category codes, y (N,) class numbers, groups (N,) of rows of one person.

    outcome (N,): for a regression model, the true value minus the threshold, in units of its spread; y says on which
    side of the threshold it lies.

    >>> data = Dataset(np.zeros((2, 1)), [0, 1], Schema((Column("age"),)))
    >>> len(data), data.X.flags.writeable
    (2, False)
    """

    X: Floats
    y: Ints
    schema: Schema
    groups: Ints | None = None
    outcome: Floats | None = None

    def __post_init__(self) -> None:
        X = frozen(self.X, np.float64, (None, len(self.schema.columns)), "X")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", frozen(self.y, np.int64, (len(X),), "y"))
        if self.groups is not None:
            object.__setattr__(self, "groups", frozen(self.groups, np.int64, (len(X),), "groups"))
        if self.outcome is not None:
            object.__setattr__(self, "outcome", frozen(self.outcome, np.float64, (len(X),), "outcome"))
        if not np.isfinite(X).all():
            _check_gaps(X, self.schema)
        if len(X) and not (self.y.min() >= 0 and self.y.max() < len(self.schema.classes)):
            raise JaliError(f"y must hold class numbers from 0 to {len(self.schema.classes) - 1}.")

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def levels(self) -> tuple[Floats, ...]:
        """Of each column the values that occur, sorted."""
        return tuple(np.unique(column) for column in self.X.T)

    def rows(self, which: Bools | Ints) -> Dataset:
        """The chosen rows, in the order given."""
        groups = None if self.groups is None else self.groups[which]
        outcome = None if self.outcome is None else self.outcome[which]
        return Dataset(self.X[which], self.y[which], self.schema, groups, outcome)

    def group_numbers(self) -> Ints:
        """Group number (N,) of each row, counted from zero; every row its own where no groups are named."""
        if self.groups is None:
            return np.arange(len(self))
        return np.unique(self.groups, return_inverse=True)[1].astype(np.int64)


def _check_gaps(X: Floats, schema: Schema) -> None:
    """Refuse infinite values, and missing ones in columns (N, D) that may not have any."""
    allowed = np.array([column.missing for column in schema.columns], dtype=bool)
    wrong = np.argwhere(~(np.isfinite(X) | (np.isnan(X) & allowed)))
    if len(wrong):
        row, column = wrong[0]
        name = schema.columns[column].name
        raise JaliError(f"Column {name!r} holds a missing or infinite value (row {row}): fill or drop such rows first.")


@dataclass(frozen=True)
class Game:
    """Who is in which training set, which models are attacked, with which shadow models, and which records are scored.

    member (N, M): record i is in the training set of model j. targets (T,): models attacked.
    shadows (T, M): shadow models of the adversary of target t. scored (N, T): records whose membership is guessed.
    asked (N, M): the cells (record, model) that are queried, including all that are scored; None: all cells.
    aside (N,): people set aside, who are in no training set and never scored; only attacks that compare records with
    known non-members see them. None: nobody.
    weight (N, T): how much a scored record counts, where non-members are weighted to resemble the members; 0: it is not
    judged after all. None: all the same.
    person (N,): whose record each is, where a person has several; None: every record is a person of its own.
    """

    member: Bools
    targets: Ints
    shadows: Bools
    scored: Bools
    asked: Bools | None = None
    aside: Bools | None = None
    weight: Floats | None = None
    person: Ints | None = None

    def __post_init__(self) -> None:
        member = frozen(self.member, bool, (None, None), "member")
        n, m = member.shape
        targets = frozen(self.targets, np.int64, (None,), "targets")
        if len(targets) == 0 or targets.min() < 0 or targets.max() >= m:
            raise JaliError(f"targets must name at least one of the {m} models, 0 to {m - 1}; got {targets.tolist()}.")
        if len(np.unique(targets)) < len(targets):
            raise JaliError(
                f"targets must name each model once: named twice, it would count as two; got {targets.tolist()}."
            )
        shadows = frozen(self.shadows, bool, (len(targets), m), "shadows")
        if shadows[np.arange(len(targets)), targets].any():
            raise JaliError("A target must not be its own shadow.")
        object.__setattr__(self, "member", member)
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "shadows", shadows)
        object.__setattr__(self, "scored", frozen(self.scored, bool, (n, len(targets)), "scored"))
        kinds: dict[str, Any] = {"person": np.int64, "weight": np.float64}
        for name, shape in {"asked": (n, m), "aside": (n,), "person": (n,), "weight": self.scored.shape}.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), kinds.get(name, bool), shape, name))
        if self.asked is not None and (self.scored & ~self.asked[:, targets]).any():
            raise JaliError("Every record that is scored must also be asked about under its target: extend `asked`.")
        if self.aside is not None and (self.aside & (member.any(axis=1) | self.scored.any(axis=1))).any():
            raise JaliError("People set aside must be in no training set and must not be scored.")
        if self.weight is not None:
            if not (np.isfinite(self.weight).all() and np.all(self.weight >= 0)):
                raise JaliError("The weights of records must be finite numbers of at least 0.")
            if not self.judged().any(axis=0).all():
                raise JaliError("Under some target all records that are scored have a weight of 0: nobody would count.")

    def cells(self) -> Bools:
        """The cells (N, M) that are queried."""
        return np.broadcast_to(np.True_, self.member.shape) if self.asked is None else self.asked

    def judged(self) -> Bools:
        """The records (N, T) that are scored and count."""
        return self.scored if self.weight is None else np.asarray(self.scored & (self.weight > 0))

    def reference(self, t: int) -> Bools:
        """Records (N,) that are queried under target t, not scored there, and not in its training set.

        >>> game = Game([[True], [False], [False]], [0], [[False]], [[True], [True], [False]])
        >>> game.reference(0)
        array([False, False,  True])
        """
        column = self.targets[t]
        return np.asarray(self.cells()[:, column] & ~self.scored[:, t] & ~self.member[:, column])


@dataclass(frozen=True)
class Evidence:
    """Named signals of every record under every model; larger = more member-like, everywhere, always.

    value (S, N, M); observed (S, N, M): where a signal was computed; elsewhere value is zero. member (N, M). units:
    the scale of each signal, plain where none is named.
    """

    names: tuple[SignalName, ...]
    value: Floats
    observed: Bools
    member: Bools
    units: tuple[Unit, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.names), None, None)
        if not self.units:
            object.__setattr__(self, "units", (Unit.PLAIN,) * len(self.names))
        if len(self.units) != len(self.names):
            raise JaliError(f"There are {len(self.names)} signals and {len(self.units)} units: give one each, or none.")
        value = frozen(self.value, np.float64, shape, "value")
        observed = frozen(self.observed, bool, value.shape, "observed")
        object.__setattr__(self, "member", frozen(self.member, bool, value.shape[1:], "member"))
        object.__setattr__(self, "observed", observed)
        gaps = False
        for name, cells, mask in zip(self.names, value, observed, strict=True):
            whole = bool(mask.all())
            gaps |= not whole
            if not _within_reach(cells if whole else cells[mask][:, None]):
                raise JaliError(
                    f"Signal '{name}' holds missing or infinite values, or some beyond ±{LARGEST:g}, where it is "
                    "marked as observed: mark gaps as not observed, and divide larger numbers by a constant."
                )
        if gaps and value[~observed].any():
            value = frozen(np.where(observed, value, 0.0), np.float64, shape, "value")
        object.__setattr__(self, "value", value)

    @staticmethod
    def of_checked(
        names: tuple[SignalName, ...], value: Floats, observed: Bools, member: Bools, units: tuple[Unit, ...]
    ) -> Evidence:
        """Evidence from arrays that were those of evidence before, which are not looked through again."""
        out = object.__new__(Evidence)
        out.__dict__.update(names=names, value=value, observed=observed, member=member, units=units)
        return out

    def pick(self, names: tuple[SignalName, ...]) -> Evidence:
        """The named signals only, in the order given."""
        if names == self.names:
            return self
        if missing := [n for n in names if n not in self.names]:
            known = ", ".join(map(str, self.names))
            raise JaliError(f"There is no signal {str(missing[0])!r}; there are {known}.")
        at = [self.names.index(n) for n in names]
        return Evidence(names, self.value[at], self.observed[at], self.member, tuple(self.units[i] for i in at))


def _within_reach(cells: Floats) -> bool:
    """Whether all cells (N, M) are numbers that can be summed, a few records at a time: evidence is large."""
    step = max(1, 1_000_000 // max(1, cells.shape[1]))
    parts = (cells[start : start + step] for start in range(0, len(cells), step))
    return all(bool((np.abs(part) <= LARGEST).all()) for part in parts)


class Seen:
    """A lazy, memoised view of what an adversary sees of one tile; reading what was not declared in `needs` raises.

    >>> seen = Seen({"y": lambda: np.array([1]), "logits": lambda: np.zeros((1, 2))})
    >>> seen.only(frozenset({"y"})).logits
    Traceback (most recent call last):
    jali.core.errors.JaliError: 'logits' was read but not declared in needs = {y}.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]], needs: frozenset[str] | None = None) -> None:
        self._makers = makers
        self._needs = frozenset(makers) if needs is None else needs
        self._memo: dict[str, Any] = {}

    def only(self, needs: frozenset[str]) -> Seen:
        """The same tile, restricted to what a signal declares; computed values are shared."""
        view = Seen(self._makers, needs)
        view._memo = self._memo
        return view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._needs:
            raise JaliError(f"{name!r} was read but not declared in needs = {{{', '.join(sorted(self._needs))}}}.")
        if name not in self._memo:
            self._memo[name] = self._makers[name]()
        return self._memo[name]
