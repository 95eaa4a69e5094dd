"""Counterfactuals from a whole data set that was made k-anonymous."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.anonymity.measures import matching
from jali.anonymity.people import Boxes, Crowd
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Regions, Wants, legal
from jali.core.protocols import Model, keeps_immutable, releases_rows
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.defend._dp.release import Inner, generalised, shown
from jali.explain.native.rows import predictions, require_favourable
from jali.explain.nice import NICE


@dataclass(frozen=True)
class Mondrian:
    """The class of a training row in a k-anonymous table, in place of the row: what `k_anonymous` is compared with.

    All training rows are cut in two at the median of the widest quasi-identifier (of categories: between the first and
    the second half of the values present), and both parts again, as long as either keeps k people; where the widest
    cannot be cut, the next one is. Widths are shares of the range, or of the number of values, of all rows
    ("normalised"), or in units and numbers of values ("raw", as in the comparison of Goethals, Sörensen and Martens,
    2022). A part is shown as the ranges and categories of its people; private columns stay those of one row.
    No differential privacy is promised.

    LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("age", low=0, high=99, role="quasi"), Column("income")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.0, -4.5]))
    >>> train = Dataset(np.array([[20.0, 5], [22, 1], [25, 2], [40, 9]]), [1, 0, 0, 1], schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = Mondrian(k=2).prepare(model, schema, train, rng)
    >>> out = ready.explain(np.array([[21.0, 4.0]]), rng)
    >>> out.regions.low, out.regions.high
    (array([[20.,  5.]]), array([[22.,  5.]]))
    """

    inner: Explainer = field(default_factory=NICE)
    k: int = 10
    widths: Literal["normalised", "raw"] = "normalised"
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"
    checked: ClassVar[bool] = False  # a class holds rows without the outcome as well

    def __post_init__(self) -> None:
        if self.k < 2:
            raise JaliError(f"mondrian: k must be at least 2, not {self.k}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """The wrapped explainer, and the training set cut into classes of k people."""
        inner = Inner.of("mondrian", self.inner, model, schema, train, rng)
        crowd = Crowd.of(inner.train, agree=keeps_immutable(self.inner))
        if crowd.count.sum() < self.k:
            raise JaliError(f"mondrian: k = {self.k} is more than the {crowd.count.sum()} people trained on.")
        labels = predictions(model, inner.train.X)[1]
        return _Prepared(self.k, inner, labels, crowd, *partition(crowd, self.k, self.widths == "raw"))

    def releases_rows(self) -> bool:
        """As the explainer that it wraps: private columns stay those of one row."""
        return releases_rows(self.inner)

    def keeps_immutable(self) -> bool:
        """As the explainer that it wraps: what cannot change is not widened then."""
        return keeps_immutable(self.inner)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The defence for one model: label (N,) of the training rows, the class (C,) of each cell, and their boxes."""

    k: int
    inner: Inner
    labels: Ints
    crowd: Crowd
    part: Ints
    boxes: Boxes

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The classes, and the row (n, D) of each that is nearest to its record."""
        legal(X, self.inner.schema)
        there, train = self.inner.explain(X, rng), self.inner.train
        if len(there.found):
            require_favourable("mondrian", self.labels, train.schema)
        who = shown("mondrian", there, train)
        regions = self.regions_for(train.X[who.rows])
        return generalised(X, there, who, regions, matching(regions, train) >= self.k)

    def regions_for(self, rows: Floats) -> Regions:
        """What would be shown of people with rows (n, D), whose quasi-identifiers are among those trained on."""
        cells = self.crowd.find(self.crowd.coded(rows))
        return self.crowd.regions(self.boxes.pick(self.part[cells]), rows)


def partition(crowd: Crowd, k: int, raw: bool) -> tuple[Ints, Boxes]:
    """The part (C,) that each cell is in, and the box of each part."""
    cells = np.arange(len(crowd.cells))
    part = crowd.parted(cells, lambda some: _cut(crowd, some, k, raw))
    return part, crowd.hulls(cells, part)


def _cut(crowd: Crowd, cells: Ints, k: int, raw: bool) -> Bools | None:
    """Which of some cells go to the first part, by the widest quasi-identifier that leaves k people in both."""
    count = crowd.count[cells]
    if count.sum() < 2 * k:
        return None
    for q in np.argsort(-_widths(crowd, crowd.cells[cells], raw), kind="stable"):
        for left in _halves(crowd.cells[cells, q], count, bool(crowd.ranged[q])):
            if min(count[left].sum(), count[~left].sum()) >= k:
                return left
    return None


def _widths(crowd: Crowd, codes: Ints, raw: bool) -> Floats:
    """How wide each quasi-identifier (Q,) is among combinations (c, Q)."""
    out = np.empty(codes.shape[1])
    for q, known in enumerate(crowd.values):
        if crowd.ranged[q]:
            out[q] = np.ptp(known[codes[:, q]]) / (1.0 if raw else np.ptp(known) or 1.0)
        else:
            out[q] = len(np.unique(codes[:, q])) / (1.0 if raw else len(known))
    return out


def _halves(code: Ints, count: Ints, ranged: bool) -> list[Bools]:
    """Ways to cut cells of these codes and counts (c,) in two: below the median, up to it, or by halves of codes."""
    values, place = np.unique(code, return_inverse=True)
    if not ranged:
        return [place < len(values) // 2]
    upto = np.cumsum(np.bincount(place, count))
    middle = int(np.searchsorted(upto, upto[-1] / 2, "right"))
    return [place < middle, place <= middle]
