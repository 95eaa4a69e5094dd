"""Answers about the same person, put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._linking import answers, identifying, named
from jali.core import Bools, Dataset, Ints, Rng
from jali.explanation import Regions
from jali.inquiry import Links, Oracle, Shows


@dataclass(frozen=True)
class Intersection:
    """Linkage across answers: those that show the same private values are taken to be about one person, who fits all.

    Each of several k-anonymous answers leaves k people, and what they have in common may leave one. Only answers with
    exactly the same private part are put together; a claim is made for each of them.

    Ganta, Kasiviswanathan and Smith, Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008, turned on
    the explanations of Goethals, Sörensen and Martens, 2022.

    >>> from jali.core import Column, Schema
    >>> from jali.explanation import Counterfactual
    >>> schema = Schema((Column("age", role="quasi"), Column("income")))
    >>> low, high = np.array([[30.0, 9.0], [40.0, 9.0]]), np.array([[40.0, 9.0], [50.0, 9.0]])
    >>> both = Regions(low, high, np.zeros((2, 2, 0), bool), schema)
    >>> oracle = Oracle(schema, np.asarray, lambda X: Counterfactual(low, np.ones(2, bool), both))
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0], [50.0, 0.0]]), [0, 0, 0], schema)
    >>> asked = Dataset(np.array([[35.0, 3.0], [45.0, 3.0]]), [0, 0], schema)
    >>> Intersection().run(oracle, people, asked, np.random.default_rng(0)).person
    array([1, 1])
    """

    shows: ClassVar[Shows] = "explanation"
    links: ClassVar[bool] = True

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Links:
        """Name one person per answer."""
        there = answers("intersection", oracle, records)
        return named(there, _alike(there.shown(known.schema), ~identifying(known)), known, rng)


def _alike(shown: Regions, private: Bools) -> Ints:
    """A number (n,) for each answer, the same for the same private values."""
    j = np.flatnonzero(private)
    told = [shown.low[:, j], shown.high[:, j], shown.allowed[:, j].reshape(len(shown), -1)]
    return np.unique(np.concatenate(told, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
