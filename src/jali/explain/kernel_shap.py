"""Kernel SHAP: Shapley values of any model."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.slopes import blocks, check, public_rows, scores
from jali.explain.native.placing import placed

BATCH = 2**18  # cells of changed rows that a model scores in one call: 2 MB, which stay in a processor's cache
MOST = 4096  # columns; more would need over a quarter of a gigabyte for the coalitions of one record


@dataclass(frozen=True)
class KernelShap:
    """The Shapley value of each raw column for the score of the predicted class, fitted to coalitions of columns.

    v(S) is the mean of logit_c over `background` public rows whose columns S are replaced by the record's; a minimises
    sum_S w(S) [v(S) - v(0) - sum_{j in S} a_j]^2 subject to sum_j a_j = v(all) - v(0), w(S) = (D - 1) / (binom(D, |S|)
    |S| (D - |S|)). All coalitions of 1 or D - 1 columns are evaluated, and `budget` more: first all coalitions of the
    next sizes, then random ones in pairs of a coalition and its complement. Where the budget covers all coalitions
    (D <= 8 by default) the values are exact. All records of a call share the coalitions, so the fit is one matrix
    product.

    The background rows come from the schema and are the same for every record; training rows in their place would put
    training data into every answer. A categorical column is one player, and its value goes to the category that the
    record has.

    Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NIPS 2017; pairs: Covert and Lee, 2021.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> part = KernelShap(background=1)  # the public centre alone
    >>> rng = np.random.default_rng(0)
    >>> ready = part.prepare(model, schema, None, rng)
    >>> ready.explain(np.array([[3.0, 1.0]]), rng).value.round(6)
    array([[ 6., -1.]])
    """

    budget: int = 256
    background: int = 4
    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "labels"
    reads_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.budget < 0 or self.background < 1:
            raise JaliError(
                "kernel_shap: budget must be at least 0 and background at least 1, "
                f"not {self.budget} and {self.background}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Make the public background rows, and the model's mean logits on them."""
        width = len(schema.columns)
        if width > MOST:
            raise JaliError(
                f"kernel_shap takes at most {MOST:,} columns, not {width:,}: use a gradient explainer instead."
            )
        public = public_rows(schema, self.background)
        return _Prepared(self, model, schema, public, model.logits(public).mean(axis=0))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model: public background rows (B, D), and their mean logits, nothing (C,)."""

    part: KernelShap
    model: Model
    schema: Schema
    public: Floats
    nothing: Floats

    def explain(self, X: Floats, rng: Rng) -> Attribution:
        """Attributions (n, P) by encoded feature."""
        check("kernel_shap", X, self.schema)
        logits = self.model.logits(X)
        of = logits.argmax(axis=1)
        sets, weight = _coalitions(X.shape[1], self.part.budget, rng)
        value = np.empty((len(X), len(sets)))
        for some in blocks(len(X), _cells(sets, self.schema), BATCH):
            value[some] = _worth(self.model, X[some], of[some], sets, self.public)
        gain = logits[np.arange(len(X)), of] - self.nothing[of]
        fitted = _fit(value - self.nothing[of, None], gain, sets, weight)
        return Attribution(placed(fitted, X, self.schema))


def _cells(sets: Bools, schema: Schema) -> int:
    """Cells that a record needs: as encoded features, or twice as raw rows, which are copied on the way."""
    return len(sets) * max(2 * len(schema.columns), len(Encoding(schema).source))


def _worth(model: Model, X: Floats, of: Ints, sets: Bools, public: Floats) -> Floats:
    """Mean logit (n, K) of class of (n,) at public rows whose columns in each of the sets (K, D) are the record's."""
    return np.asarray(np.mean([scores(model, np.where(sets, X[:, None, :], row), of) for row in public], axis=0))


def _fit(value: Floats, gain: Floats, sets: Bools, weight: Floats) -> Floats:
    """Least squares (n, D) for the value (n, K) of sets (K, D) with weight (K,); each row adds up to its gain (n,)."""
    weighted = weight[:, None] * sets
    inverse = np.linalg.inv(sets.T @ weighted)
    free = value @ weighted @ inverse
    return np.asarray(free + np.outer(gain - free.sum(axis=1), inverse.sum(axis=0) / inverse.sum()))


def _coalitions(width: int, budget: int, rng: Rng) -> tuple[Bools, Floats]:
    """Sets (K, D) of columns, neither empty nor full, and their weights (K,) in the fit."""
    if width == 1:
        return np.ones((1, 1), dtype=bool), np.ones(1)
    left, whole = 2 * width + budget, 0
    sets, weights = [], []
    for size in range(1, width // 2 + 1):  # all sets of this size and of their complements, while they fit the budget
        sizes = sorted({size, width - size})
        count = math.comb(width, size)
        if count * len(sizes) > left:
            break
        sets += [_all(width, k) for k in sizes]
        weights += [np.full(count, _mass(width, k) / count) for k in sizes]
        left, whole = left - count * len(sizes), size
    rest = np.arange(whole + 1, width - whole)
    if len(rest) and left > 1:
        drawn = _drawn(width, rest, left // 2, rng)
        sets += [drawn, ~drawn]
        weights += [np.full(len(drawn), _mass(width, rest).sum() / (2 * len(drawn)))] * 2
    return np.concatenate(sets), np.concatenate(weights)


def _mass(width: int, size: Ints | int) -> Floats:
    """Total weight of all sets of a size."""
    return np.asarray((width - 1) / (size * (width - size)), dtype=np.float64)


def _all(width: int, size: int) -> Bools:
    """Every set (K, D) of one size."""
    members = np.array(list(itertools.combinations(range(width), size)))
    out = np.zeros((len(members), width), dtype=bool)
    np.put_along_axis(out, members, True, axis=1)
    return out


def _drawn(width: int, sizes: Ints, count: int, rng: Rng) -> Bools:
    """Random sets (count, D) of these sizes, each size with probability proportional to its weight."""
    mass = _mass(width, sizes)
    size = rng.choice(sizes, count, p=mass / mass.sum())
    return np.asarray(rng.random((count, width)).argsort(axis=1) < size[:, None])
