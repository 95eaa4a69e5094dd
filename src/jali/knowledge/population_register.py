"""A public register of a whole population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.query import Whose
from jali.core.values import Dataset, Rng
from jali.knowledge._people import listed


@dataclass(frozen=True)
class PopulationRegister:
    """A register of the whole population, members or not: names and quasi-identifiers, nothing else.

    As `register`, but most candidates for an answer are not in the training set, so fewer are named correctly.

    Sweeney, k-Anonymity: A Model for Protecting Privacy, 2002.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.array([[30.0, 9.0]]), [1], Schema((Column("age", role="quasi"), Column("income"))))
    >>> PopulationRegister().know(data, np.random.default_rng(0)).X
    array([[30.,  0.]])
    """

    whose: ClassVar[Whose] = "everybody"

    def know(self, rows: Dataset, rng: Rng) -> Dataset:  # noqa: ARG002 (nothing is drawn)
        """The rows without labels and private values."""
        return listed("population_register", rows)
