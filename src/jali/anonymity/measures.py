"""Measures of generalised answers: the size of the anonymity set, the information loss (NCP), and the pureness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.anonymity.frequency_table import Boxes, quasi_columns, shares
from jali.anonymity.pureness import CHUNK, points
from jali.core.explanation import Regions, categories
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Role
from jali.stats.intervals import rate_bounds

HELD = 1 << 24  # pairs of a region and a training row that are compared at once, to bound the memory


class Pureness(NamedTuple):
    """Shares (n,) and their 95 % intervals; low = value = high where the model was asked about all combinations."""

    value: Floats
    low: Floats
    high: Floats


def matching(regions: Regions, train: Dataset) -> Ints:
    """The size (n,) of each region's anonymity set: training people who match it in all quasi-identifiers.

    People are counted row by row in the raw table, independently of the counts of the solvers. Rows of one group are
    one person.

    >>> from jali.core.values import Column, Schema
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> train = Dataset(np.array([[24.0, 5], [25, 6], [30, 7]]), [0, 0, 1], schema)
    >>> matching(Regions(np.array([[24.0, 5]]), np.array([[27.0, 5]]), np.zeros((1, 2, 0)), schema), train)
    array([2])
    """
    out = np.empty(len(regions), dtype=np.int64)
    size = max(1, HELD // max(1, len(train)))
    for some in np.split(np.arange(len(regions)), range(size, len(regions), size)):
        out[some] = people(regions.pick(some).covers(train.X, quasi_columns(train.schema)), train)
    return out


def people(rows: Bools, train: Dataset) -> Ints:
    """How many people (n,) are among the chosen training rows (n, N)."""
    if train.groups is None:
        return np.asarray(rows.sum(axis=1), dtype=np.int64)
    order = np.argsort(train.groups, kind="stable")
    starts = np.unique(train.groups[order], return_index=True)[1]
    return np.asarray(np.logical_or.reduceat(rows[:, order], starts, axis=1).sum(axis=1), dtype=np.int64)


def repeated(train: Dataset) -> bool:
    """Whether a person has several training rows."""
    return train.groups is not None and len(np.unique(train.groups)) < len(train)


def ncp(regions: Regions, train: Dataset, weights: tuple[float, ...] = (), role: Role = "quasi") -> Floats:
    """Normalised certainty penalty (n,): the information lost in the columns of a role, from 0 (none) to 1 (all).

    sum_j w_j NCP_j. For a number, NCP_j is its range in the region divided by its range in the training rows. For a
    category, it is the share of the values in the training rows that the region allows, or 0 if that is one value.
    Weights follow the order of the columns and are scaled to sum to one; without weights, all columns count equally.

    Xu et al., 2006; Ghinita et al., 2009. The papers take ranges and values from the people who match the region. Both
    are equal if for each end of a range, and for each allowed category, one of these people has that value.

    >>> from jali.core.values import Column, Schema
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> train = Dataset(np.array([[24.0, 5], [25, 6], [34, 7]]), [0, 0, 1], schema)
    >>> ncp(Regions(np.array([[24.0, 5]]), np.array([[27.0, 5]]), np.zeros((1, 2, 0)), schema), train)
    array([0.3])
    """
    out = np.zeros(len(regions))
    named = categories(train.schema)
    columns = np.flatnonzero([column.role == role for column in train.schema.columns])
    for j, weight in zip(columns, shares(train.schema, columns, weights), strict=True):
        if j in named:
            many = regions.allowed[:, j].sum(axis=1)
            out += weight * np.where(many > 1, many, 0) / len(train.levels[j])
        else:
            out += weight * (regions.high[:, j] - regions.low[:, j]) / (np.ptp(train.levels[j]) or 1.0)
    return out


def pureness(model: Model, regions: Regions, train: Dataset, wanted: Ints, rng: Rng, most: int = 1000) -> Pureness:
    """Share (n,) of the combinations of values in a region that the model gives the desired class, wanted (n,).

    The values of a number are those of the training rows inside its range; the values of a category are the allowed
    ones. For a region of up to `most` combinations the model is asked about all of them. For a larger one, `most`
    combinations are drawn, and the interval is the 95 % Clopper-Pearson interval.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> model = LinearModel(Encoding(schema), np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([-25.5, 0.0]))
    >>> train = Dataset(np.array([[24.0, 5], [25, 6], [26, 7], [27, 8]]), [0, 0, 1, 1], schema)
    >>> some = Regions(np.array([[24.0, 5]]), np.array([[27.0, 5]]), np.zeros((1, 2, 0)), schema)
    >>> pureness(model, some, train, np.array([1]), np.random.default_rng(0)).value
    array([0.5])
    """
    values = train.levels
    ranged = np.array([column.kind != "category" for column in train.schema.columns])
    boxes = _coded(regions, values, ranged)
    some = points(boxes, ranged, rng.random((most, len(ranged))))
    good = np.zeros(len(some.box), dtype=bool)
    for at in np.split(np.arange(len(good)), range(CHUNK, len(good), CHUNK)):
        rows = _raw(some.codes[at], regions, some.box[at], values, ranged)
        good[at] = model.logits(rows).argmax(axis=1) == wanted[some.box[at]] if len(at) else False
    hits = np.bincount(some.box, good, len(regions))
    many = np.bincount(some.box, minlength=len(regions))
    low, high = rate_bounds(np.where(some.exact, 0, hits).astype(np.int64), most, 0.95)
    value = hits / many
    return Pureness(value, np.where(some.exact, value, low), np.where(some.exact, value, high))


def class_interval(regions: Regions, train: Dataset) -> Regions:
    """The regions with every private column widened to the values of the people who match the quasi-identifiers.

    A number ranges from the lowest to the highest value of these people, and all of their categories are allowed, so
    that no answer shows the private values of a single person.
    """
    low = regions.low.copy()
    high = regions.high.copy()
    allowed = regions.allowed.copy()
    quasi = quasi_columns(train.schema)
    named = categories(train.schema)
    private = np.setdiff1d(np.arange(train.X.shape[1]), quasi)
    for i in range(len(regions)):
        rows = train.X[regions.pick(np.array([i])).covers(train.X, quasi)[0]]
        for j in private if len(rows) else ():
            if j in named:
                allowed[i, j, rows[:, j].astype(np.int64)] = True
            else:
                low[i, j] = rows[:, j].min()
                high[i, j] = rows[:, j].max()
    return Regions(low, high, allowed, regions.schema)


def _coded(regions: Regions, values: tuple[Floats, ...], ranged: Bools) -> Boxes:
    """Regions as boxes of codes; a range that contains no value of the training rows becomes a single code."""
    low = np.zeros(regions.low.shape, np.int64)
    high = np.zeros(regions.low.shape, np.int64)
    for j in np.flatnonzero(ranged):
        low[:, j] = np.searchsorted(values[j], regions.low[:, j], "left")
        high[:, j] = np.searchsorted(values[j], regions.high[:, j], "right") - 1
    low = np.minimum(low, np.maximum(high, 0))
    allowed = regions.allowed if regions.allowed.shape[2] else np.zeros((*low.shape, 1), dtype=bool)
    return Boxes(low, np.maximum(low, high), allowed)


def _raw(codes: Ints, regions: Regions, box: Ints, values: tuple[Floats, ...], ranged: Bools) -> Floats:
    """Raw rows (M, D) of combinations in regions box (M,); a number outside its range is set to the low end."""
    rows = codes.astype(np.float64)
    for j in np.flatnonzero(ranged):
        x = values[j][codes[:, j]]
        low = regions.low[box, j]
        high = regions.high[box, j]
        rows[:, j] = np.where((x < low) | (x > high), low, x)
    return rows
