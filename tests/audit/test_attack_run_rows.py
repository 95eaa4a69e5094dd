"""Rows of attack runs: of guesses, of each record and of the whole claim, with what the run learns and its queries."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit import queries
from jali.audit.all_models import RunRecord
from jali.audit.attack_run_rows import PER_CLASS, changes, overall_estimate, rows_of_run, shown_overall
from jali.audit.grading.identity import GradesIdentity
from jali.audit.grading.membership import GradesMembership
from jali.core import registry
from jali.core.claims import Membership
from jali.core.grading import Truth
from jali.core.guesses import Guesses
from jali.core.metrics import metric
from jali.core.values import Column, Dataset, Game, Schema

SINGLED_OUT = GradesIdentity.per_record.index("singled_out")


def fresh() -> np.random.Generator:
    return np.random.default_rng(0)


def game(units: int = 2, records: int = 4) -> Game:
    """Targets that are asked about records of their own."""
    n = units * records
    scored = np.repeat(np.eye(units, dtype=bool), records, axis=0)
    member = np.arange(n)[:, None] % 2 == np.zeros(units)
    return Game(member, np.arange(units), np.zeros((units, units), bool), scored)


@pytest.fixture
def guesses():
    score = np.array([1.0, 1, -1, -1, 1, -1, 1, -1])
    truth = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
    return Guesses(score, truth, np.repeat([0, 1], 4), np.arange(8))


def linkage(explainer: str = "nice"):
    (run,) = queries.usual([registry.build("explain", explainer)])
    return run


def label_only():
    (run,) = queries.runs([registry.build("query_attack", "label_only")], [])
    return run


def test_claims_of_identity_have_a_row_per_metric():
    values = np.zeros((len(GradesIdentity.per_record), 8))
    values[SINGLED_OUT] = [1, 1, 0, 0, 1, 0, 0, 0]
    defined = np.ones(values.shape, dtype=bool)
    defined[SINGLED_OUT, 3] = False
    record = RunRecord(linkage(), None, values, defined, {"coverage@10": np.array([0.1, 0.3])}, queries=4)
    made = {row.metric: row for row in rows_of_run(record, game(), fresh)}
    assert list(made) == [*GradesIdentity.per_record, "coverage@10"]
    assert made["singled_out"].value == pytest.approx((2 / 3 + 1 / 4) / 2)  # the mean over targets; one says nothing
    assert made["coverage@10"].value == pytest.approx(0.2)
    abouts = {(r.kind, r.learns, r.attack, r.knowledge, r.explainer, r.queries, r.n) for r in made.values()}
    assert abouts == {("query attack", "identity", "linkage", "register", "nice", 4, 4)}


def test_none_of_some_records_is_not_none_of_all():
    """Eight records without one who is singled out: the rate may still be 1 - .025 ** (1 / 8)."""
    values = np.zeros((len(GradesIdentity.per_record), 8))
    record = RunRecord(linkage(), None, values, np.ones(values.shape, dtype=bool), {}, queries=4)
    made = {row.metric: row for row in rows_of_run(record, game(), fresh)}
    assert (made["singled_out"].value, made["singled_out"].low) == (0, 0)
    assert made["singled_out"].high == pytest.approx(1 - 0.025 ** (1 / 8))
    assert made["disclosed"].high == 0


def test_claims_of_membership_are_judged(guesses):
    overall = {"class_precision@0": np.ones(2), "shadow_accuracy": np.array([0.6, 0.8])}
    record = RunRecord(label_only(), guesses, np.zeros((0, 8)), np.zeros((0, 8), bool), overall, queries=1200)
    made = {row.metric: row for row in rows_of_run(record, game(), fresh)}
    # By hand: of 2 claims about each target, both and one are true; of 3 and 1 members, 2 and 1 are claimed.
    assert made["precision"].value == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert made["recall"].value == pytest.approx((2 / 3 + 1) / 2)
    assert made["base_rate"].value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert made["shadow_accuracy"].value == pytest.approx(0.7)
    assert set(made) == {*GradesMembership.metrics, "shadow_accuracy"}  # classes one by one are for papers
    abouts = {(r.learns, r.explainer, r.knowledge, r.queries, r.n) for r in made.values()}
    assert abouts == {("membership", "", "noise", 1200, 4)}


@pytest.mark.parametrize("name", ["class_precision", "class_recall", "class_f1"])
def test_numbers_of_single_classes_are_no_rows_of_their_own(guesses, name):
    """Papers read them from the record; a table of the audit would have three more rows for each class."""
    overall = {f"{name}@{number}": np.array([0.5, 1.0]) for number in range(3)} | {"fidelity": np.ones(2)}
    record = RunRecord(label_only(), guesses, np.zeros((0, 8)), np.zeros((0, 8), bool), overall, queries=8)
    metrics = [row.metric for row in rows_of_run(record, game(), fresh)]
    assert metrics == [*GradesMembership.metrics, "fidelity"]
    assert record.overall == overall


def test_what_the_grader_says_of_single_classes_is_what_is_left_out():
    schema = Schema((Column("x"),), classes=("no", "yes"))
    rows = Dataset(np.arange(4.0)[:, None], [0, 1, 0, 1], schema)
    member = np.array([True, False, False, False])
    truth = Truth(None, rows, rows, rows, member, np.array([0, 1, 0, 0]))
    graded = GradesMembership().grade(Membership(np.zeros(4)), truth)
    assert {metric(name).name for name in graded.overall} == PER_CLASS
    assert {metric(name).at for name in graded.overall} == {0, 1}
    assert shown_overall({name: np.array([number]) for name, number in graded.overall.items()}) == {}


def test_what_failed_says_why():
    made = rows_of_run(RunRecord(linkage("face"), failed="because"), game(), fresh)
    assert [r.metric for r in made] == list(GradesIdentity.per_record)
    assert {(r.value, r.reason, r.explainer, r.learns) for r in made} == {(None, "because", "face", "identity")}


def test_numbers_of_the_whole_claim_stay_within_the_bounds_of_their_metric():
    """Over two targets Student's interval of 0.9 and 1 reaches above 1, and counts have no upper bound."""
    assert overall_estimate("fidelity", np.array([0.9, 1.0])).high == 1.0
    assert overall_estimate("rules", np.array([90.0, 100.0])).high > 100
    assert list(shown_overall({"class_f1@1": np.ones(2), "rules": np.ones(2)})) == ["rules"]


def named(explainer: str, right: list[float], answered: list[bool]) -> RunRecord:
    """A linkage that names these of eight people rightly, where there is an answer."""
    names = GradesIdentity.per_record
    values = np.zeros((len(names), 8))
    values[names.index("reidentified")] = right
    return RunRecord(linkage(explainer), None, values, np.tile(answered, (len(names), 1)), {}, queries=4)


def test_what_a_defence_changes_is_counted_over_everybody_who_had_an_answer():
    """By hand: target 0 has 3 of 4 right before and 0 of 4 after, target 1 has 2 of 3 and 1 of 3."""
    asked = [True, True, True, True, True, True, True, False]
    bare = named("nice", [1, 1, 1, 0, 1, 1, 0, 0], asked)
    kept = [False, False, True, True, True, False, True, True]  # the last had no answer before: not counted
    defended = named("k_anonymous(nice)", [1, 1, 0, 0, 1, 1, 0, 1], kept)
    made = {(r.kind, r.explainer): r for r in changes([defended, bare], game()) if r.metric == "reidentified"}
    before = made["paired", "nice"]
    (after,) = [row for (kind, name), row in made.items() if kind == "paired" and name != "nice"]
    (change,) = [row for (kind, _), row in made.items() if kind == "change"]
    assert before.value == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert after.value == pytest.approx((0 / 4 + 1 / 3) / 2)
    assert change.value == pytest.approx(after.value - before.value)
    assert (change.beside, before.beside) == ("nice", change.explainer)
    assert change.low < change.value < change.high


def test_two_explanations_that_do_not_defend_each_other_are_not_compared():
    everybody = [True] * 8
    records = [
        named("nice", [1.0] * 8, everybody),
        named('k_anonymous(nice(candidates="justified"))', [0.0] * 8, everybody),
    ]
    assert changes(records, game()) == []
