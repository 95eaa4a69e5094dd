"""Attributions on a coarse grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Explainer, Explanation, Gives, Prepared, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain.lime import Lime


@dataclass(frozen=True)
class Coarse:
    """Attributions of the wrapped explainer, rounded to multiples of `step`: there is no guarantee of differential privacy.

    a'_j = step * round(a_j / step). Shokri, Strobel and Zick (2021) attack attributions by their exact values.

    >>> Coarse(step=0.5).step
    0.5
    """

    inner: Explainer = field(default_factory=Lime)
    step: float = 0.1
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise JaliError(f"coarse: step must be positive, not {self.step}.")
        if self.inner.gives != "attribution":
            raise JaliError(f"coarse wraps an explainer that gives attributions, not {self.inner.gives}s.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the wrapped explainer."""
        rows = train if self.inner.reads_training_data else None
        return _Prepared(self.inner.prepare(model, schema, rows, rng), self.step)


@dataclass(frozen=True)
class _Prepared:
    inner: Prepared
    step: float

    def explain(self, X: Floats, rng: Rng) -> Explanation:
        """Explain raw rows (n, D)."""
        exact = self.inner.explain(X, rng)
        assert isinstance(exact, Attribution)
        return Attribution(self.step * np.round(exact.value / self.step))
