"""Gaussian inputs, with labels from a sparse linear rule with a little noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.data.tables import standardised

NOISE_VARIANCE = 0.01
RELEVANT = 0.1


@dataclass(frozen=True)
class LinearGaussian:
    """Synthetic: y = 1[x·β + e > 0] with x ~ N(0, I), a sparse unit vector β, and e ~ N(0, 0.01).

    β is drawn uniformly from [-1, 1]^d; the tenth of its entries with the largest magnitude is moved to the first
    coordinates, the others are set to 0, and β is scaled to length 1. 0.01 is the variance of e (standard deviation
    0.1), so a share arctan(0.1)/π = 3.2 % of the labels is on the wrong side of the rule. x is standardised over the
    whole table before it is multiplied by β (scale="sample", as published), so that its scale is taken from the rows
    and privacy claims about it are void. With scale="population" x is left as drawn, and its scale is declared. The
    generator behind the synthetic results of Pawelczyk et al. (2023); no class is favourable.

    >>> LinearGaussian(n=4, d=20).load().X.shape
    (4, 20)
    """

    n: int = 10_000
    d: int = 100
    seed: int = 0
    scale: Literal["sample", "population"] = "sample"
    origin: ClassVar[str] = "made by jali after Pawelczyk, Lakkaraju and Neel (2023); synthetic"
    licence: ClassVar[str] = "Apache-2.0"
    files: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        standardised.check("linear_gaussian", self.n, self.d, self.seed)

    def load(self) -> Dataset:
        """Draw the rule, the rows and the noise."""
        rng = np.random.default_rng(self.seed)
        rule = _rule(self.d, rng)
        X = rng.standard_normal((self.n, self.d))
        own = self.scale == "sample"
        X = standardised.standardised(X) if own else X
        noise = rng.normal(0.0, np.sqrt(NOISE_VARIANCE), self.n)
        return standardised.dataset(X, (X @ rule + noise > 0).astype(np.int64), 2, "bounds" if own else "declared")


def _rule(d: int, rng: Rng) -> Floats:
    """The unit vector β (d,), of which a tenth of the entries, and at least one, is not zero."""
    drawn = rng.uniform(-1.0, 1.0, d)
    kept = max(1, int(RELEVANT * d))
    rule = np.zeros(d)
    rule[:kept] = drawn[np.argsort(-np.abs(drawn))[:kept]]
    return rule / np.linalg.norm(rule)
