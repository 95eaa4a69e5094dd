"""Robustness of labels to multiplicative noise, for an adversary without statistics of the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from jali.core.claims import Harm, Membership
from jali.core.errors import JaliError
from jali.core.explanation import categories
from jali.core.protocols import Trainer
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.query_attacks._perturb import checked, multiplicative, robustness
from jali.query_attacks._shadow import calibrated, shadow_models


@dataclass(frozen=True)
class ALOA:
    """As label_only, but every number of a copy is multiplied by 1 - u or 1 + u, u uniform in [low, high].

    This needs no statistics of the data, only the schema. Categories stay as they are, because a factor on one-hot
    columns changes none either. A zero never changes. A constant column changes like any other, because the adversary
    does not know that it is constant. A record whose numbers are all zero always keeps its label.

    Agnostic label-only attack of Naretto, Monreale and Giannotti, Evaluating the Privacy Exposure of Interpretable
    Global and Local Explainers, 2024; reference and score as in label_only.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> rows = Dataset(np.linspace(0, 2, 40)[:, None], np.zeros(40, int), Schema((Column("x"),)))
    >>> oracle = Oracle(rows.schema, lambda X: np.hstack([1 - X, X - 1]), reveals="labels")
    >>> ALOA(perturbations=50).run(oracle, rows, rows.rows([0, 21]), np.random.default_rng(0)).score.argmax()
    np.int64(0)
    """

    reference: Literal["predicted", "true", "as_released"] = "predicted"
    perturbations: int = 1000
    low: float = 0.1
    high: float = 0.5
    shadow: Trainer | None = None
    learns: ClassVar[Harm] = "membership"
    sees: ClassVar[Sees] = "labels"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked("aloa", self.perturbations)
        if not 0 <= self.low <= self.high:
            raise JaliError(f"aloa: low and high must be 0 or more and in order, not {self.low} and {self.high}.")

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership:
        """One claim per record."""
        schema = records.schema
        if len(categories(schema)) == len(schema.columns):
            raise JaliError("aloa multiplies numbers, and all columns are categories: choose label_only.")
        shadow = shadow_models("aloa", self.shadow, oracle, known, 1, rng)
        moves = multiplicative(schema, self.perturbations, self.low, self.high, rng)
        return calibrated(partial(robustness, moves=moves, schema=schema), shadow, oracle, records, self.reference)
