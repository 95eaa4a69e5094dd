"""Explanation linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.claims import Harm, Identity
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.query_attacks._linking import answers, named


@dataclass(frozen=True)
class Linkage:
    """Link a counterfactual to the people in a register who match its quasi-identifiers.

    A counterfactual that is the record of a training person carries that person's values. Everybody in the register who
    matches its quasi-identifiers is a candidate. One of the k candidates is named at random, with confidence 1 / k, and
    the private values of the answer are attributed to that person. Where a private value is an interval or a set, the
    one nearest to the record is claimed. Each answer is linked alone.

    Goethals, Sörensen and Martens, The Privacy Issue of Counterfactual Explanations, 2022.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.explanation import Counterfactual
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> oracle = Oracle(schema, np.asarray, lambda X: Counterfactual(np.array([[40.0, 9.0]]), np.array([True])))
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0]]), [0, 0], schema)
    >>> records = Dataset(np.array([[35.0, 3.0]]), [0], schema)
    >>> claims = Linkage().run(oracle, people, records, np.random.default_rng(0))
    >>> claims.person, claims.candidates, claims.values
    (array([1]), array([1]), array([[40.,  9.]]))
    """

    learns: ClassVar[Harm] = "identity"
    sees: ClassVar[Sees] = "counterfactuals"
    holds: ClassVar[Holds] = "register"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Identity:
        """Name one person per answer."""
        counterfactuals = answers("linkage", oracle, records)
        return named(counterfactuals, np.arange(len(counterfactuals.rows)), known, rng)
