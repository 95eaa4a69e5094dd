"""Private rankings of columns: exact probabilities, sensitivity, and one payment per question."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import jali
from jali.core.errors import JaliError
from jali.protect.top_columns import UNIT, permute_and_flip, shares
from tests.protect.people import DECLARED, trained


def test_permute_and_flip_has_the_exact_probabilities():
    """Two candidates: the worse one wins with probability p / 2, p = exp(-epsilon gap / 2)."""
    rng = np.random.default_rng(0)
    draws = 4000
    worse = sum(permute_and_flip([UNIT, 0], Fraction(1), rng) for _ in range(draws))
    expected = math.exp(-0.5) / 2
    assert abs(worse - draws * expected) < 4 * math.sqrt(draws * expected * (1 - expected))
    half = sum(permute_and_flip([5, 5], Fraction(1), rng) for _ in range(2000))
    assert abs(half - 1000) < 4 * math.sqrt(500)


def test_one_row_moves_a_total_by_at_most_one():
    rng = np.random.default_rng(1)
    value = rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-8, 8, (200, 1))
    value[0] = 0
    found = shares(value, np.array([0, 1, 1, 2, 2]))
    assert found.shape == (200, 3)
    assert found.min() >= 0
    assert found.max() <= UNIT
    assert found[0].tolist() == [0, 0, 0]


def test_the_columns_that_matter_are_found_and_paid_for_once(tmp_path):
    train, _, model = trained()
    protected = jali.protect(model, train, **DECLARED)
    found = protected.top_columns(2, 20.0)
    assert set(found.names) <= {"income", "late", "job"}
    assert found.guarantee.epsilon == 20.0
    assert "the model and its decisions" in found.guarantee.not_covered[0]
    budget = jali.Budget(1.0, tmp_path / "b.ledger")
    first = protected.top_columns(2, 0.75, budget=budget)
    assert protected.top_columns(2, 0.75, budget=budget).names == first.names
    assert budget.answers_left(0.25) == 1
    with pytest.raises(JaliError, match="costs epsilon"):
        protected.top_columns(3, 0.75, budget=budget)
    with pytest.raises(JaliError, match="read no training rows"):
        protected.top_columns(2, 1.0, "nice")
    with pytest.raises(JaliError, match="k must be from 1"):
        protected.top_columns(9, 1.0)
