"""Columns as they are, each on its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from jali.core.errors import JaliError
from jali.knowledge.statistical import Statistical

from .tables import assert_legal, table


def test_every_column_keeps_its_distribution():
    rows = table()
    known = Statistical().know(rows, np.random.default_rng(1))
    assert_legal(known)
    assert len(known) == len(rows)
    for j in (0, 2):
        assert ks_2samp(known.X[:, j], rows.X[:, j]).statistic < 0.045  # 1.95 sqrt(2 / 4000): one in a thousand
    np.testing.assert_allclose(np.bincount(known.X[:, 1].astype(int)) / 4000, [0.6, 0.3, 0.1], atol=0.03)


def test_what_columns_have_to_do_with_each_other_is_lost_and_so_are_labels():
    rows = table()
    known = Statistical().know(rows, np.random.default_rng(1))
    assert np.corrcoef(rows.X[:, 0], rows.X[:, 2])[0, 1] > 0.85
    assert abs(np.corrcoef(known.X[:, 0], known.X[:, 2])[0, 1]) < 0.06
    assert not known.y.any()


def test_same_stream_same_rows_and_no_rows_are_an_error():
    first, again = (Statistical().know(table(50), np.random.default_rng(3)).X for _ in range(2))
    np.testing.assert_array_equal(first, again)
    with pytest.raises(JaliError, match="no rows to take statistics from"):
        Statistical().know(table(0), np.random.default_rng(0))
