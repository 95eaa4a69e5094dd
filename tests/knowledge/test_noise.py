"""A tenth of noise: how large, and where."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.knowledge.noise import Noise

from .tables import assert_legal, table


def test_numbers_move_by_a_tenth_of_their_deviation_and_a_tenth_of_the_categories_is_another():
    rows = table()
    known = Noise().know(rows, np.random.default_rng(1))
    assert_legal(known)
    moved = known.X - rows.X
    assert moved[:, 2].std() == pytest.approx(0.1 * rows.X[:, 2].std(), rel=0.05)
    assert abs(moved[:, 0].std() - 0.1 * rows.X[:, 0].std()) < 0.1  # rounded, and kept within bounds
    wrong = moved[:, 1] != 0
    assert wrong.mean() == pytest.approx(0.1, abs=0.015)
    np.testing.assert_array_equal(known.y, rows.y)
    assert np.corrcoef(known.X[:, 0], known.X[:, 2])[0, 1] > 0.85  # what columns have to do with each other stays


def test_other_categories_are_alike():
    schema = Schema((Column("c", "category", categories=tuple("abcd")),))
    rows = Dataset(np.full((8000, 1), 2.0), np.zeros(8000, int), schema)
    known = Noise(share=0.5).know(rows, np.random.default_rng(0)).X[:, 0]
    np.testing.assert_allclose(np.bincount(known.astype(int)) / 8000, [1 / 6, 1 / 6, 1 / 2, 1 / 6], atol=0.015)


def test_same_stream_same_rows_and_the_table_stays_untouched():
    rows = table(50)
    before = rows.X.copy()
    first, again = (Noise().know(rows, np.random.default_rng(3)).X for _ in range(2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(rows.X, before)


def test_bad_shares_are_refused_and_no_rows_are_no_rows():
    with pytest.raises(JaliError, match="share must lie between 0 and 1"):
        Noise(share=1.5)
    assert len(Noise().know(table(0), np.random.default_rng(0))) == 0
