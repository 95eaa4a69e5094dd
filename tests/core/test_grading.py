"""What a grader leaves: guesses with the truth, and metrics per record that fit them."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.grading import Graded


def test_without_measures_per_record_there_are_none_of_any_record():
    graded = Graded([0.1, 0.2, 0.3], [1, 0, 1])
    assert graded.truth.dtype == bool
    assert graded.values.shape == graded.defined.shape == (0, 3)
    assert graded.overall == {}


def test_measures_have_a_value_per_record_and_are_frozen():
    graded = Graded(np.zeros(2), [True, False], np.ones((3, 2)), np.ones((3, 2)), {"coverage@2": 0.5})
    assert graded.values.shape == (3, 2)
    assert graded.defined.dtype == bool
    assert not graded.values.flags.writeable
    assert not graded.score.flags.writeable


def test_a_claim_about_nobody_has_no_records():
    assert Graded(np.zeros(0), np.zeros(0)).values.shape == (0, 0)


@pytest.mark.parametrize(
    "parts",
    [
        (np.zeros(2), [True]),
        (np.zeros((2, 1)), [True, False]),
    ],
)
def test_truth_must_fit_the_scores(parts):
    with pytest.raises(JaliError, match="must have shape"):
        Graded(*parts)


def test_measures_must_fit_the_records():
    with pytest.raises(JaliError, match=r"values must have shape \(any, 2\), not \(3, 3\)"):
        Graded(np.zeros(2), [True, False], np.ones((3, 3)), np.ones((3, 3)))
    with pytest.raises(JaliError, match=r"defined must have shape \(3, 2\), not \(0, 2\)"):
        Graded(np.zeros(2), [True, False], np.ones((3, 2)))
