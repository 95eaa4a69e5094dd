from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.stats import dp_bounds

TABLE = [
    (0.5, 0.697, 0.622, 0.0016, 0.0165),
    (1.0, 0.816, 0.731, 0.0027, 0.0272),
    (2.0, 0.932, 0.881, 0.0074, 0.0739),
    (4.0, 0.991, 0.982, 0.0546, 0.546),
]


@pytest.mark.parametrize(("eps", "loose", "tight", "tpr_low", "tpr_high"), TABLE)
def test_table(eps: float, loose: float, tight: float, tpr_low: float, tpr_high: float):
    assert dp_bounds.pawelczyk_cap(eps) == pytest.approx(loose, abs=6e-4)
    assert dp_bounds.balanced_accuracy_cap(eps) == pytest.approx(tight, abs=6e-4) == dp_bounds.auc_cap(eps)
    assert dp_bounds.tpr_cap(eps, 0.001) == pytest.approx(tpr_low, abs=6e-5)
    assert dp_bounds.tpr_cap(eps, 0.01) == pytest.approx(tpr_high, abs=6e-4)


def test_large_epsilon():
    assert dp_bounds.balanced_accuracy_cap(8.0) == pytest.approx(0.9997, abs=5e-5)
    assert dp_bounds.tpr_cap(8.0, 0.001) == pytest.approx(1, abs=1e-3)
    for cap in (dp_bounds.balanced_accuracy_cap, dp_bounds.auc_cap, dp_bounds.pawelczyk_cap):
        assert cap(5000.0) == 1.0
    assert dp_bounds.tpr_cap(5000.0, 0.5) == 1.0


@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.4, 1.0])
def test_caps_follow_from_the_curve(eps: float, delta: float):
    """AUC is the area under the TPR cap, balanced accuracy its largest distance from the diagonal."""
    grid = np.linspace(0, 1, 20_001)
    curve = np.array([dp_bounds.tpr_cap(eps, alpha, delta) for alpha in grid])
    assert dp_bounds.auc_cap(eps, delta) == pytest.approx(np.trapezoid(curve, grid), abs=1e-6)
    assert dp_bounds.balanced_accuracy_cap(eps, delta) == pytest.approx(0.5 + (curve - grid).max() / 2, abs=1e-4)
    assert curve.min() >= 0
    assert curve.max() == 1.0
    assert (np.diff(curve) >= 0).all()


def test_no_privacy_loss_means_chance():
    assert dp_bounds.auc_cap(0.0) == 0.5 == dp_bounds.pawelczyk_cap(0.0)
    assert dp_bounds.tpr_cap(0.0, 0.01) == pytest.approx(0.01)


def test_errors():
    for eps, delta in ((-1.0, 0.0), (1.0, -0.1), (1.0, 1.1), (np.nan, 0.0)):
        with pytest.raises(JaliError, match="epsilon >= 0"):
            dp_bounds.auc_cap(eps, delta)
    with pytest.raises(JaliError, match="rate between 0 and 1"):
        dp_bounds.tpr_cap(1.0, 1.5)
