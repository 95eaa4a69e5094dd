"""Quality of recourse, one number per record, defined where a counterfactual was found.

Costs and distances are taken in encoded features, where numbers are scaled by their spread and a changed category
changes two features. The caller measures the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from jali.anonymity.disclosure import homogeneity
from jali.anonymity.measures import matching, ncp, pureness
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema

PLAIN = ("validity", "cost_l0", "cost_l1", "cost_l2", "sparsity", "plausibility")
# Of explanations that show training rows, as they are or generalised:
SHOWN = ("anonymity_set", "ncp", "pureness", "shared_values", "t_closeness")
RELIANCE = "reliance_on_quasi_identifiers"
MEASURES = (*PLAIN, "clamped", "ncp_above_bound", "withheld", *SHOWN)
SECONDS = "seconds"  # per record explained; the only measure that a seed does not reproduce
DEEP = 24  # numbers of a part whose minimum is looked at first
BLOCK = 256  # rows compared with all training rows at once
Norm = Literal["l0", "l1", "l2"]
SAME = 1e-9  # smaller moves are rounding errors


@dataclass(frozen=True)
class Measured:
    """Which metric of which explainer, by specification, is measured; without an explainer, one of the model."""

    metric: str
    explainer: str = ""


@dataclass(frozen=True)
class Quality:
    """Measures of models and explanations in all scored cells of a game.

    value (K, G): the cells of the first target by record, then those of the second, and so on; defined (K, G): where a
    measure is defined.
    """

    names: tuple[Measured, ...]
    value: npt.NDArray[np.float32]
    defined: Bools


@dataclass(frozen=True)
class Neighbourhood:
    """Training rows in encoded features by class, encoded once for many calls."""

    train: Dataset

    @cached_property
    def rows(self) -> dict[int, Floats]:
        """Encoded rows (., P) of each class that has any."""
        X = self.train.X
        y = self.train.y
        return {int(label): Encoding(self.train.schema).encode(X[y == label]) for label in np.unique(y)}

    @cached_property
    def squares(self) -> dict[int, Floats]:
        """The squared lengths (.,) of these rows."""
        return {label: (rows * rows).sum(axis=1) for label, rows in self.rows.items()}

    def distance(self, X: Floats, wanted: Ints, k: int = 5) -> Floats:
        """Mean l2 distance (n,) of raw rows X (n, D) to the k nearest training rows of class wanted (n,)."""
        encode = Encoding(self.train.schema).encode
        out = np.zeros(len(X))
        for label in np.unique(wanted):
            if label not in self.rows:
                name = self.train.schema.classes[label]
                raise JaliError(f"plausibility compares with training rows of class {name!r}, and there are none.")
            same_class = self.rows[label]
            rows = np.flatnonzero(wanted == label)
            for some in np.split(rows, range(BLOCK, len(rows), BLOCK)):
                near = min(k, len(same_class))
                out[some] = _neighbours(encode(X[some]), same_class, self.squares[label], near)
        return out


def appraise(
    model: Model, X: Floats, counterfactuals: Counterfactual, near: Neighbourhood, rng: Rng
) -> tuple[Floats, Bools]:
    """All MEASURES (K, n) of the counterfactuals of records X (n, D), and where each is defined (K, n).

    Validity is defined for all who do not have the favourable outcome, the other measures where a counterfactual was
    found. Besides, plausibility needs training rows of the class reached, `clamped` an explainer that adds noise,
    `ncp_above_bound` one that seeks an optimum, and SHOWN an explanation that comes from a training row; `withheld` is
    defined where an explanation was given or withheld.
    """
    schema = near.train.schema
    found = counterfactuals.found
    at = MEASURES.index
    before = model.logits(X).argmax(axis=1)
    after = model.logits(counterfactuals.rows).argmax(axis=1)
    value = np.zeros((len(MEASURES), len(X)))
    defined = np.tile(found, (len(MEASURES), 1))
    defined[0] = before != (-1 if schema.favourable is None else schema.favourable)
    defined[at("plausibility")] &= np.isin(after, list(near.rows))
    given = counterfactuals.pick(found)
    near_by = defined[at("plausibility")]
    value[0] = _reached(before, after, counterfactuals, schema)
    move = _moved(X[found], given, schema)
    value[1:4, found] = [_length(move, norm) for norm in ("l0", "l1", "l2")]
    value[at("sparsity"), found] = sparsity(X[found], given, schema)
    value[at("plausibility"), near_by] = near.distance(counterfactuals.rows[near_by], after[near_by])
    beside = {
        "clamped": counterfactuals.clamped,
        "ncp_above_bound": counterfactuals.gap,
        "withheld": counterfactuals.withheld,
    }
    for name, numbers in beside.items():
        defined[at(name)] &= numbers is not None
        value[at(name)] = 0.0 if numbers is None else numbers
    if counterfactuals.withheld is not None:
        defined[at("withheld")] |= counterfactuals.withheld
    last = slice(at(SHOWN[0]), None)
    defined[last] &= _traceable(counterfactuals, schema)
    if defined[last].any():
        value[last, found] = _shown(model, given, near.train, rng)
    return value, defined


def _traceable(counterfactuals: Counterfactual, schema: Schema) -> bool:
    """Whether all explanations show training rows, and some column is a quasi-identifier."""
    named = any(column.role == "quasi" for column in schema.columns)
    return (
        named
        and counterfactuals.origin is not None
        and bool((counterfactuals.origin[counterfactuals.found] >= 0).all())
    )


def _shown(model: Model, given: Counterfactual, train: Dataset, rng: Rng) -> Floats:
    """The measures of SHOWN (5, n): anonymity set, NCP, pureness, shared values and t-closeness."""
    regions = given.shown(train.schema)
    hoped = train.schema.favourable
    shows = model.logits(train.X[given.origin]).argmax(axis=1)
    wanted = shows if hoped is None else np.full(len(regions), hoped)
    return np.stack(
        [
            matching(regions, train).astype(np.float64),
            ncp(regions, train),
            pureness(model, regions, train, wanted, rng).value,
            *homogeneity(regions, train),
        ]
    )


def reliance(model: Model, records: Dataset, rng: Rng, predicted: Ints | None = None) -> tuple[Floats, Bools]:
    """How much a right prediction needs the quasi-identifiers (n,), and whether there are any (n,).

    1 where the model is right about a record and wrong once its quasi-identifiers are those of another of the records,
    -1 the other way round: on average, the accuracy that depends on them (Breiman's permutation importance, 2001).
    predicted: the classes (n,) that the model predicts for the records, where the caller has them already. Without
    quasi-identifiers the model is not asked.
    """
    quasi = np.array([column.role == "quasi" for column in records.schema.columns], dtype=bool)
    if not quasi.any():
        return np.zeros(len(records)), np.zeros(len(records), dtype=bool)
    order = rng.permutation(len(records))
    other = np.empty_like(order)
    other[order] = np.roll(order, 1)  # nobody is paired with themselves
    mixed = np.where(quasi, records.X[other], records.X)
    right = (model.logits(records.X).argmax(axis=1) if predicted is None else predicted) == records.y
    still = model.logits(mixed).argmax(axis=1) == records.y
    return right.astype(np.float64) - still, np.ones(len(records), dtype=bool)


def validity(model: Model, X: Floats, counterfactuals: Counterfactual, schema: Schema) -> Floats:
    """Whether (n,) a counterfactual has the outcome hoped for: the favourable class, else any but the record's own.

    Records without a counterfactual count as 0, and so do those that had the favourable class already.
    """
    before = model.logits(X).argmax(axis=1)
    after = model.logits(counterfactuals.rows).argmax(axis=1)
    return _reached(before, after, counterfactuals, schema)


def _reached(before: Ints, after: Ints, counterfactuals: Counterfactual, schema: Schema) -> Floats:
    hoped = after != before if schema.favourable is None else (after == schema.favourable) & (before != after)
    return np.asarray(counterfactuals.found & hoped, dtype=np.float64)


def cost(X: Floats, counterfactuals: Counterfactual, schema: Schema, norm: Norm) -> Floats:
    """Distance (n,) from a record to its counterfactual; l0 counts the encoded features that change.

    >>> from jali.core.values import Column
    >>> columns = (Column("age", "integer", centre=40, spread=10), Column("sex", "category", categories=("f", "m")))
    >>> moved = Counterfactual(np.array([[60.0, 1.0]]), np.array([True]))
    >>> [float(cost(np.array([[30.0, 0.0]]), moved, Schema(columns), norm)[0].round(3)) for norm in ("l0", "l1", "l2")]
    [3.0, 5.0, 3.317]
    """
    return _length(_moved(X, counterfactuals, schema), norm)


def _moved(X: Floats, counterfactuals: Counterfactual, schema: Schema) -> Floats:
    """By how much each encoded feature changes (n, P)."""
    encode = Encoding(schema).encode
    return np.asarray(np.abs(encode(counterfactuals.rows) - encode(X)))


def _length(move: Floats, norm: Norm) -> Floats:
    """The length (n,) of moves (n, P)."""
    if norm == "l0":
        return np.asarray((move > SAME).sum(axis=1), dtype=np.float64)
    return np.asarray(move.sum(axis=1) if norm == "l1" else np.sqrt((move * move).sum(axis=1)))


def sparsity(X: Floats, counterfactuals: Counterfactual, schema: Schema) -> Floats:
    """Share (n,) of the raw columns that change; small is sparse."""
    spread = np.array([1.0 if c.kind == "category" else c.spread for c in schema.columns])
    return np.asarray((np.abs(counterfactuals.rows - X) / spread > SAME).mean(axis=1))


def plausibility(counterfactuals: Counterfactual, wanted: Ints, train: Dataset, k: int = 5) -> Floats:
    """Mean l2 distance (n,) of a counterfactual to the k nearest training rows of the class it reaches, wanted (n,).

    All training rows of the class are compared, 256 rows at a time; where a class has fewer than k, all of them count.
    """
    if k < 1:
        raise JaliError(f"plausibility: k must be at least 1, not {k}.")
    return Neighbourhood(train).distance(counterfactuals.rows, wanted, k)


def _neighbours(Z: Floats, train: Floats, squares: Floats, k: int) -> Floats:
    """Mean distance (n,) from points Z (n, P) to their k nearest in train (N, P), whose squared lengths are (N,)."""
    used = np.flatnonzero(Z.any(axis=0))  # of a column with many categories these points have a few
    square = (-2 * Z[:, used]) @ train[:, used].T
    square += (Z * Z).sum(axis=1)[:, None]
    square += squares
    return np.asarray(np.sqrt(np.maximum(smallest(square, k), 0.0)).mean(axis=1))


def smallest(x: Floats, k: int) -> Floats:
    """The k smallest numbers of each row (n, k) of x (n, N), from the smallest up.

    The k-th smallest of the minima of some parts of a row is no smaller than that of the row, and few numbers lie below
    it: to find those is several times as fast as to partition the row.

    >>> smallest(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]]), 2)
    array([[1., 2.],
           [4., 5.]])
    """
    parts = x.shape[1] // DEEP
    if parts < k:
        return np.sort(x, axis=1)[:, :k]
    minima = x[:, : parts * DEEP].reshape(len(x), DEEP, parts).min(axis=1)
    bound = np.partition(minima, k - 1, axis=1)[:, k - 1 : k]
    at = np.flatnonzero(x <= bound)
    row = at // x.shape[1]
    value = x.ravel()[at]
    value = value[np.lexsort((value, row))]
    first = np.searchsorted(row, np.arange(len(x)))
    return np.asarray(value[first[:, None] + np.arange(k)])
