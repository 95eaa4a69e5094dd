"""Mechanisms whose true epsilon is known: what is found, what stands, and the scoreboard."""

from __future__ import annotations

import math
import sys

import pytest

from jali import cli
from jali.core.errors import JaliError
from jali.report import zoo as page
from jali.results.verification import Scoreboard
from jali.verify.designed import designed
from jali.verify.run import verify
from jali.verify.zoo import exhibits
from jali.verify.zoo.scoreboard import ours, sightings, subject_of

BY_NAME = {each.name: each for each in exhibits()}
ONCE_MISSED = [  # each of these was NOT REFUTED at 0.00 once
    "median, noised as a mean",
    "exponential mechanism without its half",
    "exact means of small classes",
    "the truth once in 100",
    "the lowest bit",
    "the sum of five numbers",
    "the parity of five signs",
    "the fraction of a sum of five",
]
FURTHER = [
    "column means, noised one by one",
    "two numbers, one noise",
    "randomised response in words",
    "a key more",
    "integers for members",
    "a signed zero",
    "exact means of small regions",
    "exact number of rows, add-remove",
    "balance of labels under a replace-one claim",
    "a count in a numbered error",
    "a mask",
    "numbers one by one",
    "withheld below thirty",
    "clipped at a percentile",
    "the best column",
    "size of the third class",
    "people of a combination",
    "keys in the order of counts",
    "noise that is never zero",
    "noise of one decimal",
    "a mean, rounded before the noise",
    "empty bins without noise",
]
STANDARD = ["mean", "Gaussian sum", "exponential mechanism", "randomised response", "sparse vector"]
FEW = [pair for pair in designed(0) if pair.name.startswith(("a near tie, 20 against 19", "a near tie, 20 against 21"))]


def test_every_exhibit_has_a_name_of_its_own_and_a_fault_if_and_only_if_its_claim_is_false():
    assert len(BY_NAME) == len(exhibits()) >= 40
    assert all(each.correct == (not each.fault) for each in exhibits())
    assert sum(each.correct for each in exhibits()) >= 12


@pytest.mark.parametrize("name", ONCE_MISSED)
def test_what_was_once_missed_is_refuted(name):
    assert ours(BY_NAME[name], 2000, 0)


@pytest.mark.parametrize("name", FURTHER)
def test_broken_mechanisms_are_refuted_with_fewer_draws(name):
    assert ours(BY_NAME[name], 500, 1)


def test_a_rarer_leak_needs_the_draws_that_are_printed():
    """Once in 1,000: missed with 2,000 draws, which say so, and found with 20,000."""
    leak = subject_of(BY_NAME["the truth once in 1,000"])
    found = verify(leak, FEW[:2], draws=2000)
    assert found.verdict == "NOT REFUTED"
    assert found.rarest is not None
    assert found.rarest > 0.001
    found = verify(leak, FEW[:2], draws=20_000)
    assert found.rarest is not None
    assert found.rarest < 0.001
    assert found.verdict == "REFUTED"


# The command that tests a hundred seeds each, in all pairs: python benchmarks/bench_verify.py stand --seeds 100.
@pytest.mark.parametrize("name", STANDARD)
def test_correct_mechanisms_stand(name):
    """Of a hundred tests each, five may refute; of ten, more than two would come once in 87 times."""
    refuted = [verify(subject_of(BY_NAME[name]), FEW, 200, seed).verdict == "REFUTED" for seed in range(10)]
    assert sum(refuted) <= 2


# --- scoreboard ----------------------------------------------------------------------------------------------------


def always(exhibit, draws, seed):
    return True


def test_any_verifier_is_scored():
    board = Scoreboard(verifier="always", sightings=list(sightings(always, (100, 200), 3)))
    assert all(each.refuted == 3 for each in board.sightings)
    words = page.summary(board).splitlines()
    correct = 3 * sum(each.correct for each in exhibits())
    assert words[0] == "Verifier: always"
    assert words[1].startswith("100 draws: ")
    assert f"{correct} of {correct} correct ones refuted" in words[2]
    again = Scoreboard.model_validate_json(board.model_dump_json())
    assert again == board
    assert any(math.isinf(each.true) for each in again.sightings)


def test_some_of_the_zoo_is_chosen_by_words():
    assert {each.name for each in sightings(always, (100,), 1, ["lowest BIT"])} == {"the lowest bit"}
    assert not any(each.fault for each in sightings(always, (100,), 1, ["correct"]))
    with pytest.raises(JaliError, match="Nothing in the zoo fits unicorn"):
        list(sightings(always, (100,), 1, ["unicorn"]))


def test_the_zoo_on_the_command_line(capsys, monkeypatch, tmp_path):
    folder = tmp_path / "zoo"
    words = ["--only", "count", "--verifier", f"{__name__}:always", "--draws", "300", "--out", str(folder)]
    monkeypatch.setattr(sys, "argv", ["jali", "verify", "--zoo", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("count ")
    assert "refuted 1 of 1 at 100, 1 of 1 at 300 draws  (correct)" in lines[0]
    assert Scoreboard.model_validate_json((folder / "results.json").read_text()).verifier == f"{__name__}:always"
