from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.linear_gaussian import LinearGaussian
from jali.defend.explain.coarse import Coarse
from jali.explain.input_x_gradient import InputXGradient
from jali.models.logistic import Logistic

DATA = LinearGaussian(n=60, d=3).load()


def test_attributions_lie_on_the_grid_and_near_the_exact_ones():
    model = Logistic().fit(DATA, np.ones((60, 1), dtype=bool), [np.random.default_rng(0)])[0]
    rng = np.random.default_rng(0)
    exact = InputXGradient().prepare(model, DATA.schema, None, rng).explain(DATA.X, rng).value
    coarse = Coarse(InputXGradient(), step=0.25).prepare(model, DATA.schema, DATA, rng).explain(DATA.X, rng).value
    assert np.abs(coarse - exact).max() <= 0.125 + 1e-12
    np.testing.assert_allclose(coarse / 0.25, np.round(coarse / 0.25), atol=1e-9)


def test_bad_input_is_one_sentence():
    with pytest.raises(JaliError, match="step must be positive"):
        registry.build("explain", "coarse(step=0.0)")
    with pytest.raises(JaliError, match="not counterfactuals"):
        registry.build("explain", "coarse(nice())")
