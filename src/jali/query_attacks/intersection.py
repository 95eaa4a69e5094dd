"""Linkage with several answers about the same person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.claims import Harm, Identity
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Dataset, Rng
from jali.query_attacks._linking import answers, identifying, named


@dataclass(frozen=True)
class Intersection:
    """Linkage across answers: those with the same private values are taken to be about one person, who matches all.

    Each of several k-anonymous answers has k candidates, but only one person may match them all. Only answers with
    exactly the same private values are combined; a claim is made for each of them. Where nobody matches all of them,
    they are about several people, and each answer is linked alone.

    Ganta, Kasiviswanathan and Smith, Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008, applied
    to the explanations of Goethals, Sörensen and Martens, 2022.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.explanation import Counterfactual, Regions
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> low, high = np.array([[30.0, 9.0], [40.0, 9.0]]), np.array([[40.0, 9.0], [50.0, 9.0]])
    >>> both = Regions(low, high, np.zeros((2, 2, 0), bool), schema)
    >>> oracle = Oracle(schema, np.asarray, lambda X: Counterfactual(low, np.ones(2, bool), both))
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0], [50.0, 0.0]]), [0, 0, 0], schema)
    >>> records = Dataset(np.array([[35.0, 3.0], [45.0, 3.0]]), [0, 0], schema)
    >>> Intersection().run(oracle, people, records, np.random.default_rng(0)).person
    array([1, 1])
    """

    learns: ClassVar[Harm] = "identity"
    sees: ClassVar[Sees] = "counterfactuals"
    holds: ClassVar[Holds] = "register"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Identity:
        """Name one person per answer."""
        counterfactuals = answers("intersection", oracle, records)
        alone = named(counterfactuals, np.arange(len(counterfactuals.rows)), known, rng)
        both = named(counterfactuals, counterfactuals.shown(known.schema).kinds(~identifying(known)), known, rng)
        some = both.candidates > 0
        score = np.where(some, both.score, alone.score)
        person = np.where(some, both.person, alone.person)
        candidates = np.where(some, both.candidates, alone.candidates)
        values = np.where(some[:, None], both.values, alone.values)
        return Identity(score, person, candidates, values)
