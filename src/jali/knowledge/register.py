"""A public register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core import Dataset, JaliError, Rng


@dataclass(frozen=True)
class Register:
    """A table of people by name, such as a list of voters: their quasi-identifiers and nothing else.

    Everybody the model was trained on is in it, and a share `others` of the rest of the population; with none of
    these, who fits an answer must be one of the training rows, which is the worst case. Private columns hold a constant
    of the schema.

    Sweeney, k-Anonymity: A Model for Protecting Privacy, 2002; Goethals, Sörensen and Martens, 2022.

    >>> from jali.core import Column, Schema
    >>> data = Dataset(np.array([[30.0, 9.0]]), [1], Schema((Column("age", role="quasi"), Column("income"))))
    >>> Register().know(data, np.random.default_rng(0)).X
    array([[30.,  0.]])
    """

    others: float = 0.0
    whose: ClassVar[Literal["others", "everybody"]] = "everybody"

    def __post_init__(self) -> None:
        if not 0 <= self.others <= 1:
            raise JaliError(f"register: others must be a share between 0 and 1, not {self.others}.")

    def know(self, rows: Dataset, rng: Rng) -> Dataset:  # noqa: ARG002 (nothing is drawn)
        """The rows without labels and private values."""
        columns = rows.schema.columns
        if not any(c.role == "quasi" for c in columns):
            raise JaliError("register: no column is a quasi-identifier; mark those that link a row to a person.")
        kept = np.array([c.role == "quasi" for c in columns])
        blank = np.array([0.0 if c.kind == "category" else c.centre for c in columns])
        return Dataset(np.where(kept, rows.X, blank), np.zeros(len(rows), dtype=np.int64), rows.schema)
