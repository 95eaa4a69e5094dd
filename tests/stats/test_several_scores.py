from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.core.values import Floats
from jali.stats import roc
from jali.stats.several_scores import aucs, by_rank

FLOATS = st.floats(allow_nan=False, allow_subnormal=True)


@st.composite
def scores(draw: st.DrawFn) -> Floats:
    """Two numbers or more, some of them equal, next to each other, of either zero, or infinite."""
    some = draw(st.lists(FLOATS, min_size=1, max_size=8))
    near = [np.nextafter(x, 0.0) for x in some]
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
    several = np.array([[4.0, -2.0, 3.0, -1.0], [1.0, 2.0, 1.0, 3.0], [0.0, 2.0, -0.0, 3.0], [1.0, near, 2.0, np.inf]])
    member, unsure = by_rank(several, truth)
    assert unsure.tolist() == [False, True, True, True]
    assert member[0].tolist() == [False, True, False, True]


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_layout_in_memory_is_no_matter(order):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(3, 50))
    truth = rng.random(50) < 0.5
    np.testing.assert_array_equal(aucs(np.asarray(score, order=order), truth), [roc.auc(one, truth) for one in score])
