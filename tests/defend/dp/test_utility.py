from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jali.core.errors import JaliError
from jali.defend._dp.utility import clamped, shift_of_distances


@pytest.mark.parametrize("scale", [0.05, 1.0, 2.0])
def test_share_of_clamped_probabilities(scale):
    rng = np.random.default_rng(0)
    for p in (0.0, 0.2, 0.5, 1.0):
        noisy = p + rng.laplace(scale=scale, size=40_000)
        outside = ((noisy <= 1e-5) | (noisy >= 1 - 1e-5)).mean()
        assert clamped(np.array([p]), scale)[0] == pytest.approx(outside, abs=0.01)


def test_published_shares():
    """epsilon = .5: 78 to 80 %, 1: 61 to 68 %, 20: 0 to 41 %, for p from .5 to .01."""
    at = np.array([0.5, 0.01])
    np.testing.assert_allclose(clamped(at, 2.0), [0.78, 0.80], atol=0.01)
    np.testing.assert_allclose(clamped(at, 1.0), [0.61, 0.68], atol=0.01)
    np.testing.assert_allclose(clamped(at, 0.05), [0.0, 0.41], atol=0.01)


def test_distances_beside_each_other():
    rng = np.random.default_rng(1)
    a, b = rng.gamma(2, size=300), rng.gamma(3, size=200)
    found = shift_of_distances(a, b)
    assert found.gap == pytest.approx(stats.ks_2samp(a, b).statistic)
    assert found.plain[2] == pytest.approx(np.median(a))
    assert found.defended[4] == pytest.approx(np.quantile(b, 0.9))
    assert shift_of_distances(a, a).gap == 0
    with pytest.raises(JaliError, match="one side has none"):
        shift_of_distances(a, b[:0])
