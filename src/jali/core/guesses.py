"""What an attack is given, and what it says: values between signals and metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Game, Ints, Unit, frozen

NOT_FINITE = "An attack returned a score that is not finite."


@dataclass(frozen=True)
class Records:
    """What the adversary knows of the records themselves, for attacks that read them.

    features (N, P): the encoded rows. label (N,). person (N,): whose row it is. lot (N,): a random number in [0, 1),
    the same for all rows of a person, by which an attack splits people. reference (N,): people who are known not to be
    in the target's training set; they are never scored.
    """

    features: Floats
    label: Ints
    person: Ints
    lot: Floats
    reference: Bools

    def __post_init__(self) -> None:
        features = frozen(self.features, np.float64, (None, None), "features")
        object.__setattr__(self, "features", features)
        for name, dtype in {"label": np.int64, "person": np.int64, "lot": np.float64, "reference": bool}.items():
            object.__setattr__(self, name, frozen(vars(self)[name], dtype, (len(features),), name))


@dataclass(frozen=True)
class Target:
    """What the adversary sees of the attacked model: value and observed (S, N). Its membership is not here.

    records: the records themselves, where the attack requires a reference.
    """

    value: Floats
    observed: Bools
    records: Records | None = None

    def pick(self, signals: slice) -> Target:
        """The chosen signals."""
        return Target(self.value[signals], self.observed[signals], self.records)


@dataclass(frozen=True)
class Shadows:
    """What the adversary knows of its own models: value and observed (S, N, K), member (N, K), units (S,) if known."""

    value: Floats
    observed: Bools
    member: Bools
    units: tuple[Unit, ...] = ()

    @cached_property
    def answered(self) -> Bools:
        """Where a model gave all signals of a record (N, K); many ask, and signals are large."""
        return np.asarray(self.observed.all(axis=0))

    def pick(self, signals: slice) -> Shadows:
        """The chosen signals."""
        return Shadows(self.value[signals], self.observed[signals], self.member, self.units[signals])

    def rows(self, which: Bools | Ints) -> Shadows:
        """The chosen records."""
        return Shadows(self.value[:, which], self.observed[:, which], self.member[which], self.units)

    def models(self, which: Bools) -> Shadows:
        """The chosen models (K,)."""
        if which.all():
            return self
        return Shadows(self.value[:, :, which], self.observed[:, :, which], self.member[:, which], self.units)

    def sample(self, which: Bools, most: int, after: Callable[[Floats], None] | None = None) -> Shadows:
        """The chosen models (K,), and of the records that any of them was asked about so many, evenly, at most.

        after: called with the values when those of one signal were copied, so that memory of maps can be given back.
        """
        asked = np.zeros(len(self.member), dtype=bool)
        for observed in self.observed:
            asked |= observed[:, which].any(axis=1)
        records = np.flatnonzero(asked)
        records = records[:: -(-len(records) // most) or 1]
        if len(records) == len(asked):
            return self.models(which)
        if which.all():
            return self.rows(records)
        cells = np.ix_(records, np.flatnonzero(which))
        member = self.member[cells]
        value = np.empty((len(self.value), *member.shape), dtype=self.value.dtype)
        observed = np.empty(value.shape, dtype=bool)
        for s in range(len(value)):  # signal by signal: evidence is large
            value[s] = self.value[s][cells]
            observed[s] = self.observed[s][cells]
            if after is not None:
                after(self.value)
        return Shadows(value, observed, member, self.units)

    def unit(self, signal: int) -> Unit:
        """The unit of a signal, plain if none is known."""
        return self.units[signal] if self.units else Unit.PLAIN


@dataclass(frozen=True)
class Combined:
    """A combined attack's scores, each (N,), chosen for one metric on shadow models.

    score: the best. baseline: the best of the baseline's signals alone. forced: the best that uses all signals. helps:
    whether forced is better on shadow models, so that it is the score. how: the way in which signals are combined.
    """

    score: Floats
    baseline: Floats
    forced: Floats
    helps: bool
    how: str = ""

    def pick(self, rows: Bools | Ints) -> Combined:
        """The chosen records."""
        return replace(self, score=self.score[rows], baseline=self.baseline[rows], forced=self.forced[rows])


def places(key: Ints) -> tuple[int, Ints]:
    """How many different numbers there are in a key (G,), and the place of each among them in rising order.

    >>> places(np.array([7, 5, 7]))
    (2, array([1, 0, 1]))
    """
    if len(key) and key.min() >= 0 and key.max() < 8 * len(key) + 1024:
        present = np.bincount(key) > 0
        rank = np.cumsum(present) - 1
        return int(rank[-1]) + 1, rank[key]
    found, place = np.unique(key, return_inverse=True)
    return len(found), place


def rows_by_unit(unit: Ints) -> list[slice | Ints]:
    """The rows of each different number in unit (G,), from the lowest up; slices where these lie together.

    >>> rows_by_unit(np.array([3, 3, 5])), [r.tolist() for r in rows_by_unit(np.array([3, 5, 3]))]
    ([slice(0, 2, None), slice(2, 3, None)], [[0, 2], [1]])
    """
    if not len(unit):
        return []
    steps = np.diff(unit)
    if np.all(steps >= 0):
        ends = [*(np.flatnonzero(steps) + 1).tolist(), len(unit)]
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    order = np.argsort(unit, kind="stable")
    return list(np.split(order, np.flatnonzero(np.diff(unit[order])) + 1))


@dataclass(frozen=True)
class Guesses:
    """One row per guess: score (G,), truth (G,), the target it is about (G,), the record (G,).

    group (G,): the person whose record it is; empty: every record is a person of its own. weight (G,): how much a guess
    counts, where non-members are weighted to resemble the members; empty: all the same.

    >>> guesses = Guesses([0.5, 0.1], [True, False], [0, 0], [3, 4])
    >>> guesses.group, guesses.weight, guesses.weights
    (array([3, 4]), array([1., 1.]), None)
    """

    score: Floats
    truth: Bools
    unit: Ints
    record: Ints
    group: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weight: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        score = frozen(self.score, np.float64, (None,), "score")
        if not np.isfinite(score).all():
            raise JaliError(NOT_FINITE)
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "truth", frozen(self.truth, bool, score.shape, "truth"))
        object.__setattr__(self, "unit", frozen(self.unit, np.int64, score.shape, "unit"))
        object.__setattr__(self, "record", frozen(self.record, np.int64, score.shape, "record"))
        group = self.group if np.size(self.group) else self.record
        # A single one, seen as many: guesses can be millions.
        weight = self.weight if np.size(self.weight) else np.broadcast_to(1.0, score.shape)
        object.__setattr__(self, "group", frozen(group, np.int64, score.shape, "group"))
        object.__setattr__(self, "weight", frozen(weight, np.float64, score.shape, "weight"))
        if not (np.isfinite(self.weight).all() and np.all(self.weight >= 0)):
            raise JaliError("The weights of guesses must be finite numbers of at least 0.")

    @property
    def weights(self) -> Floats | None:
        """The weights (G,), or None where all guesses count the same."""
        return None if np.all(self.weight == 1.0) else self.weight

    @property
    def grouped(self) -> bool:
        """Whether some person has several records."""
        return self.group is not self.record and places(self.record)[0] != places(self.group)[0]

    def pick(self, rows: Ints | Bools) -> Guesses:
        """The chosen guesses."""
        chosen = (self.score[rows], self.truth[rows], self.unit[rows], self.record[rows])
        return Guesses(*chosen, self.group[rows], self.weight[rows])


def weighted(game: Game, guesses: Guesses) -> Guesses:
    """The guesses with the weights that a game gives to their records, without those of weight 0.

    >>> game = Game([[True], [False]], [0], [[False]], [[True], [True]], weight=[[1.0], [0.0]])
    >>> weighted(game, Guesses([0.5, 0.1], [True, False], [0, 0], [0, 1])).record
    array([0])
    """
    if game.weight is None:
        return guesses
    weight = game.weight[guesses.record, guesses.unit]
    return replace(guesses, weight=weight).pick(weight > 0)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; units = on how many models it is based; reason = why there is no number."""

    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    reason: str = ""
