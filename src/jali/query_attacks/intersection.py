"""Answers about the same person, put together."""

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
    """Linkage across answers: those that show the same private values are taken to be about one person, who fits all.

    Each of several k-anonymous answers leaves k people, and what they have in common may leave one. Only answers with
    exactly the same private part are put together; a claim is made for each of them. Where nobody fits them all, they
    are about several people, and each is judged alone.

    Ganta, Kasiviswanathan and Smith, Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008, turned on
    the explanations of Goethals, Sörensen and Martens, 2022.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.explanation import Counterfactual, Regions
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> low, high = np.array([[30.0, 9.0], [40.0, 9.0]]), np.array([[40.0, 9.0], [50.0, 9.0]])
    >>> both = Regions(low, high, np.zeros((2, 2, 0), bool), schema)
    >>> oracle = Oracle(schema, np.asarray, lambda X: Counterfactual(low, np.ones(2, bool), both))
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0], [50.0, 0.0]]), [0, 0, 0], schema)
    >>> asked = Dataset(np.array([[35.0, 3.0], [45.0, 3.0]]), [0, 0], schema)
    >>> Intersection().run(oracle, people, asked, np.random.default_rng(0)).person
    array([1, 1])
    """

    learns: ClassVar[Harm] = "identity"
    sees: ClassVar[Sees] = "counterfactuals"
    holds: ClassVar[Holds] = "register"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Identity:
        """Name one person per answer."""
        there = answers("intersection", oracle, records)
        alone = named(there, np.arange(len(there.rows)), known, rng)
        both = named(there, there.shown(known.schema).kinds(~identifying(known)), known, rng)
        some = both.candidates > 0
        score = np.where(some, both.score, alone.score)
        person = np.where(some, both.person, alone.person)
        candidates = np.where(some, both.candidates, alone.candidates)
        values = np.where(some[:, None], both.values, alone.values)
        return Identity(score, person, candidates, values)
