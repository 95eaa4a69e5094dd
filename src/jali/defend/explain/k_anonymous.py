"""Counterfactuals that could be any of k people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.anonymity.grasp import Cores, Effort, as_released, grasp
from jali.anonymity.measures import class_interval, matching, repeated
from jali.anonymity.mutual import Blocks, mutual
from jali.anonymity.optimal import optimal
from jali.anonymity.people import Crowd
from jali.anonymity.purity import Found, Poll
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Regions, Wants, legal
from jali.core.protocols import Model, keeps_immutable, releases_rows
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.defend._dp.release import Inner, Protected, generalised, shown
from jali.explain.native.rows import predictions, require_favourable
from jali.explain.nice import NICE

POINTS = 1000  # combinations of a box that are asked about in full; of larger ones as many are drawn
SURE = 1 << 17  # the same for answers that must have a pureness: larger ones are withheld
SAME = 1e-9


@dataclass(frozen=True)
class KAnonymous:
    """A training row shown as counterfactual, its quasi-identifiers widened until k training rows match them.

    Ranges and categories are widened around the row, and no more than needed: `solver` minimises NCP, the share of the
    possible values that an answer leaves open, and keeps pureness, the share of the combinations in it that have the
    outcome promised. "grasp" is the published CF-K: the best of `iterations` starts, each from one of the `alpha`
    nearest people with the outcome to the next and then improved value by value. "optimal" looks at every region that
    loses less than that one and is as pure (or has pureness `floor`), and so finds the best there is, or a bound on
    it. "as_released" does what the authors' code does (`_grasp.as_released`); `order` names the quasi-identifiers as
    the authors list them, where that is not the order of the table.

    "mutual" gives an answer that k people share (`_mutual`): whoever can run all this and holds everybody's
    quasi-identifiers cannot rule them out, as is possible with the others (`replay`). It loses more.

    What cannot change is not widened where the wrapped explainer keeps it as it is in the record (immutable="agree").
    An answer that fewer than k people match, by a count of its own, or of less pureness than `floor`, is withheld. One
    row is widened in one way, whoever asks and however often, so that its answers have nothing to intersect.

    k counts people among the training rows, not in the world, and what is no quasi-identifier stays that of one real
    person. `repair="interval"` shows the lowest to highest value of the people who match instead; pureness is measured
    before. No differential privacy is promised. weights: what each quasi-identifier counts in NCP, equal if empty.

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
    repair: Literal["none", "interval"] = "none"
    order: tuple[str, ...] = ()
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"
    checked: ClassVar[bool] = False  # a region may hold rows without the outcome: that is what pureness tells

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
                f'k_anonymous: order is read by solver="as_released" alone, not by {self.solver!r}: drop it.'
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """The wrapped explainer, the people behind the model, and what the model says of them."""
        inner = Inner.of("k_anonymous", self.inner, model, schema, train, rng)
        crowd = Crowd.of(inner.train, self.weights, keeps_immutable(self.inner))
        if crowd.count.sum() < self.k:
            raise JaliError(f"k_anonymous: k = {self.k} is more than the {crowd.count.sum()} people trained on.")
        labels = predictions(model, inner.train.X)[1]
        return _Prepared(self, model, inner, crowd, Blocks(crowd, labels, self.k))

    def releases_rows(self) -> bool:
        """As the explainer that it wraps: what is no quasi-identifier stays that of one person."""
        return releases_rows(self.inner)

    def keeps_immutable(self) -> bool:
        """As the explainer that it wraps: what cannot change is not widened then."""
        return keeps_immutable(self.inner)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The defence for one model; people: those behind it, with the labels that the model gives them."""

    part: KAnonymous
    model: Model
    inner: Inner
    crowd: Crowd
    people: Blocks

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The regions, and the row (n, D) of each that is nearest to its record."""
        legal(X, self.inner.schema)
        there = self.inner.explain(X, rng)
        kept = self.protect(there)
        gap = kept.loss - kept.bound if self.part.solver == "optimal" else None
        return generalised(X, there, kept.who, kept.regions, kept.able, gap)

    def protect(self, there: Counterfactual) -> Protected:
        """What becomes of the training rows that counterfactuals show."""
        train, labels = self.inner.train, self.people.labels
        who = shown("k_anonymous", there, train)
        if len(there.found):
            require_favourable("k_anonymous", labels, train.schema)
        rows = train.X[who.rows]
        cores = Cores(rows, self.crowd.coded(rows), labels[who.rows])
        found = self._solved(cores)
        regions = self.crowd.regions(found.boxes, rows)
        people = matching(regions, train)
        able = found.there & (people >= self.part.k) & self._pure(cores, found)
        bound = np.zeros(len(people)) if repeated(train) else found.bound  # a person counts at one row only
        if self.part.repair == "interval":
            regions = class_interval(regions, train)
        return Protected(who, regions, able, people, found.loss, found.pure, bound)

    def regions_for(self, rows: Floats) -> Regions:
        """What would be shown of people with rows (n, D), whose quasi-identifiers are among those trained on.

        Whoever holds the model, its labels of the training rows and everybody's quasi-identifiers can make this.
        """
        hoped = self.model.logits(rows).argmax(axis=1)
        found = self._solved(Cores(rows, self.crowd.coded(rows), hoped))
        regions = self.crowd.regions(found.boxes, rows)
        return class_interval(regions, self.inner.train) if self.part.repair == "interval" else regions

    def _pure(self, cores: Cores, found: Found) -> Bools:
        """Which boxes (m,) have at least the pureness asked for; an estimate is not enough."""
        floor = self.part.floor
        if not floor:
            return np.ones(len(found.pure), dtype=bool)
        able, large = found.pure > floor - SAME, found.boxes.combinations(self.crowd.ranged) > POINTS
        if large.any():
            poll, at = Poll(self.model, self.crowd, cores.rows, cores.wanted, SURE), np.flatnonzero(large)
            found.pure[at], exact = poll.pureness(found.boxes.pick(at), at)
            able[at] = exact & (found.pure[at] > floor - SAME)
        return able

    def _solved(self, cores: Cores) -> Found:
        part, crowd = self.part, self.crowd
        poll = Poll(self.model, crowd, cores.rows, cores.wanted, POINTS)
        effort = Effort(part.k, part.alpha, part.iterations)
        if part.solver == "as_released":
            return as_released(crowd, poll, cores, self.inner.train.y, effort, part.order)
        if part.solver == "mutual":
            return mutual(poll, cores, self.people)
        found = grasp(crowd, poll, cores, self.people.labels, effort)
        if part.solver == "grasp":
            return found
        floor = found.pure if part.floor is None else np.full(len(found.pure), part.floor)
        return optimal(crowd, poll, cores, found, part.k, floor)
