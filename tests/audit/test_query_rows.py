from __future__ import annotations

import numpy as np
import pytest

from jali.audit import query_rows, setup
from jali.audit.attack_runs import LINKED
from jali.core import registry
from jali.core.values import Guesses
from jali.results import Row


def fresh() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def guesses():
    score = np.array([1.0, 1, -1, -1, 1, -1, 1, -1])
    truth = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
    return Guesses(score, truth, np.repeat([0, 1], 4), np.arange(8))


def test_links_are_read_from_what_was_measured(guesses):
    (run,) = setup.usual([registry.build("explain", "nice")])
    mine = Row(kind="measure", explainer="nice", metric="linkage: singled_out", value=0.5)
    other = Row(kind="measure", explainer="nice", metric="validity", value=1.0)
    made = query_rows.rows(run, guesses, {"coverage@10": np.array([0.1, 0.3])}, [mine, other], fresh)
    assert [(r.metric, r.attack, r.group, r.value) for r in made] == [
        ("singled_out", "linkage", "register", 0.5),
        ("coverage@10", "linkage", "register", 0.2),
    ]
    assert [query_rows.foreign(r, [run]) for r in (mine, other)] == [False, True]


def test_claims_of_membership_are_judged(guesses):
    (run,) = setup.runs([registry.build("query_attack", "label_only")], [])
    made = {r.metric: r for r in query_rows.rows(run, guesses, {"class_precision@0": np.ones(2)}, [], fresh)}
    # By hand: of 2 claims about each target, both and one are true; of 3 and 1 members, 2 and 1 are claimed.
    assert made["precision"].value == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert made["recall"].value == pytest.approx((2 / 3 + 1) / 2)
    assert set(made) == set(query_rows.CLAIMED)


def test_what_failed_says_why():
    (run,) = setup.usual([registry.build("explain", "face")])
    made = query_rows.failed(run, "because")
    assert [r.metric for r in made] == list(LINKED)
    assert {(r.value, r.reason, r.explainer) for r in made} == {(None, "because", "face")}
