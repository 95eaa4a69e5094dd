"""Which columns matter most to a model, over its training rows, with differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Explainer
from jali.core.guarantee import Guarantee
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Rng
from jali.privacy.byte_sources import SystemRandom
from jali.privacy.discrete_noise import below, bernoulli_exp
from jali.privacy.mechanisms import released
from jali.protect.budget import Budget
from jali.protect.protection import Condition, Protection, of_claim

UNIT = 1000  # the shares of one row are whole thousandths, so that all arithmetic is exact


@dataclass(frozen=True)
class TopColumns:
    """The columns that matter most, the first most of all, and what is guaranteed."""

    names: tuple[str, ...]
    guarantee: Protection


def top_columns(
    explainer: Explainer, model: Model, train: Dataset, k: int, epsilon: float, budget: Budget | None = None
) -> TopColumns:
    """The k columns with the largest mean share of the attributions of the training rows.

    A row's share of a column is its attribution without sign, divided by the sum over all columns: between 0 and 1, and
    0 for all columns where that sum is 0. Replacing one record changes the total of a column by at most 1. The columns
    are chosen one after the other, each with epsilon / k, by permute-and-flip, which is never worse than the
    exponential mechanism (McKenna and Sheldon, NeurIPS 2020), with exact coins. `explainer` must not read training
    rows, or one record would change the attributions of others.
    """
    name = registry.name_of(explainer)
    if explainer.gives != "attribution" or explainer.reads_training_data:
        raise JaliError(f"{name} must give attributions and read no training rows, such as kernel_shap or lime.")
    if not 1 <= k <= len(train.schema.columns):
        raise JaliError(f"k must be from 1 to the {len(train.schema.columns)} columns of the table, not {k}.")
    claim = Guarantee("permute-and-flip", epsilon, "replace-one", ("explanations",), "release")

    def draw(rng: Rng) -> list[int]:
        scores = totals(explainer, model, train)
        chosen = released("top columns", lambda: np.array(peeled(scores, k, epsilon, rng), dtype=np.float64))
        return [int(j) for j in chosen]

    if budget is None:
        places = draw(SystemRandom())
    else:
        places = budget.ledger.answer(f"top {k} columns by {registry.spec(explainer)}", claim, draw)
    more = (Condition("the number of rows, the columns and their categories are public"),)
    return TopColumns(tuple(train.schema.columns[j].name for j in places), of_claim(claim, False, more))


def totals(explainer: Explainer, model: Model, train: Dataset) -> Ints:
    """The total (D,) over rows of the share of each column, in thousandths."""
    rng = np.random.default_rng(0)
    found = explainer.prepare(model, train.schema, None, rng).explain(train.X, rng)
    assert isinstance(found, Attribution)
    return np.asarray(shares(found.value, Encoding(train.schema).source).sum(axis=0))


def shares(value: Floats, source: Ints) -> Ints:
    """The share of each column (n, D) in attributions by encoded feature (n, P), in whole thousandths."""
    size = np.stack([np.abs(value[:, source == j].sum(axis=1)) for j in range(source.max() + 1)], axis=1)
    total = size.sum(axis=1, keepdims=True)
    part = np.divide(size, total, out=np.zeros_like(size), where=total > 0)
    return np.asarray(np.rint(UNIT * part), dtype=np.int64)


def peeled(scores: Ints, k: int, epsilon: float, rng: Rng) -> list[int]:
    """The positions of k columns, chosen one after the other with epsilon / k each."""
    left = list(range(len(scores)))
    out = []
    for _ in range(k):
        at = permute_and_flip([int(scores[j]) for j in left], Fraction(epsilon) / k, rng)
        out.append(left.pop(at))
    return out


def permute_and_flip(scores: list[int], epsilon: Fraction, rng: Rng) -> int:
    """The position of a high score: in random order, each is taken with probability exp(epsilon (q - max) / 2 UNIT)."""
    best = max(scores)
    left = list(range(len(scores)))
    while True:
        at = left.pop(below(len(left), rng)) if len(left) > 1 else left.pop()
        if bernoulli_exp(epsilon * (best - scores[at]) / (2 * UNIT), rng):
            return at
