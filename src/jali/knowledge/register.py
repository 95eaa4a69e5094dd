"""A public register of the training people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.query import Whose
from jali.core.values import Dataset, Rng
from jali.knowledge._people import listed


@dataclass(frozen=True)
class Register:
    """A register of exactly the training people: names and quasi-identifiers, nothing else.

    The worst case: every candidate for an answer is in the training set. Private columns hold a constant of the schema.

    Sweeney, k-Anonymity: A Model for Protecting Privacy, 2002; Goethals, Sörensen and Martens, 2022.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.array([[30.0, 9.0]]), [1], Schema((Column("age", role="quasi"), Column("income"))))
    >>> Register().know(data, np.random.default_rng(0)).X
    array([[30.,  0.]])
    """

    whose: ClassVar[Whose] = "train"

    def know(self, rows: Dataset, rng: Rng) -> Dataset:  # noqa: ARG002 (nothing is drawn)
        """The rows without labels and private values."""
        return listed("register", rows)
