"""What an explainer gives: attributions, counterfactuals (rows, or regions of rows), or a surrogate model.

n records, D raw columns, P encoded features, V categories of the column that has most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema, frozen


@dataclass(frozen=True)
class Attribution:
    """value (n, P): what each encoded feature added to the score of the predicted class, where found (n,).

    An explainer of a user's may give another number of values per record, such as one per raw column. found: None
    where every record has an attribution; the others have zeros.
    """

    value: Floats
    found: Bools = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        value = frozen(self.value, np.float64, (None, None), "attribution")
        found = np.ones(len(value), dtype=bool) if self.found is None else self.found
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "found", frozen(found, bool, (len(value),), "found"))


@dataclass(frozen=True)
class Regions:
    """n sets of raw rows: numbers from low to high (n, D), codes of a category among allowed (n, D, V).

    A single row is the region with low = high and one code allowed. In the cells of number columns `allowed` is not
    read; in those of category columns low and high are set to the first and last code allowed, so that they
    reveal nothing beyond the codes.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("age"), Column("city", "category", categories=("Antwerp", "Ghent"))))
    >>> some = Regions(np.array([[24.0, 0]]), np.array([[27.0, 0]]), np.array([[[0, 0], [1, 0]]]), schema)
    >>> some.covers(np.array([[25.0, 0], [25.0, 1], [28.0, 0]]))
    array([[ True, False, False]])
    >>> some.nearest(np.array([[31.0, 1]]))
    array([[27.,  0.]])
    """

    low: Floats
    high: Floats
    allowed: Bools
    schema: Schema

    def __post_init__(self) -> None:
        columns = len(self.schema.columns)
        low = frozen(self.low, np.float64, (None, columns), "low")
        high = frozen(self.high, np.float64, low.shape, "high")
        allowed = frozen(self.allowed, bool, (*low.shape, values(self.schema)), "allowed")
        if named := categories(self.schema):
            codes = allowed[:, named]
            low = low.copy()
            low[:, named] = codes.argmax(axis=2)
            high = high.copy()
            high[:, named] = codes.shape[2] - 1 - codes[:, :, ::-1].argmax(axis=2)
        object.__setattr__(self, "low", frozen(low, np.float64, low.shape, "low"))
        object.__setattr__(self, "high", frozen(high, np.float64, low.shape, "high"))
        object.__setattr__(self, "allowed", allowed)

    def __len__(self) -> int:
        return len(self.low)

    @classmethod
    def of(cls, rows: Floats, schema: Schema) -> Regions:
        """The regions that hold one row each."""
        allowed = np.zeros((*rows.shape, values(schema)), dtype=bool)
        for j in categories(schema):
            allowed[np.arange(len(rows)), j, rows[:, j].astype(np.int64)] = True
        return cls(rows, rows, allowed, schema)

    def pick(self, which: Bools | Ints) -> Regions:
        """The chosen regions."""
        return Regions(self.low[which], self.high[which], self.allowed[which], self.schema)

    def covers(self, X: Floats, columns: Ints | None = None) -> Bools:
        """Which rows X (N, D) lie in each region, (n, N); with columns, only these are compared."""
        out = np.ones((len(self), len(X)), dtype=bool)
        named = categories(self.schema)
        for j in range(X.shape[1]) if columns is None else columns.tolist():
            if j in named:
                out &= self.allowed[:, j, X[:, j].astype(np.int64)]
            else:
                out &= (self.low[:, j, None] <= X[:, j]) & (X[:, j] <= self.high[:, j, None])
        return out

    def kinds(self, columns: Bools | None = None) -> Ints:
        """A number (n,) for each region; regions that agree in the chosen columns (D,), or in all, have the same."""
        some = np.arange(self.low.shape[1]) if columns is None else np.flatnonzero(columns)
        codes = self.allowed[:, np.intersect1d(some, categories(self.schema)).astype(np.int64)]
        codes = codes.reshape(len(self), codes.shape[1] * codes.shape[2])
        content = np.concatenate([np.zeros((len(self), 1)), self.low[:, some], self.high[:, some], codes], axis=1)
        return np.unique(content, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def same(self, others: Regions) -> Bools:
        """Which regions (n,) equal the one in the same place of others (n,)."""
        named = categories(self.schema)
        ends = (self.low == others.low) & (self.high == others.high)
        return np.asarray(ends.all(axis=1) & (self.allowed[:, named] == others.allowed[:, named]).all(axis=(1, 2)))

    def nearest(self, X: Floats) -> Floats:
        """Of each region the row nearest to X (n, D): numbers moved to the nearer end, codes kept where allowed."""
        out = np.clip(X, self.low, self.high)
        at = np.arange(len(X))
        for j in categories(self.schema):
            own = X[:, j].astype(np.int64)
            out[:, j] = np.where(self.allowed[at, j, own], own, self.allowed[:, j].argmax(axis=1))
        return out


def legal(X: Floats, schema: Schema) -> None:
    """Refuse raw rows (n, D) of another width, with gaps, or with codes that stand for no category.

    >>> from jali.core.values import Column
    >>> legal(np.array([[2.0]]), Schema((Column("sex", "category", categories=("f", "m")),)))
    Traceback (most recent call last):
    jali.core.errors.JaliError: Column 'sex' holds a category the schema does not name: add it there, or drop such rows.
    """
    if X.ndim != 2 or X.shape[1] != len(schema.columns):
        raise JaliError(f"Rows of {len(schema.columns)} columns were expected, not an array of shape {X.shape}.")
    for column, values in zip(schema.columns, X.T, strict=True):
        if not np.isfinite(values).all():
            raise JaliError(f"Column {column.name!r} holds a missing or infinite value: fill or drop such rows first.")
        known = (values >= 0) & (values < len(column.categories)) & (values % 1 == 0)
        if column.kind == "category" and not known.all():
            raise JaliError(
                f"Column {column.name!r} holds a category the schema does not name: add it there, or drop such rows."
            )


def categories(schema: Schema) -> list[int]:
    """Positions of the category columns."""
    return [j for j, column in enumerate(schema.columns) if column.kind == "category"]


def values(schema: Schema) -> int:
    """How many codes the category column with most of them has; 0 where no column is a category."""
    return max((len(column.categories) for column in schema.columns), default=0)


class Recomputed(NamedTuple):
    """Answers as they would have been about other people: regions (n,), and which of them would be given (n,).

    Where no answer would be given, the region has no meaning.
    """

    regions: Regions
    given: Bools


# Fields of a counterfactual that evaluate it and are never shown.
HIDDEN: dict[str, type] = {"origin": np.int64, "clamped": bool, "gap": np.float64, "withheld": bool}


@dataclass(frozen=True)
class Counterfactual:
    """rows (n, D): a legal raw row with another outcome, where found (n,); the record itself elsewhere.

    Where the explanation is generalised, `regions` is what people see, and a row is the point of its region nearest to
    the record. The other fields serve evaluation and are never shown. origin (n,): the training row an explanation
    shows, -1 for none. clamped (n,): noise moved the explanation to a bound. gap (n,): the NCP above the proven lower
    bound. withheld (n,): an explanation exists but must not be given.
    """

    rows: Floats
    found: Bools
    regions: Regions | None = None
    origin: Ints | None = field(default=None, repr=False)
    clamped: Bools | None = field(default=None, repr=False)
    gap: Floats | None = field(default=None, repr=False)
    withheld: Bools | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        rows = frozen(self.rows, np.float64, (None, None), "counterfactual rows")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "found", frozen(self.found, bool, (len(rows),), "found"))
        if self.regions is not None and len(self.regions) != len(rows):
            raise JaliError(f"{len(rows)} counterfactuals need as many regions, not {len(self.regions)}.")
        for name, kind in HIDDEN.items():
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(array, kind, (len(rows),), name))

    def pick(self, which: Bools) -> Counterfactual:
        """The explanations of some of the records."""
        regions = None if self.regions is None else self.regions.pick(which)
        hidden = {name: None if (array := getattr(self, name)) is None else array[which] for name in HIDDEN}
        return Counterfactual(self.rows[which], self.found[which], regions, **hidden)

    def public(self) -> Counterfactual:
        """The explanations without the fields that serve evaluation."""
        return Counterfactual(self.rows, self.found, self.regions)

    def shown(self, schema: Schema) -> Regions:
        """What a reader sees: the regions, or each row as a region of its own."""
        return Regions.of(self.rows, schema) if self.regions is None else self.regions


@dataclass(frozen=True)
class Surrogate:
    """Readable models that stand in for the black box: which (n,) of the models explains each record, where found (n,).

    A global surrogate is one model for all records, a local one is a model for each. countered (n,): which records also
    got a rule that would change their outcome, where the explainer gives such rules. fidelity (n,): on what share of
    new rows around the record its model decides like the black box, where the explainer checked that.
    """

    models: tuple[Model, ...]
    which: Ints
    found: Bools
    countered: Bools | None = None
    fidelity: Floats | None = None

    def __post_init__(self) -> None:
        which = frozen(self.which, np.int64, (None,), "which")
        object.__setattr__(self, "which", which)
        object.__setattr__(self, "found", frozen(self.found, bool, (len(which),), "found"))
        if self.countered is not None:
            object.__setattr__(self, "countered", frozen(self.countered, bool, (len(which),), "countered"))
        if self.fidelity is not None:
            object.__setattr__(self, "fidelity", frozen(self.fidelity, np.float64, (len(which),), "fidelity"))
        if len(which) and not (which.min() >= 0 and which.max() < len(self.models)):
            raise JaliError(f"which must name models of the surrogate, 0 to {len(self.models) - 1}.")


Explanation = Attribution | Counterfactual | Surrogate
Gives = Literal["attribution", "counterfactual", "surrogate"]
Wants = Literal["labels", "gradient", "linear", "trees"]


def public(explanation: Explanation) -> Explanation:
    """What people see of an explanation."""
    return explanation.public() if isinstance(explanation, Counterfactual) else explanation


class Prepared(Protocol):
    """An explainer made ready for one model, with whatever it fitted; kept in memory only, never stored or sent."""

    def explain(self, X: Floats, rng: Rng) -> Explanation:
        """Explain raw rows (n, D)."""


class Explainer(Protocol):
    """Explains one model; gives = the kind of explanation, wants = what it needs from the model."""

    gives: ClassVar[Gives]
    wants: ClassVar[Wants]
    reads_training_data: ClassVar[bool]

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Prepared:
        """Fit once what all explanations share; train = the model's training set, passed if reads_training_data."""
