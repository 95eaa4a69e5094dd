"""Extraction of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.claims import Copy, Harm
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.models.sklearn import Sklearn


@dataclass(frozen=True)
class Extraction:
    """A decision tree, fitted to the oracle's labels of the rows that the adversary knows.

    Tramèr et al., Stealing Machine Learning Models via Prediction APIs, USENIX Security 2016.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> rows = Dataset(np.linspace(-1, 1, 40)[:, None], np.zeros(40, int), Schema((Column("x"),)))
    >>> oracle = Oracle(rows.schema, lambda X: np.hstack([-X, X]), reveals="labels")
    >>> copy = Extraction().run(oracle, rows, rows, np.random.default_rng(0))
    >>> bool((copy.model.logits(rows.X).argmax(axis=1) == (rows.X[:, 0] > 0)).all())
    True
    """

    depth: int = 6
    learns: ClassVar[Harm] = "the model"
    sees: ClassVar[Sees] = "labels"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Copy:  # noqa: ARG002 (asks of none)
        """A copy of the model."""
        labelled = Dataset(known.X, oracle.labels(known.X), known.schema)
        tree = Sklearn("sklearn.tree:DecisionTreeClassifier", f"max_depth={self.depth}")
        return Copy(tree.fit(labelled, np.ones((len(labelled), 1), dtype=bool), [rng])[0])
