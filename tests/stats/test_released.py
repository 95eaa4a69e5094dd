from __future__ import annotations

import numpy as np
import pytest

from jali.stats import released
from jali.stats.roc import auc, tnr_at, tpr_at


def mixture(exposed: str, n: int = 20_000):
    """Normal scores; 5 % of one side lie far out on its own side."""
    rng = np.random.default_rng(0)
    truth = np.arange(2 * n) < n
    score = rng.normal(size=2 * n)
    far = rng.random(2 * n) < 0.05
    score[far & truth & (exposed == "members")] += 8
    score[far & ~truth & (exposed == "others")] -= 8
    return score, truth


def test_the_exchanged_axes_report_the_other_sides_exposure():
    """What the released evaluation calls TPR at .1 % misses 5 % exposed members, and finds 5 % exposed non-members."""
    score, truth = mixture("members")
    assert tpr_at(score, truth, 0.001) == pytest.approx(0.05, abs=0.01)
    assert released.huang2024(score, truth)["tpr@0.001"] < 0.01
    score, truth = mixture("others")
    assert tpr_at(score, truth, 0.001) < 0.01
    assert released.huang2024(score, truth)["tpr@0.001"] > 0.04
    assert tnr_at(score, truth, 0.001) == pytest.approx(0.05, abs=0.01)


def test_the_area_is_the_usual_one():
    rng = np.random.default_rng(1)
    truth = rng.random(500) < 0.4
    score = truth + rng.normal(size=500).round(1)
    assert released.huang2024(score, truth)["auc"] == pytest.approx(auc(score, truth))
