"""Distance to the decision boundary, from labels alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from jali.core.claims import Harm, Membership
from jali.core.errors import JaliError
from jali.core.protocols import Trainer
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.query_attacks._boundary import Ground, distance
from jali.query_attacks._perturb import deviations
from jali.query_attacks._shadow import calibrated, shadow_models


@dataclass(frozen=True)
class BoundaryDistance:
    """Distance of a record to the nearest row with another label, which tends to be larger for training records.

    score = distance - threshold, above 0 for a claim of membership; reference and threshold as in label_only. The
    distance is Euclidean over the number columns, in standard deviations of the known rows; categories and columns that
    are constant there do not move, and integers are queried with fractions too. It is found from labels alone, by a
    decision-based search with `steps` steps of `probes` probes each, and is 64 where no other label is found. It takes
    at most (steps + 11) * probes + 17 * steps + 12 queries per record, and there is no noise level to choose.

    Choquette-Choo et al., Label-Only Membership Inference Attacks, ICML 2021, with the search of Chen, Jordan and
    Wainwright, HopSkipJumpAttack, S&P 2020.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> rows = Dataset(np.linspace(-1, 1, 40)[:, None], np.zeros(40, int), Schema((Column("x"),)))
    >>> oracle = Oracle(rows.schema, lambda X: np.hstack([-X, X]), reveals="labels")
    >>> found = BoundaryDistance(probes=4).run(oracle, rows, rows.rows([0, 39, 30]), np.random.default_rng(0))
    >>> (found.score[:2] - found.score[2]).round(2)  # 1 and .54 from zero, in units of .59
    array([0.78, 0.78])
    """

    reference: Literal["predicted", "true"] = "predicted"
    probes: int = 64
    steps: int = 5
    shadow: Trainer | None = None
    learns: ClassVar[Harm] = "membership"
    sees: ClassVar[Sees] = "labels"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.probes < 1 or self.steps < 0:
            raise JaliError(
                f"boundary_distance: probes must be at least 1 and steps at least 0, not {self.probes}, {self.steps}."
            )

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership:
        """One claim per record."""
        shadow = shadow_models("boundary_distance", self.shadow, oracle, known, 1, rng)
        unit = deviations(known)
        if not unit.any():
            raise JaliError(
                "boundary_distance moves numbers, and all columns are categories or constant in what the adversary "
                "knows: choose label_only."
            )
        ground = Ground.of(known, unit, self.steps, self.probes, rng)
        return calibrated(partial(distance, ground=ground), shadow, oracle, records, self.reference)
