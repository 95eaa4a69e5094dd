"""Counterfactuals that match at least k training people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from jali.anonymity.frequency_table import FrequencyTable
from jali.anonymity.grasp import Cores, Effort, as_released, grasp
from jali.anonymity.grid import Grid
from jali.anonymity.measures import class_interval, matching, repeated
from jali.anonymity.mutual import Blocks, mutual
from jali.anonymity.optimal import optimal
from jali.anonymity.pureness import Found, Poll
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Recomputed, Regions, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.defend._generalise import ForwardsCapabilities, Inner, Protected, generalised, placed
from jali.explain.nice import NICE

POINTS = 1000  # pureness is exact for boxes of so many combinations; of larger ones as many combinations are drawn
SURE = 1 << 17  # the same where a least pureness is required: larger boxes are withheld
SAME = 1e-9


@dataclass(frozen=True)
class KAnonymous(ForwardsCapabilities):
    """A training row shown as counterfactual, its quasi-identifiers widened until k training rows match them.

    Ranges and categories are widened around the row, and no more than needed. `solver` minimises NCP, the share of the
    possible values that an answer leaves open, and keeps pureness high, the share of the combinations in the region
    that have the desired class. "grasp" is the published CF-K: the best of `iterations` starts, each widened to one of
    the `alpha` nearest people with the desired class at a time, and then improved value by value. "optimal" searches
    all regions of less NCP that are as pure (or have pureness `floor`), and finds the best region or a lower bound on
    its NCP. "as_released" is the algorithm as released by the authors (`jali.anonymity.grasp.as_released`); `order`
    names the quasi-identifiers as the authors list them, if that is not the order of the columns.

    "mutual" gives an answer that is the same for k people (`jali.anonymity.mutual`). An attacker who can run the
    defence and knows everybody's quasi-identifiers, and which training rows the explainer may show, cannot rule any of
    them out, which is possible with the other solvers (the minimality attack, `minimality`). This holds for one answer
    and for somebody who does not know who asked. Its NCP is higher.

    Immutable columns are not widened if the wrapped explainer keeps them as in the record (immutable="agree"). An
    answer is withheld if fewer than k people match it, by an independent count, or if its pureness is below `floor`. A
    row is always widened in the same way, whoever asks and however often, so that an intersection of answers gains
    nothing.

    k counts people among the training rows, not in the population. Columns that are not quasi-identifiers keep the
    values of one real person; `repair="interval"` shows the range of values of the people who match instead, and
    pureness is measured before. `repair="rounded"` also moves every end outwards to a grid whose cells hold at least k
    training people (`jali.anonymity.grid`; `grid` declares widths by column), so that no end is the value of one
    person. There is no guarantee of differential privacy. weights: of the quasi-identifiers in
    NCP; equal if empty.

    Goethals, Sörensen and Martens, The Privacy Issue of Counterfactual Explanations, 2022.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("age", low=0, high=99, role="quasi"), Column("income")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.0, -4.5]))
    >>> train = Dataset(np.array([[20.0, 5], [22, 1], [25, 2], [40, 9]]), [1, 0, 0, 1], schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = KAnonymous(k=3).prepare(model, schema, train, rng)
    >>> out = ready.explain(np.array([[21.0, 4.0]]), rng)
    >>> out.regions.low, out.regions.high
    (array([[20.,  5.]]), array([[25.,  5.]]))
    """

    inner: Explainer = field(default_factory=NICE)
    k: int = 10
    solver: Literal["grasp", "optimal", "mutual", "as_released"] = "grasp"
    alpha: int = 20
    iterations: int = 3
    floor: float | None = None
    weights: tuple[float, ...] = ()
    repair: Literal["none", "interval", "rounded"] = "none"
    order: tuple[str, ...] = ()
    grid: tuple[tuple[str, float], ...] = ()
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"
    checked: ClassVar[bool] = False  # a region may hold rows of another class, as pureness measures

    def __post_init__(self) -> None:
        if self.k < 2 or self.alpha < 1 or self.iterations < 1:
            raise JaliError(
                "k_anonymous: k must be at least 2, alpha and iterations at least 1, not "
                f"{self.k}, {self.alpha} and {self.iterations}."
            )
        if self.floor is not None and not 0 <= self.floor <= 1:
            raise JaliError(f"k_anonymous: floor must be a share from 0 to 1, or none, not {self.floor}.")
        if self.order and self.solver != "as_released":
            raise JaliError(
                f'k_anonymous: order is read by solver="as_released" alone, not by {self.solver!r}: leave it out.'
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the wrapped explainer, count the training people, and get the model's classes for them."""
        inner = Inner.of(self, model, schema, train, rng, self.weights)
        grid = Grid.of(inner.train, self.k, dict(self.grid)) if self.repair == "rounded" else None
        return _Prepared(self, model, inner, inner.table, self._blocks(inner), grid)

    def _blocks(self, inner: Inner) -> Blocks | None:
        """The people among whom "mutual" looks for k; the other solvers need none."""
        if self.solver != "mutual":
            return None
        rules = inner.rules()
        return Blocks(inner.table, np.where(rules.showable(), inner.labels, -1), self.k, rules.may_show)


class _Kept(NamedTuple):
    """What a solver found, as regions (m,), the people who match each, and which of them may be shown."""

    found: Found
    regions: Regions
    people: Ints
    able: Bools


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The defence for one model.

    people: the training people who may be shown, where the solver needs them. grid: to which ends are moved, if any.
    """

    part: KAnonymous
    model: Model
    inner: Inner
    table: FrequencyTable
    people: Blocks | None
    grid: Grid | None

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The region for each record, and the row (n, D) in it that is nearest to the record."""
        counterfactuals = self.inner.explain(X, rng)
        kept = self.protect(counterfactuals)
        gap = kept.loss - kept.bound if self.part.solver == "optimal" else None
        return generalised(X, counterfactuals, kept.who, kept.regions, kept.able, gap)

    def protect(self, counterfactuals: Counterfactual) -> Protected:
        """The regions that replace the training rows that counterfactuals show."""
        train = self.inner.train
        who = self.inner.shown(counterfactuals)
        rows = train.X[who.rows]
        cores = Cores(rows, self.table.coded(rows), self.inner.labels[who.rows])
        found, regions, people, able = self._kept(cores)
        bound = np.zeros(len(people)) if repeated(train) else found.bound  # a bound counts each person at one row only
        return Protected(who, regions, able, people, found.loss, found.pure, bound)

    def regions_for(self, rows: Floats, person: Ints) -> Recomputed:
        """What would be shown of the training people (n,) if they had rows (n, D) with values that occur.

        An attacker with the model, its labels of the training rows, everybody's quasi-identifiers and who may be shown
        can compute this.
        """
        given = self.inner.could_be_shown(rows, person)
        if not given.any():
            return Recomputed(Regions.of(rows, self.inner.schema), given)
        some = rows[given]
        kept = self._kept(Cores(some, self.table.coded(some), self.inner.labels[person[given]]))
        at = np.flatnonzero(given)
        given[at] = kept.able
        return Recomputed(placed(rows, at, kept.regions), given)

    def _kept(self, cores: Cores) -> _Kept:
        """The regions for counterfactuals, and which of them may be shown."""
        train = self.inner.train
        found = self._solved(cores)
        regions = self.table.regions(found.boxes, cores.rows)
        people = matching(regions, train)
        able = found.feasible & (people >= self.part.k) & self._pure(cores, found)
        if self.part.repair != "none":
            regions = class_interval(regions, train)
        if self.grid is not None:
            kept = [j for j, c in enumerate(train.schema.columns) if not c.mutable and self.part.keeps_immutable()]
            regions = self.grid.outwards(regions, np.array(kept, dtype=np.int64))
        return _Kept(found, regions, people, able)

    def _pure(self, cores: Cores, found: Found) -> Bools:
        """Which boxes (m,) have at least the required pureness, computed exactly."""
        floor = self.part.floor
        if not floor:
            return np.ones(len(found.pure), dtype=bool)
        able = found.pure > floor - SAME
        large = found.boxes.combinations(self.table.ranged) > POINTS
        if large.any():
            poll = Poll(self.model, self.table, cores.rows, cores.wanted, SURE)
            at = np.flatnonzero(large)
            found.pure[at], exact = poll.pureness(found.boxes.pick(at), at)
            able[at] = exact & (found.pure[at] > floor - SAME)
        return able

    def _solved(self, cores: Cores) -> Found:
        """The boxes that the chosen solver finds."""
        part = self.part
        table = self.table
        poll = Poll(self.model, table, cores.rows, cores.wanted, POINTS)
        effort = Effort(part.k, part.alpha, part.iterations)
        if part.solver == "as_released":
            return as_released(table, poll, cores, self.inner.train.y, effort, part.order)
        if self.people is not None:
            return mutual(poll, cores, self.people)
        found = grasp(table, poll, cores, self.inner.labels, effort)
        if part.solver == "grasp":
            return found
        floor = found.pure if part.floor is None else np.full(len(found.pure), part.floor)
        return optimal(table, poll, cores, found, part.k, floor)
