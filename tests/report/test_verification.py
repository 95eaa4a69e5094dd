from __future__ import annotations

import pytest

from jali.core.errors import JaliError
from jali.report import verification
from jali.results.verification import Verification


def found(**fields):
    """A claim of epsilon = 1 that was not refuted, but for the fields given."""
    whole = {
        "name": "noise",
        "claim": "epsilon = 1",
        "epsilon": 1.0,
        "draws": 100,
        "bounds": {"the whole answer": 0.5},
        "distinguisher": "the whole answer, by logistic regression",
        "lower": 0.5,
        "ceiling": 3.3,
        "verdict": "NOT REFUTED",
    }
    return Verification(**(whole | fields))


def test_a_verification_is_read_back_as_it_was_written():
    given = found(leaking_variables=["weights"], pairs_changed=None)
    assert given.schema_version == "jali.verification/2"
    assert Verification.read(given.model_dump_json()) == given


def test_a_file_of_the_first_schema_is_answered_with_a_sentence():
    old = '{"schema_version": "jali.verification/1", "carriers": []}'
    with pytest.raises(
        JaliError, match=r"schema jali\.verification/2, not jali\.verification/1: run jali verify again\."
    ):
        Verification.read(old)


@pytest.mark.parametrize(
    ("leaking", "words"),
    [
        ([], "the answers of both data sets are the same"),
        (["weights", "scores"], "still changes with the record, through weights, scores."),
        (["noise that was not declared"], "not checked, because no mechanism was declared"),
    ],
)
def test_the_data_dependence_check_is_one_line_and_the_verdict_the_last(leaking, words):
    lines = verification.text(found(leaking_variables=leaking)).splitlines()
    (line,) = [line for line in lines if line.startswith("Data dependence: ")]
    assert words in line
    assert lines[-1].startswith("NOT REFUTED (")


def test_the_rarest_leak_stands_beside_what_ten_times_the_draws_would_find():
    said = verification.text(found(draws=2000, rarest=1 / 105.6))
    assert "A leak in fewer than 1 of 100 answers would probably be missed; `--draws 20000` finds 1 in 1,000." in said
    assert "would probably be missed" not in verification.text(found(rarest=None))


def test_a_number_of_draws_by_time_says_so():
    said = verification.text(found(minutes=5.0, pairs_evaluated=3))
    assert "The best 3 pairs of data sets that differ in one record, 100 draws of each evaluated" in said
    assert "A pilot fixed this number beforehand, for 5 minutes." in said
    assert "pilot" not in verification.text(found())
