"""A release of known rows: who is recognised, what chance does, and what a sentence says where it cannot work."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import jali
from jali.api import attack_released
from jali.core.errors import JaliError
from jali.report import released as page


def table(rng, n, jobs=("cook", "clerk", "nurse")):
    return pd.DataFrame(
        {"age": rng.integers(18, 90, n), "income": rng.normal(30, 9, n).round(2), "job": rng.choice(jobs, n)}
    )


@pytest.fixture
def people(rng):
    """400 members, of whom 120 of the favourable class are released, 800 others, and a reference."""
    whole = table(rng, 1200).assign(member=np.arange(1200) < 400, paid=rng.choice(["yes", "no"], 1200))
    favoured = whole[whole.member & (whole.paid == "yes")]
    return whole, favoured.head(120)[["age", "income", "job"]], table(rng, 500)


def find(answer, attack, group="", metric="tpr@0.01"):
    return next(r for r in answer.results.rows if (r.attack, r.group, r.metric) == (attack, group, metric))


def test_members_whose_rows_are_released_are_recognised(people):
    whole, released, reference = people
    answer = jali.attack_released(released, whole, reference, member="member", target="paid", favourable="yes")
    found = answer.results
    members, others, null = found.matches
    assert (members.exact, members.n) == (120, 400)
    assert others.exact + null.exact == 0
    row = find(answer, "distance")
    assert row.value == pytest.approx(120 / 400, abs=0.02)
    assert row.low < 0.3 < row.high
    assert row.interval == "Clopper-Pearson over a band of thresholds, conditional on this release"
    assert find(answer, "distance", "yes").value > 0.5
    assert find(answer, "distance", "no").low < 0.02
    assert [c.released for c in found.coverage] == [50, 100, 120]
    assert [c.exact for c in found.coverage] == [50, 100, 120]
    assert [r.group for r in found.best] == ["", "yes", "no"]
    best = found.best[0]
    assert best.low < find(answer, best.attack).low  # corrected for the choice
    assert page.answer(found).startswith("From the released rows alone, ")
    assert page.points(found)[1].startswith("Among people of class yes alone the AUC is ")


def test_a_release_of_others_rows_says_nothing(people, rng):
    whole, _, reference = people
    found = attack_released(table(rng, 120), whole, reference, member="member").results
    assert found.best[0].low < 0.01 < found.best[0].high
    assert page.answer(found).startswith("No attack tried recognises clearly more training members than chance")


def test_without_membership_candidates_are_compared_with_the_reference(people):
    whole, released, reference = people
    some = whole[["age", "income", "job"]]
    answer = attack_released(released, some, reference)
    assert [(m.who, m.exact) for m in answer.results.matches] == [("candidates", 120), ("people of the reference", 0)]
    assert not answer.results.judged
    assert find(answer, "distance", metric="auc").low > 0.5
    ranked = pd.read_csv(pd.io.common.StringIO(answer.files["ranking.csv"]))
    assert len(ranked) == 1200
    assert set(ranked.row[:120]) == set(released.index)


def test_small_tables_do_not_pretend_to_resolve_a_rate(rng):
    whole = table(rng, 80).assign(member=np.arange(80) < 40)
    answer = attack_released(whole.head(10)[["age", "income", "job"]], whole, table(rng, 60), member="member")
    assert find(answer, "distance").reason == "FPR 1 % needs at least 299 non-members; there are 40."
    assert answer.results.best[0].metric == "auc"


def test_the_rows_of_one_person_are_one_trial(people):
    whole, released, reference = people
    twice = pd.concat([whole, whole]).assign(who=np.tile(np.arange(1200), 2))
    once = find(attack_released(released, whole, reference, member="member"), "distance", metric="auc")
    both = find(attack_released(released, twice, reference, member="member", groups="who"), "distance", metric="auc")
    assert both.high - both.low == pytest.approx(once.high - once.low, rel=0.02)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"member": "trained"}, "member: there is no column 'trained'; "),
        ({"member": "age"}, "must hold 1 and 0"),
        ({"favourable": "yes"}, "also name the column that holds it"),
        (
            {"target": "paid", "favourable": "maybe"},
            "No candidate has the favourable class 'maybe'; there are 'no', 'yes'",
        ),
    ],
)
def test_a_mistake_is_one_sentence(people, change, sentence):
    whole, released, reference = people
    with pytest.raises(JaliError, match=sentence):
        attack_released(released, whole, reference, **change)


def test_tables_without_common_columns(people):
    whole, released, reference = people
    with pytest.raises(JaliError, match="have no column in common"):
        attack_released(released.rename(columns=str.upper), whole, reference)


def test_a_page_holds_no_values_of_people(people, tmp_path):
    whole, released, reference = people
    path = attack_released(released, whole, reference, member="member").save(tmp_path)
    text = path.read_text() + (tmp_path / "results.json").read_text()
    assert "<h1>From the released rows alone" in text
    assert not [value for value in released.income.astype(str) if len(value) > 4 and value in text]
