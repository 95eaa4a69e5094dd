from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.stats.t_test import two_sample


def guesses(shift, units, seed, each=60):
    rng = np.random.default_rng(seed)
    truth = np.tile(np.arange(each) % 2 == 0, units)
    score = rng.normal(size=len(truth)) + shift * truth
    return Guesses(score, truth, np.repeat(np.arange(units), each), np.arange(len(truth)))


def values(side):
    return [roc_auc_score(side.truth[side.unit == u], side.score[side.unit == u]) for u in np.unique(side.unit)]


@pytest.mark.parametrize(("shift", "units"), [(0.4, 8), (0.0, 5)])
def test_it_is_the_test_of_scipy(shift, units):
    more, less = guesses(shift, units, 0), guesses(0.0, 7, 1)
    oracle = stats.ttest_ind(values(more), values(less))
    found = two_sample("auc", more, less)
    assert found.reason.startswith(f"t({units + 5}) = {oracle.statistic:.1f}, p")
    interval = oracle.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.low > 0 or found.high < 0) == (oracle.pvalue < 0.05)


def test_one_target_is_no_sample():
    with pytest.raises(JaliError, match="at least two target models"):
        two_sample("auc", guesses(0.0, 1, 0), guesses(0.0, 3, 1))


def test_targets_that_agree_have_no_statistic():
    truth, unit = np.array([True, False, True, False]), np.array([0, 0, 1, 1])
    perfect, none = (Guesses(s, truth, unit, unit) for s in (truth * 1.0, np.zeros(4)))
    assert two_sample("auc", perfect, none).reason == "all targets agree exactly"
