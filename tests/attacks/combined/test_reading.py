"""Records that no shadow model answered about are read once for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined import reading
from jali.attacks._combined.reading import Reading, Tuning, choose_lens, read_once, without
from jali.core.guesses import Shadows


def with_gaps(rng, answered: float) -> tuple[Shadows, np.ndarray]:
    """Shadow models that answer about some records only, and the answers of a target (S, N) about others."""
    member = rng.random((400, 9)) < 0.5
    value = rng.normal(size=(4, 400, 1)) + rng.normal(size=(4, 400, 9)) + 0.7 * member
    value[2] = np.round(value[2])
    value[3] *= rng.random((400, 9)) < 0.6
    seen = (rng.random((400, 1)) < answered) & (rng.random((400, 9)) < 0.5)
    observed = np.stack([np.ones(seen.shape, dtype=bool), seen, seen, seen])
    return Shadows(np.where(observed, value, 0.0), observed, member), rng.normal(size=(4, 400)).round(1)


@pytest.mark.parametrize("answered", [0.0, 0.2, 0.6])
def test_a_record_that_stands_for_others_says_what_each_would(rng, monkeypatch, answered):
    shadows, target = with_gaps(rng, answered)
    columns = np.array([0, 3])
    use = np.ones(400, dtype=bool)
    tables = []
    for mostly in (0.9, -1.0):  # one for all unknown records, and each by itself
        monkeypatch.setattr(reading, "MOSTLY", mostly)
        lens = choose_lens(shadows, (columns,), Tuning(11.0, 0.02))
        found = Reading.of(lens, shadows, without(columns, 9))
        assert (len(found.rows) < 400) == (mostly > 0)
        tables.append([found.table(t, target, use) for t in (0, 1)])
    np.testing.assert_allclose(*tables, rtol=1e-10, atol=1e-10)


def test_where_most_are_known_all_are_read():
    known = np.arange(100) > 4
    rows, place = read_once(known)
    np.testing.assert_array_equal(rows, np.arange(100))
    np.testing.assert_array_equal(place, np.arange(100))
