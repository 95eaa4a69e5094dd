"""Replace counterfactuals that are training rows by regions that may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from jali.anonymity.frequency_table import FrequencyTable
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Prepared, Regions, legal
from jali.core.protocols import Model, ShowsWholeRows, keeps_immutable, releases_rows
from jali.core.registry import name_of
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain.native.rows import predictions, require_favourable


class KeepsPeople(Protocol):
    """A part that wraps an explainer and shows regions that match at least k people."""

    @property
    def inner(self) -> Explainer:
        """The explainer it wraps."""

    @property
    def k(self) -> int:
        """The least number of people."""


class Shown(NamedTuple):
    """The training rows (m,) shown as counterfactuals; of (n,): which of them each record got, or -1 for none."""

    rows: Ints
    of: Ints


class Protected(NamedTuple):
    """The regions that replace m training rows, one entry (m,) each.

    able: whether the region may be shown. people: how many people match it. loss: its NCP. pure: its pureness. bound: a
    lower bound on the NCP of any region with k people that is as pure; 0 if none is known.
    """

    who: Shown
    regions: Regions
    able: Bools
    people: Ints
    loss: Floats
    pure: Floats
    bound: Floats


class ForwardsCapabilities:
    """The capabilities of a part that generalises the training rows which the explainer it wraps shows."""

    inner: Explainer

    def releases_rows(self) -> bool:
        """As the wrapped explainer: columns that are not quasi-identifiers keep the values of one person."""
        return releases_rows(self.inner)

    def keeps_immutable(self) -> bool:
        """As the wrapped explainer: if it keeps immutable columns, they are not widened."""
        return keeps_immutable(self.inner)


@dataclass(frozen=True, eq=False)
class Inner:
    """A wrapped explainer, prepared once, and the training people whose rows it shows; name: that of the wrapper.

    model: the one that is explained. table: how many people have each combination of quasi-identifiers. labels (N,):
    the model's classes of the rows.
    """

    name: str
    part: Explainer
    model: Model
    ready: Prepared
    train: Dataset
    schema: Schema
    table: FrequencyTable
    labels: Ints

    @classmethod
    def of(
        cls,
        wrapper: KeepsPeople,
        model: Model,
        schema: Schema,
        train: Dataset | None,
        rng: Rng,
        weights: tuple[float, ...] = (),
    ) -> Inner:
        """Prepare the wrapped explainer for one model, and count the training people: k of them are needed."""
        name = name_of(wrapper)
        part = wrapper.inner
        if train is None or len(train) == 0:
            raise JaliError(
                f"{name} needs the rows that the model was trained on, and none were given: pass them as train."
            )
        ready = part.prepare(model, schema, train if part.reads_training_data else None, rng)
        table = FrequencyTable.of(train, weights, keeps_immutable(part))
        if table.count.sum() < wrapper.k:
            raise JaliError(f"{name}: k = {wrapper.k} is more than the {table.count.sum()} people trained on.")
        return cls(name, part, model, ready, train, schema, table, predictions(model, train.X)[1])

    def rules(self) -> ShowsWholeRows:
        """The wrapped explainer's rules on which rows may be shown; one that does not tell them is refused."""
        if not isinstance(self.ready, ShowsWholeRows):
            raise JaliError(
                f"{self.name} must know which training rows may be shown, and {name_of(self.part)} does not say: wrap "
                'nice without an optimisation, or face, or choose solver="grasp".'
            )
        return self.ready

    def could_be_shown(self, rows: Floats, person: Ints) -> Bools:
        """Whether each person (n,), a position in the training set, could be shown with row (n, D).

        Their own row must be one that may be shown and have the class that the model gives the new row. An explainer
        that does not tell its rules may show every row.
        """
        able: Bools = predictions(self.model, rows)[1] == self.labels[person]
        if isinstance(self.ready, ShowsWholeRows):
            able &= self.ready.showable()[person] & self.ready.may_show(rows)
        return able

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The counterfactuals of the wrapped explainer, which must say which training rows they are."""
        legal(X, self.schema)
        counterfactuals = self.ready.explain(X, rng)
        if not isinstance(counterfactuals, Counterfactual) or counterfactuals.origin is None:
            raise JaliError(
                f"{self.name} generalises counterfactuals that are training rows, and {type(self.part).__name__} does "
                "not say which rows it shows: wrap nice or face."
            )
        return counterfactuals

    def shown(self, counterfactuals: Counterfactual) -> Shown:
        """The training rows that counterfactuals show; a counterfactual that is not a training row is refused."""
        found = counterfactuals.found
        origin = counterfactuals.origin if counterfactuals.origin is not None else np.full(len(found), -1)
        mine = origin[found]
        if (mine < 0).any() or not np.array_equal(self.train.X[mine], counterfactuals.rows[found]):
            raise JaliError(
                f"{self.name} generalises counterfactuals that are training rows, and some of these are not: wrap nice "
                "without an optimisation."
            )
        if len(found):
            require_favourable(self.name, self.labels, self.train.schema)
        rows, of = np.unique(mine, return_inverse=True)
        out = np.full(len(origin), -1)
        out[found] = of
        return Shown(rows, out)


def generalised(
    X: Floats, counterfactuals: Counterfactual, who: Shown, regions: Regions, able: Bools, gap: Floats | None = None
) -> Counterfactual:
    """Answers to records X (n, D): the region of the training row of each, where it may be shown, able (m,).

    gap (m,): NCP of a region above its lower bound, where a bound was computed.
    """
    found = (who.of >= 0) & np.r_[able, False][who.of]
    whole = placed(X, np.flatnonzero(found), regions.pick(who.of[found]))
    origin = counterfactuals.origin if counterfactuals.origin is not None else np.full(len(X), -1)
    rows = np.where(found[:, None], whole.nearest(X), X)
    withheld = (who.of >= 0) & ~found
    spare = None if gap is None else np.where(found, np.r_[gap, 0.0][who.of], 0.0)
    return Counterfactual(rows, found, whole, np.where(found, origin, -1), gap=spare, withheld=withheld)


def placed(X: Floats, at: Ints, regions: Regions) -> Regions:
    """Regions (m,) at the positions at (m,) of n regions; the others are the single rows of X (n, D)."""
    plain = Regions.of(X, regions.schema)
    low = plain.low.copy()
    high = plain.high.copy()
    allowed = plain.allowed.copy()
    low[at] = regions.low
    high[at] = regions.high
    allowed[at] = regions.allowed
    return Regions(low, high, allowed, regions.schema)
