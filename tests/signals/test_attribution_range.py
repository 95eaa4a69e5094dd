from __future__ import annotations

import numpy as np

from jali.core.explanation import Attribution
from jali.core.values import Seen
from jali.signals.attribution_range import AttributionRange


def test_wider_is_less_member_like_and_a_constant_row_is_finite():
    seen = Seen({"attribution": lambda: Attribution(np.array([[0.0, 1.0], [0.0, 4.0], [2.0, 2.0]]))})
    value = AttributionRange()(seen)
    np.testing.assert_allclose(value[:2], [0.0, -np.log(4.0)])
    assert np.isfinite(value[2])
