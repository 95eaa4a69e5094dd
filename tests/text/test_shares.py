"""Shares as text: nobody is 0 %, everybody is 100 %, and nothing else is either."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jali.report import words
from jali.results import Row
from jali.text.shares import about, whole_percent


@given(st.floats(0, 1))
def test_only_nobody_is_nothing_and_only_everybody_is_all(share):
    text = whole_percent(share)
    assert (text == "0 %") == (share == 0)
    assert (text == "100 %") == (share == 1)
    if text[0].isdigit():
        assert abs(int(text.split()[0]) - 100 * share) <= 0.5


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1e-9, "less than 1 %"),
        (0.00499, "less than 1 %"),
        (0.00501, "1 %"),
        (0.99499, "99 %"),
        (0.99501, "more than 99 %"),
        (1 - 1e-9, "more than 99 %"),
        (-1e-17, "0 %"),  # what is left of a difference of equal numbers
    ],
)
def test_a_share_in_whole_per_cent(share, text):
    assert whole_percent(share) == text


def test_about_goes_with_a_number_only():
    assert about(0.83) == "about 83 %"
    assert about(0.999) == "more than 99 %"


@given(st.floats(1e-6, 1 - 1e-6))
def test_a_share_with_decimals_is_neither_nothing_nor_all(share):
    assert float(words.percent(share)) not in (0, 100)


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (0.152, "on the 15 % of guesses with an explanation"),
        (0.003, "on the guesses with an explanation, less than 1 % of all"),
        (1.0, ""),
    ],
)
def test_on_which_part_of_the_guesses_a_row_rests(coverage, text):
    assert words.covered(Row(kind="attack", metric="auc", value=0.5, coverage=coverage)) == text
