"""Whether attributions name the columns that the model uses: deletion and insertion curves, infidelity, agreement.

Columns are replaced by those of a typical row of the population (medians, most frequent categories), the one with the
largest attribution first (deletion), or put into the typical row in the same order (insertion). The measure is the mean
probability of the predicted class along the way (Petsiuk, Das and Saenko, RISE, 2018). The channels of a pixel are one
column here, and many columns are replaced a few at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from jali.audit.preparations import Preparations
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Explainer
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema

STEPS = 32  # at which a curve is read; with fewer columns one after each of them
REMOVALS = 20  # random sets of columns by which infidelity is measured
REMOVED = 0.2  # share of the columns in such a set
MEASURES = ("deletion", "insertion", "infidelity", "rank_agreement")


@dataclass(frozen=True)
class Faithful:
    """How many records of how many models have the faithfulness of their attributions measured."""

    records: int = 100
    models: int = 6

    def rows(self, measured: Bools, number: int) -> Ints:
        """The records that are measured under the model with this number, of those that may be (N,)."""
        return np.flatnonzero(measured)[: self.records] if number < self.models else np.zeros(0, dtype=np.int64)


def measured(prepared: Preparations, twin: Preparations, explainer: Explainer, people: Dataset, rng: Rng) -> Floats:
    """All MEASURES (4, n) of the attributions of some people under one model.

    twin: another model that was trained on the same rows without noise, in a random stream of its own. The rank
    correlation with its attributions is what noise of training leaves; for a model without noise it is what another
    start of training leaves.
    """
    given = _attributions(prepared, explainer, people, rng)
    other = _attributions(twin, explainer, people, rng)
    curves = faithfulness(prepared.model, people, given, typical(prepared.train))
    missed = infidelity(prepared.model, people, given, neutral(prepared.train), rng)
    return np.stack([curves["deletion"], curves["insertion"], missed, rank_correlation(given.value, other.value)])


def _attributions(prepared: Preparations, explainer: Explainer, people: Dataset, rng: Rng) -> Attribution:
    made = prepared.of(explainer).explain(people.X, rng.spawn(1)[0])
    if not isinstance(made, Attribution):
        raise JaliError("Faithfulness is measured of attributions, which this explainer does not give.")
    return made


def faithfulness(model: Model, people: Dataset, given: Attribution, other: Floats | None = None) -> dict[str, Floats]:
    """Deletion and insertion (n,) of the attributions of the people; other: the row (D,) that replaces them."""
    X = people.X
    order = np.argsort(-by_column(given.value, people.schema), axis=1, kind="stable")
    label = model.logits(X).argmax(axis=1)
    row = np.broadcast_to(typical(people) if other is None else other, X.shape)
    columns = columns_of(people.schema)
    return {
        "deletion": _along(model, X, row, order, columns, label),
        "insertion": _along(model, row, X, order, columns, label),
    }


def infidelity(model: Model, people: Dataset, given: Attribution, other: Floats, rng: Rng) -> Floats:
    """The share (n,) of what random removals change in the predicted class's score that attributions do not foresee.

    A removal replaces a random fifth of the columns by those of another row (D,). Foreseen is the sum of their
    attributions, p; seen is how much the score falls, s. With b >= 0 the best scale, sum (s - b p)^2 / sum s^2: 0 where
    attributions foresee every removal up to a scale, 1 where they foresee none. Yeh et al., On the (In)fidelity and
    Sensitivity of Explanations, NeurIPS 2019, with their optimal scale, so that models of other scales compare.
    """
    X = people.X
    at = np.arange(len(X))
    weight = by_column(given.value, people.schema)
    columns = columns_of(people.schema)
    label = model.logits(X).argmax(axis=1)
    score = model.logits(X)[at, label]
    foreseen, seen = np.zeros((2, REMOVALS, len(X)))
    for k in range(REMOVALS):
        gone = rng.random(weight.shape) < REMOVED
        foreseen[k] = (weight * gone).sum(axis=1)
        seen[k] = score - model.logits(np.where(gone[:, columns], other, X))[at, label]
    scale = _ratio((foreseen * seen).sum(axis=0), (foreseen**2).sum(axis=0)).clip(0)
    return _ratio(((seen - scale * foreseen) ** 2).sum(axis=0), (seen**2).sum(axis=0))


def rank_correlation(a: Floats, b: Floats) -> Floats:
    """Spearman's correlation (n,) of the rows of two arrays (n, P); 0 where one of them is constant."""
    from scipy.stats import rankdata

    x = rankdata(a, axis=1) - (a.shape[1] + 1) / 2
    y = rankdata(b, axis=1) - (b.shape[1] + 1) / 2
    return _ratio((x * y).sum(axis=1), np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1)))


def typical(people: Dataset) -> Floats:
    """A row (D,) of medians and most frequent categories; whole numbers are whole."""
    out = np.median(people.X, axis=0)
    for j, column in enumerate(people.schema.columns):
        if column.kind == "category":
            out[j] = np.bincount(people.X[:, j].astype(np.int64)).argmax()
        elif column.kind == "integer":
            out[j] = np.rint(out[j])
    return out


def neutral(people: Dataset) -> Floats:
    """A row (D,) that is encoded as zeros, but for its most frequent categories."""
    numbers = np.array([column.centre for column in people.schema.columns])
    named = np.array([column.kind == "category" for column in people.schema.columns])
    return np.where(named, typical(people), numbers)


def columns_of(schema: Schema) -> Ints:
    """The number of each raw column (D,) among those that are replaced; the channels of a pixel have the same."""
    pixels = len(schema.columns) if schema.image is None else schema.image[1] * schema.image[2]
    return np.arange(len(schema.columns)) % pixels


def by_column(value: Floats, schema: Schema) -> Floats:
    """Attributions (n, P) of encoded features, summed over what is replaced together."""
    number = columns_of(schema)[Encoding(schema).source]
    return np.stack([value[:, number == j].sum(axis=1) for j in range(int(number.max()) + 1)], axis=1)


def _along(model: Model, start: Floats, goal: Floats, order: Ints, columns: Ints, label: Ints) -> Floats:
    """Mean probability (n,) of class label as columns of start become those of goal, in this order (n, columns)."""
    at = np.arange(len(start))
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    ends = np.unique(np.linspace(0, order.shape[1], min(STEPS, order.shape[1]) + 1).round().astype(np.int64))[1:]
    total = np.zeros(len(start))
    for end in ends.tolist():
        rows = np.where((rank < end)[:, columns], goal, start)
        total += softmax(model.logits(rows), axis=1)[at, label]
    return np.asarray(total / len(ends))


def _ratio(of: Floats, whole: Floats) -> Floats:
    """Of / whole (n,), 0 where the whole is 0."""
    return np.asarray(np.divide(of, whole, out=np.zeros(len(of)), where=whole > 0))
