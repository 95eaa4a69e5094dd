"""Replace counterfactuals that are training rows by regions that may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Prepared, Regions, categories
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema


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


@dataclass(frozen=True, eq=False)
class Inner:
    """A wrapped explainer, prepared once, and the training set whose rows it shows; name: that of the wrapper."""

    name: str
    part: Explainer
    ready: Prepared
    train: Dataset
    schema: Schema

    @classmethod
    def of(cls, name: str, part: Explainer, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Inner:
        """Prepare the wrapped explainer for one model; a missing training set is refused."""
        if train is None or len(train) == 0:
            raise JaliError(
                f"{name} needs the rows that the model was trained on, and none were given: pass them as train."
            )
        ready = part.prepare(model, schema, train if part.reads_training_data else None, rng)
        return cls(name, part, ready, train, schema)

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """The counterfactuals of the wrapped explainer, which must say which training rows they are."""
        for j in categories(self.schema):
            column = self.schema.columns[j]
            if len(X) and not (X[:, j].min() >= 0 and X[:, j].max() < len(column.categories)):
                raise JaliError(f"Column {column.name!r} holds a category the schema does not name.")
        counterfactuals = self.ready.explain(X, rng)
        if not isinstance(counterfactuals, Counterfactual) or counterfactuals.origin is None:
            raise JaliError(
                f"{self.name} generalises counterfactuals that are training rows, and {type(self.part).__name__} does "
                "not say which rows it shows: wrap nice or face."
            )
        return counterfactuals


def shown(name: str, counterfactuals: Counterfactual, train: Dataset) -> Shown:
    """The training rows that counterfactuals show; a counterfactual that is not a training row is refused."""
    origin = counterfactuals.origin if counterfactuals.origin is not None else np.full(len(counterfactuals.found), -1)
    mine = origin[counterfactuals.found]
    if (mine < 0).any() or not np.array_equal(train.X[mine], counterfactuals.rows[counterfactuals.found]):
        raise JaliError(
            f"{name} generalises counterfactuals that are training rows, and some of these are not: wrap nice without "
            "an optimisation."
        )
    rows, of = np.unique(mine, return_inverse=True)
    out = np.full(len(origin), -1)
    out[counterfactuals.found] = of
    return Shown(rows, out)


def generalised(
    X: Floats, counterfactuals: Counterfactual, who: Shown, regions: Regions, able: Bools, gap: Floats | None = None
) -> Counterfactual:
    """Answers to records X (n, D): the region of the training row of each, where it may be shown, able (m,).

    gap (m,): NCP of a region above its lower bound, where a bound was computed.
    """
    found = (who.of >= 0) & np.r_[able, False][who.of]
    plain = Regions.of(X, regions.schema)
    low = plain.low.copy()
    high = plain.high.copy()
    allowed = plain.allowed.copy()
    mine = regions.pick(who.of[found])
    low[found] = mine.low
    high[found] = mine.high
    allowed[found] = mine.allowed
    whole = Regions(low, high, allowed, regions.schema)
    origin = counterfactuals.origin if counterfactuals.origin is not None else np.full(len(X), -1)
    rows = np.where(found[:, None], whole.nearest(X), X)
    withheld = (who.of >= 0) & ~found
    spare = None if gap is None else np.where(found, np.r_[gap, 0.0][who.of], 0.0)
    return Counterfactual(rows, found, whole, np.where(found, origin, -1), gap=spare, withheld=withheld)
