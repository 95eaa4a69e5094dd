"""The ratios of single features against their formulas, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from jali.attacks._combined.ratios import (
    LOOSE,
    PSEUDO,
    above_outside,
    common_ratio,
    own_ratio,
    steady_ratio,
    yes_no_ratios,
)
from jali.attacks._combined.sums import Side


def side(count, mean, variance) -> Side:
    return Side(np.array(count, float), np.array([mean], float), np.array([variance], float))


def test_the_common_shift_by_hand():
    # Shifts 2 and 4: D = 3. Pooled variances 2 and 4: v = 3. Levels: (2*0 + 2*(2-3))/4 = -.5 and (1*1 + 3*(5-3))/4.
    outside = side([2, 1], [0.0, 1.0], [2.0, 0.0])
    inside = side([2, 3], [2.0, 5.0], [3.0, 5.0])
    value = np.array([[1.0, 2.0]])
    ratio, place = common_ratio(value, outside, inside)
    assert ratio[0] == pytest.approx([1.0 + 0.5 - 1.5, 2.0 - 1.75 - 1.5])
    assert place[0] == pytest.approx([0.0, -1.25])


def test_the_common_shift_with_each_records_own_spread_by_hand():
    outside = side([3, 3], [0.0, 0.0], [1.0, 7.0])
    inside = side([3, 3], [1.0, 3.0], [3.0, 5.0])
    value = np.array([[1.0, 1.0]])
    spread = [(LOOSE * 4 + 2 * 3 + 2 * 1) / (LOOSE + 4), (LOOSE * 4 + 2 * 5 + 2 * 7) / (LOOSE + 4)]  # median of 2, 6
    shift = (1 / spread[0] + 3 / spread[1]) / (1 / spread[0] + 1 / spread[1])
    wanted = [shift / v * (1 - (3 * (m - shift)) / 6 - shift / 2) for v, m in zip(spread, (1.0, 3.0), strict=True)]
    assert steady_ratio(value, outside, inside)[0] == pytest.approx(wanted)


def test_records_that_show_no_spread_do_not_decide_what_is_usual():
    """The usual spread is that of the first two records; of the others nobody, or one model on a side, answered."""
    outside = side([3, 3, 0, 1, 0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 7.0, 0.0, 0.0, 0.0])
    inside = side([3, 3, 0, 1, 0], [1.0, 3.0, 0.0, 2.0, 0.0], [3.0, 5.0, 0.0, 0.0, 0.0])
    spread = [(LOOSE * 4 + 2 * 3 + 2 * 1) / (LOOSE + 4), (LOOSE * 4 + 2 * 5 + 2 * 7) / (LOOSE + 4), 4.0]
    shift = np.average([1, 3, 2], weights=1 / np.array(spread))
    wanted = [
        shift / v * (1 - k * (m - shift) / (2 * k) - shift / 2)
        for v, m, k in zip(spread, (1.0, 3.0, 2.0), (3, 3, 1), strict=True)
    ]
    found = steady_ratio(np.ones((1, 5)), outside, inside)[0]
    assert found[[0, 1, 3]] == pytest.approx(wanted)
    assert np.isfinite(steady_ratio(np.ones((1, 1)), side([1], [0.0], [0.0]), side([1], [1.0], [0.0]))).all()


def one_own_ratio(value, k_out, m_out, s_out, k_in, m_in, s_in, pooled, common, scatter, prior):
    """The ratio of one record by its definition, all moments over records given."""
    v_out, v_in = pooled
    noise = v_in / k_in + v_out / k_out
    trust = scatter / (scatter + noise)
    shift = common + trust * (m_in - m_out - common)
    level = (k_out * m_out + k_in * (m_in - shift)) / (k_in + k_out)
    unsure = scatter * (1 - trust)
    parts = []
    for mean, k, s, v, other in ((level + shift, k_in, s_in, v_in, k_out), (level, k_out, s_out, v_out, k_in)):
        a = prior + (k - 1) / 2
        b = (prior - 1) * v + (k - 1) * s / 2
        extra = unsure * (other / (k_in + k_out)) ** 2 + v / (k_in + k_out)
        parts.append(student.logpdf(value, 2 * a, mean, np.sqrt(b / a + extra)))
    return parts[0] - parts[1]


def test_the_own_shift_is_the_univariate_definition():
    outside = side([4, 3, 5], [0.0, 1.0, -1.0], [1.0, 2.0, 1.5])
    inside = side([3, 4, 2], [2.0, 1.5, 3.0], [0.5, 1.0, 0.75])
    value = np.array([[1.0, 2.0, -3.0]])
    pooled = (1.5, 0.75)
    noise = np.array([0.75 / 3 + 1.5 / 4, 0.75 / 4 + 1.5 / 3, 0.75 / 2 + 1.5 / 5])
    seen = np.array([2.0, 0.5, 4.0])
    common = (seen / noise).sum() / (1 / noise).sum()
    scatter = ((seen - common) ** 2 - noise).mean()
    assert scatter > 0
    wanted = [
        one_own_ratio(
            value[0, i],
            *(outside.count[i], outside.mean[0, i], outside.variance[0, i]),
            *(inside.count[i], inside.mean[0, i], inside.variance[0, i]),
            *(pooled, common, scatter, 11.0),
        )
        for i in range(3)
    ]
    assert own_ratio(value, outside, inside, 11.0)[0] == pytest.approx(wanted)


def test_a_record_without_in_models_is_judged_by_the_common_shift():
    outside = side([4, 4, 4], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    inside = side([3, 3, 0], [2.0, 2.0, 0.0], [1.0, 1.0, 0.0])
    ratio = own_ratio(np.array([[2.0, 0.0, 2.0]]), outside, inside, 11.0)[0]
    assert ratio[2] > 0 > ratio[1]


def test_above_out_models_by_hand():
    outside = side([1, 3, 0, 0], [4.0, 0.0, 0.0, 0.0], [0.0] * 4)
    inside = side([2, 1, 2, 0], [6.0, 4.0, 5.0, 0.0], [0.0] * 4)  # shifts 2 and 4, on average 3
    assert above_outside(np.full((1, 4), 5.0), outside, inside).tolist() == [[1.0, 5.0, 3.0, 0.0]]


def logit(p):
    return np.log(p / (1 - p))


def test_bernoulli_ratios_by_hand():
    outside = side([4, 4], [0.25, 0.75], [0.0, 0.0])
    inside = side([4, 4], [0.75, 1.0], [0.0, 0.0])
    own, common = yes_no_ratios(np.array([[1.0, 0.0]]), outside, inside)
    shift = logit(0.875) - logit(0.5)
    level = logit(np.array([(4 + PSEUDO * 0.6875) / (8 + PSEUDO), (7 + PSEUDO * 0.6875) / (8 + PSEUDO)]))
    likely_in, likely_out = 1 / (1 + np.exp(-level - shift / 2)), 1 / (1 + np.exp(-level + shift / 2))
    assert common[0, 0] == pytest.approx(np.log(likely_in[0] / likely_out[0]))
    assert common[0, 1] == pytest.approx(np.log((1 - likely_in[1]) / (1 - likely_out[1])))
    noise = (1 / (1 + np.exp(-level))) * (1 / (1 + np.exp(level))) / 2
    apart = np.array([0.5, 0.25]) - (likely_in - likely_out)
    assert (apart**2 - noise).mean() < 0  # no more than binomial noise, so there are no shifts but the common one
    assert own == pytest.approx(common)


def test_a_value_beyond_yes_and_no_in_some_shadow_model_leaves_ratios_finite():
    outside = side([2, 2], [0.0, 0.0], [0.0, 0.0])
    inside = side([2, 2], [0.0, -0.5], [0.0, 0.0])
    for ratio in yes_no_ratios(np.array([[0.0, 0.0]]), outside, inside):
        assert np.isfinite(ratio).all()


def test_bernoulli_shifts_of_their_own_by_hand():
    outside = side([50, 50], [0.2, 0.8], [0.0, 0.0])
    inside = side([50, 50], [0.9, 0.7], [0.0, 0.0])
    own, _ = yes_no_ratios(np.array([[1.0, 0.0]]), outside, inside)
    shift = logit(0.8) - logit(0.5)
    level = logit(np.array([(55 + PSEUDO * 0.65) / (100 + PSEUDO), (75 + PSEUDO * 0.65) / (100 + PSEUDO)]))
    likely_in, likely_out = 1 / (1 + np.exp(-level - shift / 2)), 1 / (1 + np.exp(-level + shift / 2))
    rate = 1 / (1 + np.exp(-level))
    noise = rate * (1 - rate) / 25
    apart = np.array([0.7, -0.1]) - (likely_in - likely_out)
    scatter = (apart**2 - noise).mean()
    further = apart * scatter / (scatter + noise) / 2
    yes, no = likely_in + further, likely_out - further
    assert own[0] == pytest.approx([np.log(yes[0] / no[0]), np.log((1 - yes[1]) / (1 - no[1]))])


def test_a_rate_of_one_is_not_certain():
    always = side([5, 5], [1.0, 1.0], [0.0, 0.0])
    own, common = yes_no_ratios(np.array([[0.0, 1.0]]), side([5, 5], [0.0, 1.0], [0.0, 0.0]), always)
    assert np.isfinite(own).all()
    assert np.isfinite(common).all()
    assert own[0, 0] < 0
