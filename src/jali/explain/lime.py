"""LIME: a linear model around each record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._attribution.slopes import blocks, check, scores


@dataclass(frozen=True)
class Lime:
    """The slopes of a linear model fitted to the score of the predicted class around the record.

    a minimises sum_s w_s [logit_c(z_s) - a_0 - a (z_s - z)]^2 + `ridge` ||a||^2 over `samples` legal rows z_s around
    the encoded record z, w_s = exp(-||z_s - z||^2 / (2 `width`^2 D)). A number moves by a normal step with the spread
    of the schema, rounded and clipped to its bounds; a category is drawn uniformly. All records of a call share these
    draws. Only the schema and the model's predictions are used: no training rows, and no statistics of them.

    The slopes of the categories of one column are relative to each other. With few samples for many columns, as in
    images, the ridge penalty dominates the fit.

    Ribeiro, Singh and Guestrin, "Why Should I Trust You?", KDD 2016; kernel and ridge as in their library, but around
    the record, and on the numbers themselves instead of quartiles of the training data.

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0]]), np.zeros(2))
    >>> part = Lime(ridge=1e-6)
    >>> rng = np.random.default_rng(0)
    >>> ready = part.prepare(model, schema, None, rng)
    >>> ready.explain(np.array([[3.0, 1.0]]), rng).value.round(4)
    array([[ 2., -1.]])
    """

    samples: int = 500
    width: float = 0.75
    ridge: float = 1.0
    gives: ClassVar[Gives] = "attribution"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "labels"
    reads_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.samples < 2 or not (self.width > 0 and self.ridge > 0):
            raise JaliError(
                "lime: samples must be at least 2, width and ridge above 0, "
                f"not {self.samples}, {self.width} and {self.ridge}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Keep the model and the encoding; nothing is fitted, and samples are drawn in `explain`."""
        return _Prepared(self, model, Encoding(schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: Lime
    model: Model
    encoding: Encoding

    def explain(self, X: Floats, rng: Rng) -> Attribution:
        """Attributions (n, P) by encoded feature."""
        part, schema = self.part, self.encoding.schema
        check("lime", X, schema)
        of = self.model.logits(X).argmax(axis=1)
        around = _Around(self.encoding, *_draws(schema, part.samples, rng))
        out = np.empty((len(X), len(self.encoding.source)))
        for some in blocks(len(X), part.samples * out.shape[1]):
            rows, moves = around.of(X[some])
            near = np.exp(-(moves**2).sum(axis=2) / (2 * part.width**2 * X.shape[1]))
            out[some] = _slopes(moves, scores(self.model, rows, of[some]), near, part.ridge)
        return Attribution(out)


@dataclass(frozen=True)
class _Around:
    """S samples around any record: steps (S, D) of numbers in raw units, and new codes (S, D) of categories."""

    encoding: Encoding
    step: Floats
    codes: Floats

    def of(self, X: Floats) -> tuple[Floats, Floats]:
        """Legal rows (n, S, D) around raw rows (n, D), and their encoded moves (n, S, P)."""
        rows = X[:, None, :] + self.step
        for j, _ in self.encoding.coded:
            rows[:, :, j] = self.codes[:, j]
        flat = self.encoding.decode(self.encoding.encode(rows.reshape(-1, X.shape[1])))
        Z = self.encoding.encode(flat).reshape(len(X), len(self.step), -1)
        return flat.reshape(rows.shape), Z - self.encoding.encode(X)[:, None, :]


def _draws(schema: Schema, samples: int, rng: Rng) -> tuple[Floats, Floats]:
    spread = np.array([0.0 if c.kind == "category" else c.spread for c in schema.columns])
    values = np.array([max(1, len(c.categories)) for c in schema.columns])
    shape = samples, len(spread)
    return rng.standard_normal(shape) * spread, np.floor(rng.random(shape) * values)


def _slopes(moves: Floats, value: Floats, near: Floats, ridge: float) -> Floats:
    """Weighted ridge regression of value (n, S) on moves (n, S, P) with an intercept, slopes (n, P)."""
    share = near / near.sum(axis=1, keepdims=True)
    root = np.sqrt(near)
    A = root[:, :, None] * (moves - np.einsum("ns,nsp->np", share, moves)[:, None, :])
    b = (root * (value - (share * value).sum(axis=1, keepdims=True)))[:, :, None]
    back = A.transpose(0, 2, 1)
    if A.shape[1] < A.shape[2]:  # fewer samples than columns: the smaller of two equal systems
        return np.asarray((back @ np.linalg.solve(A @ back + ridge * np.eye(A.shape[1]), b))[:, :, 0])
    return np.asarray(np.linalg.solve(back @ A + ridge * np.eye(A.shape[2]), back @ b)[:, :, 0])
