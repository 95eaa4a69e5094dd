from __future__ import annotations

import numpy as np
import pytest

from jali.defend._dp.clamping import clamped


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
