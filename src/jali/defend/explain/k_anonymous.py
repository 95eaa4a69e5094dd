"""Counterfactuals that could be any of k people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.anonymity.grasp import Cores, Effort, as_released, grasp
from jali.anonymity.measures import class_interval, matching, repeated
from jali.anonymity.mutual import mutual
from jali.anonymity.optimal import optimal
from jali.anonymity.people import Crowd
from jali.anonymity.purity import Found, Poll
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Gives, Regions, Wants, legal
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.defend._dp.release import Protected, agrees, generalised, native, shown
from jali.explain.native.rows import hopeful, remembered
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
    >>> owner = Dataset(np.array([[20.0, 5], [22, 1], [25, 2], [40, 9]]), [1, 0, 0, 1], schema)
    >>> out = KAnonymous(k=3).explain(model, np.array([[21.0, 4.0]]), schema, owner, np.random.default_rng(0))
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
    reads: ClassVar[frozenset[str]] = frozenset({"owner"})
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

    def explain(self, model: Model, X: Floats, schema: Schema, owner: Dataset | None, rng: Rng) -> Counterfactual:
        """The regions, and the row (n, D) of each that is nearest to its record."""
        legal(X, schema)
        there, owner = native("k_anonymous", self.inner, model, X, schema, owner, rng)
        kept = self.protect(model, there, owner)
        gap = kept.loss - kept.bound if self.solver == "optimal" else None
        return generalised(X, there, kept.who, kept.regions, kept.able, gap)

    def protect(self, model: Model, there: Counterfactual, owner: Dataset) -> Protected:
        """What becomes of the training rows that counterfactuals show."""
        crowd, who = Crowd.of(owner, self.weights, agrees(self.inner)), shown("k_anonymous", there, owner)
        if crowd.count.sum() < self.k:
            raise JaliError(f"k_anonymous: k = {self.k} is more than the {crowd.count.sum()} people trained on.")
        if len(there.found):
            hopeful("k_anonymous", model, owner)
        said, rows = remembered(model, owner.X)[1], owner.X[who.rows]
        cores = Cores(rows, crowd.coded(rows), said[who.rows])
        found = self._solved(crowd, model, cores, said, owner.y)
        regions = crowd.regions(found.boxes, rows)
        people = matching(regions, owner)
        able = found.there & (people >= self.k) & self._pure(crowd, model, cores, found)
        bound = np.zeros(len(people)) if repeated(owner) else found.bound  # a person counts at one row only
        if self.repair == "interval":
            regions = class_interval(regions, owner)
        return Protected(who, regions, able, people, found.loss, found.pure, bound)

    def again(self, model: Model, rows: Floats, owner: Dataset) -> Regions:
        """What would be shown of people with rows (n, D), whose quasi-identifiers are among those trained on.

        Whoever holds the model, its labels of the training rows and everybody's quasi-identifiers can make this.
        """
        crowd, said = Crowd.of(owner, self.weights, agrees(self.inner)), remembered(model, owner.X)[1]
        hoped = model.logits(rows).argmax(axis=1)
        found = self._solved(crowd, model, Cores(rows, crowd.coded(rows), hoped), said, owner.y)
        regions = crowd.regions(found.boxes, rows)
        return class_interval(regions, owner) if self.repair == "interval" else regions

    def _pure(self, crowd: Crowd, model: Model, cores: Cores, found: Found) -> Bools:
        """Which boxes (m,) have at least the pureness asked for; an estimate is not enough."""
        if not self.floor:
            return np.ones(len(found.pure), dtype=bool)
        able, large = found.pure > self.floor - SAME, found.boxes.combinations(crowd.ranged) > POINTS
        if large.any():
            poll, at = Poll(model, crowd, cores.rows, cores.wanted, SURE), np.flatnonzero(large)
            found.pure[at], exact = poll.pureness(found.boxes.pick(at), at)
            able[at] = exact & (found.pure[at] > self.floor - SAME)
        return able

    def _solved(self, crowd: Crowd, model: Model, cores: Cores, said: Ints, y: Ints) -> Found:
        poll, effort = Poll(model, crowd, cores.rows, cores.wanted, POINTS), Effort(self.k, self.alpha, self.iterations)
        if self.solver == "as_released":
            return as_released(crowd, poll, cores, y, effort, self.order)
        if self.solver == "mutual":
            return mutual(crowd, poll, cores, said, self.k)
        found = grasp(crowd, poll, cores, said, effort)
        if self.solver == "grasp":
            return found
        floor = found.pure if self.floor is None else np.full(len(found.pure), self.floor)
        return optimal(crowd, poll, cores, found, self.k, floor)
