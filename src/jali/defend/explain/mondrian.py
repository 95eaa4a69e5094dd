"""Counterfactuals from a training set that was made k-anonymous as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable
from jali.anonymity.measures import matching
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Recomputed, Regions, Wants
from jali.core.protocols import Model, Source, keeps_immutable
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.defend._generalise import ForwardsCapabilities, Inner, generalised
from jali.explain.nice import NICE


@dataclass(frozen=True)
class Mondrian(ForwardsCapabilities):
    """The equivalence class of a training row in a k-anonymous table, shown instead of the row.

    This is the baseline for `k_anonymous`. All training rows are cut in two at the median of the widest
    quasi-identifier (for a category: between the first and the second half of the values present), and both parts are
    cut again, as long as each part keeps k people. If the widest quasi-identifier cannot be cut, the next one is.
    Widths are shares of the range, or of the number of values, in all rows ("normalised"), or units and numbers of
    values ("raw", as in the comparison of Goethals, Sörensen and Martens, 2022). A class is shown as the ranges and
    categories of its people; private columns keep the values of one row. There is no guarantee of differential privacy.

    Numbers equal to the median go to the upper part (cut="below"), or to the lower one where that alone leaves k people
    in both ("either"). table: another table that is cut instead of the training rows and must hold them; classes then
    have k people of that table, and may have fewer who were trained on. Goethals et al. cut all their rows, "below".

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
    cut: Literal["either", "below"] = "either"
    table: Source | None = None
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"
    checked: ClassVar[bool] = False  # a class holds rows without the outcome as well

    def __post_init__(self) -> None:
        if self.k < 2:
            raise JaliError(f"mondrian: k must be at least 2, not {self.k}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the wrapped explainer, and partition the training set into classes of k people."""
        inner = Inner.of(self, model, schema, train, rng)
        people = inner.train if self.table is None else self.table.load()
        table = inner.table if self.table is None else FrequencyTable.of(people, agree=keeps_immutable(self.inner))
        if table.schema.columns != inner.table.schema.columns:
            raise JaliError("mondrian: table must have the columns of the training rows: name the table they are from.")
        return _Prepared(self.k, inner, people, table, *partition(table, self.k, self.widths == "raw", self.cut))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The defence for one model.

    people: who is in the classes. table: their frequency table. part (C,): the class of each of its cells. boxes: those
    of the classes.
    """

    k: int
    inner: Inner
    people: Dataset
    table: FrequencyTable
    part: Ints
    boxes: Boxes

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The class for each record, and the row (n, D) in the class that is nearest to the record."""
        counterfactuals = self.inner.explain(X, rng)
        train = self.inner.train
        who = self.inner.shown(counterfactuals)
        regions = self._classes(train.X[who.rows])
        return generalised(X, counterfactuals, who, regions, matching(regions, self.people) >= self.k)

    def regions_for(self, rows: Floats, person: Ints) -> Recomputed:
        """What would be shown of the training people (n,) if they had rows (n, D) with values that occur."""
        regions = self._classes(rows)
        able = matching(regions, self.people) >= self.k
        return Recomputed(regions, able & self.inner.could_be_shown(rows, person))

    def _classes(self, rows: Floats) -> Regions:
        """The classes of rows (n, D), whose quasi-identifiers must occur in the table that was cut."""
        cells = self.table.find(self.table.coded(rows))
        return self.table.regions(self.boxes.pick(self.part[cells]), rows)


def partition(table: FrequencyTable, k: int, raw: bool, cut: str = "either") -> tuple[Ints, Boxes]:
    """The part (C,) of each cell, and the box of each part."""
    cells = np.arange(len(table.cells))
    part = table.parted(cells, lambda some: _cut(table, some, k, raw, cut))
    return part, table.hulls(cells, part)


def _cut(table: FrequencyTable, cells: Ints, k: int, raw: bool, cut: str) -> Bools | None:
    """Which cells go to the first part, by the widest quasi-identifier that leaves k people in both parts."""
    count = table.count[cells]
    if count.sum() < 2 * k:
        return None
    for q in np.argsort(-_widths(table, table.cells[cells], raw), kind="stable"):
        ways = _halves(table.cells[cells, q], count, bool(table.ranged[q]))
        for left in ways[:1] if cut == "below" else ways:
            if min(count[left].sum(), count[~left].sum()) >= k:
                return left
    return None


def _widths(table: FrequencyTable, codes: Ints, raw: bool) -> Floats:
    """The width of each quasi-identifier (Q,) among combinations (c, Q)."""
    out = np.empty(codes.shape[1])
    for q, known in enumerate(table.values):
        if table.ranged[q]:
            out[q] = np.ptp(known[codes[:, q]]) / (1.0 if raw else np.ptp(known) or 1.0)
        else:
            out[q] = len(np.unique(codes[:, q])) / (1.0 if raw else len(known))
    return out


def _halves(code: Ints, count: Ints, ranged: bool) -> list[Bools]:
    """Ways to cut cells with these codes and counts (c,) in two: below or up to the median, or halves of categories."""
    values, place = np.unique(code, return_inverse=True)
    if not ranged:
        return [place < len(values) // 2]
    upto = np.cumsum(np.bincount(place, count))
    middle = int(np.searchsorted(upto, upto[-1] / 2, "right"))
    return [place < middle, place <= middle]
