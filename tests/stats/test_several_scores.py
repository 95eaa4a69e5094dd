from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.core.values import Floats
from jali.stats import roc, several_scores
from jali.stats.several_scores import aucs, by_rank

SIZES = st.floats(1e-100, 1e100) | st.just(np.inf)


@st.composite
def scores(draw: st.DrawFn) -> Floats:
    """Two numbers or more, some of them equal, next to each other, of either zero, or infinite."""
    some = [sign * draw(SIZES) for sign in draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=8))]
    near = [np.nextafter(x, 0.0) for x in some if np.isfinite(x)]
    return np.array(draw(st.lists(st.sampled_from([*some, *near, 0.0, -0.0]), min_size=2, max_size=40)))


@given(scores(), st.data())
@settings(max_examples=150, deadline=None)
def test_several_aucs_are_those_one_by_one(score: Floats, data: st.DataObject):
    truth = np.array(data.draw(st.permutations([True, False, *[data.draw(st.booleans()) for _ in score[2:]]])))
    several = np.stack([score, -score, np.arange(float(len(score)))])
    before = several.copy()
    np.testing.assert_allclose(aucs(several, truth), [roc.auc(one, truth) for one in several], atol=1e-12)
    np.testing.assert_array_equal(several, before)


def test_membership_by_rank():
    truth = np.array([True, False, False, True])
    near = np.nextafter(1.0, 2.0)
    several = np.array(
        [[4.0, -2.0, 3.0, -1.0], [1.0, 2.0, 1.0, 3.0], [near, 1.0, 2.0, -0.0], [5e-324, 0.0, 1e-323, -0.0]]
    )
    member, ranked = by_rank(several, truth)
    assert member[[0, 2]].tolist() == [[False, True, False, True], [True, False, True, False]]
    assert (ranked[:, 1:] == ranked[:, :-1]).sum(axis=1).tolist() == [0, 1, 0, 1]


def test_many_scores_are_taken_a_few_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(7, 60))
    truth = rng.random(60) < 0.5
    whole = aucs(score, truth)
    monkeypatch.setattr(several_scores, "NUMBERS", 130)
    np.testing.assert_array_equal(aucs(score, truth), whole)
    assert aucs(score[:0], truth).shape == (0,)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_layout_in_memory_is_no_matter(order):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(3, 50))
    truth = rng.random(50) < 0.5
    np.testing.assert_array_equal(aucs(np.asarray(score, order=order), truth), [roc.auc(one, truth) for one in score])
