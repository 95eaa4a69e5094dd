"""Gaussian clusters on the corners of a hypercube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.tables import standardised


@dataclass(frozen=True)
class Hypercube:
    """Synthetic: one Gaussian per class around a random corner of a d-dimensional cube; all columns informative.

    scikit-learn's make_classification with n_informative = d, nothing redundant or repeated, one cluster per class and
    a share `flip_y` of labels drawn at random, then standardised. The corners lie at ±class_sep; each cluster is
    stretched by a random d × d matrix (400 MB at d = 7,000). The generator named by Shokri et al. (2017), Pawelczyk et
    al. (2023) and Huang et al. (2023); n = 30,000, d = 30 and 3 classes is our interpretation of SYNTH in Naretto
    et al. (2024). No class is favourable.

    >>> data = Hypercube(n=90, d=5, classes=3).load()
    >>> data.X.shape, data.schema.classes
    ((90, 5), ('0', '1', '2'))
    """

    n: int = 10_000
    d: int = 50
    classes: int = 2
    class_sep: float = 1.0
    flip_y: float = 0.01
    seed: int = 0
    origin: ClassVar[str] = "made by scikit-learn's make_classification; synthetic"
    licence: ClassVar[str] = "Apache-2.0"
    files: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        standardised.check("hypercube", self.n, self.d, self.seed)
        if self.class_sep <= 0:
            raise JaliError(f"hypercube: class_sep must be positive, not {self.class_sep}.")
        if not 0 <= self.flip_y <= 1:
            raise JaliError(f"hypercube: flip_y must be a share between 0 and 1, not {self.flip_y}.")
        if not 2 <= self.classes <= min(self.n, 2**self.d):
            raise JaliError(f"hypercube: classes must be from 2 to min(n, 2^d), not {self.classes}.")

    def load(self) -> Dataset:
        """Draw the clusters."""
        from sklearn.datasets import make_classification

        X, y = make_classification(
            n_samples=self.n,
            n_features=self.d,
            n_informative=self.d,
            n_redundant=0,
            n_repeated=0,
            n_classes=self.classes,
            n_clusters_per_class=1,
            class_sep=self.class_sep,
            flip_y=self.flip_y,
            random_state=self.seed,
        )
        return standardised.dataset(standardised.standardised(X), y, self.classes, "bounds")
