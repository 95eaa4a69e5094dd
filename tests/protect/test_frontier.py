"""Frontiers: paired differences by hand, dominances that hold or not, and one small run from a file to its page."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import jali
from jali import cli
from jali.api import read_frontier
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Channel
from jali.explain.linear_recourse import LinearRecourse
from jali.models.logistic import Logistic
from jali.protect.frontier.candidates import Candidate
from jali.protect.frontier.choice import chosen_one
from jali.protect.frontier.dominance import Point, compared, dominances, front, perhaps_front
from jali.protect.frontier.leakage import SEEN, _attempts
from jali.protect.frontier.per_target import difference, of_guesses, of_people
from jali.stats.intervals import contrast
from tests.protect.people import SETTINGS, trained


def per_target(means, spread=0.0, people=40, seed=0):
    """A number of four targets with these means, each from so many people."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(len(means)), people)
    person = np.tile(np.arange(people), len(means))
    noise = rng.normal(size=len(unit)) * spread
    return of_people(np.repeat(means, people) + noise, unit, person)


def test_a_difference_of_the_same_people_is_the_paired_one():
    """With the same cells on both sides it equals the paired difference that audits report."""
    rng = np.random.default_rng(0)
    truth = np.arange(400) % 2 == 0
    unit = np.arange(400) // 100
    record = np.arange(400) % 100
    a = Guesses(rng.normal(size=400) + truth, truth, unit, record)
    b = Guesses(rng.normal(size=400) + 0.2 * truth, truth, unit, record)
    mine = difference(of_guesses("auc", a), of_guesses("auc", b))
    known, _ = contrast("auc", a, b, np.random.default_rng(0))
    assert mine.value == pytest.approx(known.value)
    assert (mine.low, mine.high) == pytest.approx((known.low, known.high))


def test_people_on_one_side_only_do_not_pair():
    """By hand: targets 0 and 1; means .5 and 1 on one side, 0 and 0 on the other."""
    a = of_people(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    b = of_people(np.zeros(2), np.array([0, 1]), np.array([7, 8]))
    found = difference(a, b)
    assert found.value == pytest.approx(0.75)
    assert found.low < 0.75 < found.high


def test_targets_that_only_one_side_has_are_left_out():
    a = of_people(np.array([1.0, 2.0, 9.0]), np.array([0, 1, 2]), np.arange(3))
    b = of_people(np.array([0.0, 0.0]), np.array([0, 1]), np.arange(2))
    assert difference(a, b).value == pytest.approx(1.5)
    assert difference(a, of_people(np.zeros(1), np.zeros(1, int), np.zeros(1, int))).value is None


def test_no_case_among_some_is_not_none_among_all():
    found = of_people(np.zeros(40), np.repeat([0, 1], 20), np.tile(np.arange(20), 2), (0.0, 1.0), yes_no=True)
    assert found.mean.high == pytest.approx(1 - 0.025 ** (1 / 20))


def points():
    quiet = Point("quiet", per_target([0.5, 0.5, 0.51, 0.49]), per_target([0.8, 0.8, 0.8, 0.8]))
    loud = Point("loud", per_target([0.7, 0.7, 0.71, 0.69]), per_target([0.8, 0.8, 0.8, 0.8]))
    weak = Point("weak", per_target([0.4, 0.4, 0.41, 0.39]), per_target([0.6, 0.6, 0.6, 0.6]))
    return quiet, loud, weak


def test_dominance_needs_less_leakage_and_no_less_worth():
    quiet, loud, weak = points()
    assert compared(quiet, loud, "accuracy").sure
    assert not compared(loud, quiet, "accuracy").sure
    assert not compared(weak, quiet, "accuracy").sure  # leaks less, and is worth less
    assert compared(weak, quiet, "cost").sure  # of a cost, less is better
    assert [(c.better, c.worse) for c in dominances(points(), "accuracy")] == [("quiet", "loud")]
    assert front(points(), "accuracy") == ["quiet", "weak"]
    assert perhaps_front(points(), dominances(points(), "accuracy")) == ["quiet", "weak"]


def test_attacks_that_both_find_nobody_are_no_evidence():
    nobody = per_target([0.0, 0.0, 0.0, 0.0])
    good = Point("good", nobody, per_target([0.9] * 4))
    bad = Point("bad", nobody, per_target([0.1] * 4))
    assert not compared(good, bad, "accuracy").sure


def test_noise_is_no_dominance():
    """Of two that are the same but for noise, neither surely beats the other in most draws."""
    sure = 0
    for seed in range(40):
        a = Point("a", per_target([0.6] * 6, 0.3, seed=seed), per_target([0.8] * 6))
        b = Point("b", per_target([0.6] * 6, 0.3, seed=1000 + seed), per_target([0.8] * 6))
        sure += compared(a, b, "accuracy").sure
    assert sure <= 4


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One frontier from a file: four configurations of three families, three fresh targets."""
    folder = tmp_path_factory.mktemp("frontier")
    (folder / "audit.toml").write_text(
        'data = "lending(n=240)"\nmodel = "logistic"\ngame = "rotate(models=3)"\nexplain = ["linear_recourse"]\n'
        'defend = ["k_groups(k=5|20)", "dp_logistic(epsilon=4, bound=2)"]\n'
    )
    words = ["jali", "frontier", str(folder / "audit.toml"), "--workers", "1", "--out", str(folder / "out")]
    told = io.StringIO()
    with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(told):
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return folder / "out", code, told.getvalue()


def test_one_command_leaves_page_figures_and_numbers(small):
    folder, code, told = small
    assert code == 0, told
    found = read_frontier(folder).results
    assert [c.family for c in found.configurations] == ["unprotected", "k_groups", "k_groups", "dp_logistic"]
    assert found.fresh_targets == found.validation_targets == 3
    assert {w.group for w in found.worth} >= {"all", "sex=female", "sex=male"}
    assert found.selection.models == 2 * 6  # two trainers, three models for membership and three for linkage
    page = (folder / "report.html").read_text()
    for words in ("On the fresh targets", "What choosing costs", "Price by sensitive group", "<svg"):
        assert words in page
    assert (folder / "frontier-accuracy.svg").read_text().startswith("<svg")
    assert "Report:" in told


def test_an_attack_is_chosen_on_validation_and_reported_on_fresh(small):
    found = read_frontier(small[0]).results
    told = [k for k in found.leaks if k.validation.value is not None and k.fresh.value is not None]
    assert told
    assert any(k.validation.value != k.fresh.value for k in told)


def test_private_claims_add_up_and_void_ones_do_not_count(small):
    found = read_frontier(small[0]).results
    private = [c for c in found.configurations if c.guarantee]
    assert [c.name for c in private] == ["dp_logistic(epsilon=4, bound=2)"]
    expected = 0.0 if private[0].void else 4.0 * 6
    assert found.selection.epsilon == pytest.approx(expected)


def test_a_file_of_another_kind_is_refused(small, tmp_path):
    given = json.loads((small[0] / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps(given | {"schema_version": "jali.results/2"}))
    with pytest.raises(JaliError, match="does not hold a frontier"):
        read_frontier(tmp_path)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"defend": "k_groups"}, "must be a list"),
        ({"defend": []}, "Name defences"),
        ({"defend": ["k_groups"], "explain": []}, "Name the unprotected explainer"),
        ({"defend": ["k_groups", "k_groups"]}, "named twice"),
        ({"defend": ["logistic"]}, "has no privacy guarantee"),
        ({"defend": ["k_groups"], "loss": 2.0}, "from 0 to 1"),
        ({"defend": ["public_direction(epsilon=0.5, public=lending(n=50))"]}, "cannot be compared here"),
    ],
)
def test_a_mistake_is_one_sentence(options, what):
    with pytest.raises(JaliError, match=what):
        jali.frontier(data="lending(n=200)", game="rotate(models=3)", **options)


def test_a_frontier_without_data_is_refused():
    with pytest.raises(JaliError, match="train="):
        jali.frontier(defend=["k_groups"])


def test_worth_of_the_first_family_is_upper_end():
    quiet = points()[0]
    assert quiet.upper == quiet.leak.mean.high
    without = replace(quiet.leak, mean=replace(quiet.leak.mean, high=None))
    assert Point("x", without, quiet.use).upper == quiet.leak.mean.value


def candidate(name, family="k_groups"):
    return Candidate(name, family, Logistic(), LinearRecourse())


def test_what_does_not_surely_leak_less_is_never_chosen():
    """By hand: one leaks less and loses little, one loses much, one only looks quieter in the mean."""
    some = [candidate("today", "unprotected"), candidate("good"), candidate("dear"), candidate("noise")]
    found = {"today": per_target([0.7] * 5), "good": per_target([0.6] * 5), "dear": per_target([0.5] * 5)}
    found["noise"] = per_target([0.3, 1.0, 0.2, 1.0, 0.3])
    uses = {(c.name, "accuracy"): per_target([0.8] * 5) for c in some} | {("dear", "accuracy"): per_target([0.6] * 5)}
    choice = chosen_one(some, found, found, uses, 0.05)
    assert (choice.configuration, choice.instead) == ("good", "")
    assert choice.saved.value == pytest.approx(0.1)
    rest = [c for c in some if c.name != "good"]
    choice = chosen_one(rest, found, found, uses, 0.05)
    assert (choice.configuration, choice.instead) == ("", "dear")
    choice = chosen_one([some[0], some[3]], found, found, uses, 0.05)
    assert (choice.configuration, choice.instead, choice.saved) == ("", "", None)
    assert chosen_one(rest, found, found, uses, 0.5).configuration == "dear"


def test_a_fitted_model_of_ones_own_is_trained_again():
    train, _, model = trained()
    rows = train[0][:160], train[1][:160]
    found = jali.frontier(model, rows, defend=["k_groups(k=5)"], game="rotate(models=3)", **SETTINGS)
    assert [c.model for c in found.results.configurations] == ["Pipeline", "Pipeline"]
    assert {"leakage", "utility"} == set(found.to_frame()["kind"])


def test_whoever_sees_more_may_use_an_attack_that_reads_less(small):
    """A combined attack that fails must not make the same explanations look better beside the decision."""
    found = {(a.family.channel, a.attack): a.found for a in _attempts("x", Channel.EXPLANATION, "auc", "lira", "none")}
    assert set(found) == {
        (Channel.EXPLANATION, "lira"),
        (Channel.DECISION_AND_EXPLANATION, "lira of explanation"),
        (Channel.SCORE_AND_EXPLANATION, "lira of explanation"),
    }
    told = [leak for leak in read_frontier(small[0]).results.leaks if leak.metric == "auc" and leak.channel]
    leaks = {(leak.configuration, leak.channel): leak.validation.value for leak in told}
    for name in {configuration for configuration, _ in leaks}:
        seen = [leaks[name, channel] or 0.0 for channel in SEEN]
        assert seen == sorted(seen)
    assert any(leaks.values())
