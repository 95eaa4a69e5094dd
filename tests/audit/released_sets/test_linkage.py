"""Answers that are somebody's row, answers that are nobody's, and what chance does on a coarse table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import jali
from jali.core.errors import JaliError
from jali.report import linkage as page

PEOPLE = pd.DataFrame(
    {
        "age": [30, 30, 40, 50],
        "city": ["Ulm", "Ulm", "Ulm", "Bonn"],
        "pay": [1.5, 2.5, 3.5, 4.5],
        "sum": [10, 20, 30, 40],
    }
)


def test_a_small_case_by_hand():
    """One exact row (person 2), one with another sum (person 0), one that is nobody's and fits nobody."""
    answers = pd.DataFrame(
        {"age": [40, 30, 77], "city": ["Ulm", "Ulm", "Rome"], "pay": [3.5, 1.5, 9.0], "sum": [30, 11, 0]}
    )
    found = jali.link_released(answers, PEOPLE, quasi=["city", "age"]).results
    assert (found.exact, found.people, found.but_one, found.chance) == (1, 1, 1, 0.0)
    city, both = found.known
    assert (city.columns, city.none, city.one, city.few, city.median) == (["city"], 1, 0, 2, 3)
    assert (both.columns, both.none, both.one, both.few, both.people) == (["city", "age"], 1, 1, 1, 1)


def test_released_rows_of_people_are_more_than_chance(rng):
    people = pd.DataFrame(rng.integers(0, 500, (400, 4)), columns=list("abcd"))
    found = jali.link_released(people[:90].sample(frac=1, random_state=0), people, quasi=["a", "b"]).results
    assert (found.exact, found.people, found.real) == (90, 90, True)
    assert page.answer(found).startswith("90 of 90 released rows are the exact rows of real people, 90 of the 400")


def test_chance_explains_matches_on_a_coarse_table(rng):
    coarse = [pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd")) for _ in range(3)]
    for others in (None, coarse[2]):
        found = jali.link_released(coarse[1], coarse[0], others=others).results
        assert found.exact > 250
        assert found.chance == pytest.approx(found.exact, rel=0.05)
        assert not found.real
        assert "which chance explains" in page.answer(found)


def test_rows_of_one_person_are_one_candidate():
    twice = pd.concat([PEOPLE, PEOPLE]).assign(who=np.tile(np.arange(4), 2))
    found = jali.link_released(PEOPLE[2:3], twice, quasi=["age"], groups="who").results
    assert (found.known[0].one, found.chance, found.register_people) == (1, 0.0, 4)


def test_an_unknown_column_is_one_sentence():
    with pytest.raises(JaliError, match="quasi: 'postcode' is no column that both tables have; these are age, city"):
        jali.link_released(PEOPLE, PEOPLE, quasi=["postcode"])
