"""Robustness of labels to noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from jali.core.claims import Harm, Membership
from jali.core.errors import JaliError
from jali.core.protocols import Trainer
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.query_attacks._perturb import additive, checked, robustness
from jali.query_attacks._shadow import calibrated, shadow_models


@dataclass(frozen=True)
class LabelOnly:
    """Share of noisy copies of a record that keep its label, which tends to be larger for training records.

    score = share of the copies with the reference label - threshold, above 0 for a claim of membership. A record whose
    own prediction is not the reference label has share 0. Numbers get noise N(0, (scale sd)^2), with sd of the known
    rows; a category is drawn from the known rows with probability flip; all records get the same noise. The threshold
    is the one that best separates the rows that trained a shadow model from the other known rows.

    reference is part of the threat model: `predicted` takes the label that the oracle gives the record itself, as
    Naretto, Monreale and Giannotti (2024) do; `true` takes the record's label, which the adversary must then know, as
    Choquette-Choo et al., Label-Only Membership Inference Attacks, ICML 2021, do. For a shadow model, the true label is
    the one that it was trained on. `as_released` does what the library released by the authors does, with scale=1 and
    flip=0.6: the rows that set the threshold are perturbed under the oracle and must keep the label that the shadow
    model predicts.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> rows = Dataset(np.linspace(-1, 1, 40)[:, None], np.zeros(40, int), Schema((Column("x"),)))
    >>> oracle = Oracle(rows.schema, lambda X: np.hstack([-X, X]), reveals="labels")
    >>> found = LabelOnly(perturbations=50).run(oracle, rows, rows.rows([0, 19]), np.random.default_rng(0))
    >>> found.score[0] > found.score[1], oracle.queries  # known rows once, records once and with 50 copies each
    (np.True_, 142)
    """

    reference: Literal["predicted", "true", "as_released"] = "predicted"
    perturbations: int = 1000
    scale: float = 0.1
    flip: float = 0.1
    shadow: Trainer | None = None
    learns: ClassVar[Harm] = "membership"
    sees: ClassVar[Sees] = "labels"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked("label_only", self.perturbations)
        if not (self.scale >= 0 and 0 <= self.flip <= 1):
            raise JaliError(
                f"label_only: scale must not be negative and flip must be a share, not {self.scale} and {self.flip}."
            )

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership:
        """One claim per record."""
        shadow = shadow_models("label_only", self.shadow, oracle, known, 1, rng)
        moves = additive(known, self.perturbations, self.scale, self.flip, rng)
        return calibrated(
            partial(robustness, moves=moves, schema=known.schema), shadow, oracle, records, self.reference
        )
