"""Grades claims about which person an explanation shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.audit import guessing
from jali.core.claims import Harm, Identity
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.grading import About, Graded, Truth
from jali.core.values import Bools, Dataset, Floats, Ints

FEW = 10
AFTER = (10, 30, 100, 300, 1000)  # explanations after which coverage is reported


@dataclass(frozen=True)
class GradesIdentity:
    """Who was singled out, who was named correctly, and what the explanation disclosed beyond a guess without it.

    candidates: people who match the explanation. singled_out: only one does. at_most_10_candidates: one to ten do.
    newly_singled_out: a person whom no earlier explanation singled out. reidentified: the person named is the one whose
    training row the explanation shows. disclosed_baseline: share of the named person's private values that are guessed
    right without any explanation, for each column by the best of three sources: the 15 people of the population who are
    nearest in quasi-identifiers, a model of the population, and the row of the person who asked. disclosed: the same
    with two more sources, the value shown, and the value shown as a vote of weight 1 / candidates beside those of the
    15. disclosure_advantage: disclosed minus the baseline, for the same people.
    """

    harm: ClassVar[Harm] = "identity"
    claim: ClassVar[type] = Identity
    metrics: ClassVar[tuple[str, ...]] = ()
    per_record: ClassVar[tuple[str, ...]] = (
        "candidates",
        "singled_out",
        "at_most_10_candidates",
        "newly_singled_out",
        "reidentified",
        "disclosed",
        "disclosed_baseline",
        "disclosure_advantage",
    )
    about: ClassVar[About] = "outsiders"

    def grade(self, claim: Identity, truth: Truth) -> Graded:
        """All of `per_record` for each explanation, and the share of people singled out as explanations add up."""
        if not isinstance(truth.explanation, Counterfactual):
            raise JaliError(
                "Identity is graded for counterfactuals only, and none was queried: choose an explainer such as nice."
            )
        score = truth.about_each(claim.score)
        found = truth.explanation.found
        who = truth.train.group_numbers()
        real = found & (claim.person >= 0) & (claim.person < len(truth.train))
        alone = found & (claim.candidates == 1)
        new = alone & real & _first(np.where(alone & real, who[np.where(real, claim.person, 0)], -1))
        right = _right(claim.person, truth.explanation.origin, real, who)
        with_explanation, without = _disclosed(claim, real, truth)
        values = np.zeros((len(self.per_record), len(found)))
        values[0] = claim.candidates
        values[1] = alone
        values[2] = found & (claim.candidates > 0) & (claim.candidates <= FEW)
        values[3] = new
        values[4] = right
        values[5, real] = with_explanation
        defined = np.tile(found, (len(values), 1))
        defined[5] = real
        defined[6:] = real & (len(truth.others) > 0)
        if len(truth.others):
            values[6, real] = without
            values[7] = values[5] - values[6]
        return Graded(score, right, values, defined, _coverage(new, truth.train))


def _first(named: Ints) -> Bools:
    """Where (n,) somebody is named for the first time."""
    out = np.zeros(len(named), dtype=bool)
    out[np.unique(named, return_index=True)[1]] = True
    return out


def _right(person: Ints, origin: Ints | None, real: Bools, who: Ints) -> Bools:
    """Whether (n,) the person named is the one whose training row the explanation shows."""
    out = np.zeros(len(person), dtype=bool)
    if origin is not None:
        out[real] = who[person[real]] == who[origin[real]]
    return out


def _coverage(new: Bools, train: Dataset) -> dict[str, float]:
    """Share of the training people who are singled out after some of the explanations, in the order they were given."""
    people = len(train) if train.groups is None else len(np.unique(train.groups))
    after = [q for q in AFTER if q < len(new)] + [len(new)]
    return {f"coverage@{q}": float(new[:q].sum() / people) for q in after}


def _disclosed(claim: Identity, real: Bools, truth: Truth) -> tuple[Floats, Floats]:
    """Share of the private values of each person named that is right, with the explanation and without it."""
    person = truth.train.X[claim.person[real]]
    asker = truth.records.X[real]
    sure = np.divide(1.0, claim.candidates[real], dtype=np.float64)
    anyway = guessing.without(person, asker, truth.others)
    shown = guessing.with_explanation(claim.values[real], sure, person, truth.others)
    with_explanation = _agreement(guessing.strongest([*shown, *anyway], person), person, truth.train)
    return with_explanation, _agreement(guessing.strongest(anyway, person), person, truth.train)


def _agreement(guess: Floats, person: Floats, train: Dataset) -> Floats:
    """Share (n,) of the private columns that a guess has right."""
    private = np.array([c.role != "quasi" for c in train.schema.columns])
    return np.asarray((guess == person)[:, private].mean(axis=1)) if private.any() else np.zeros(len(guess))
