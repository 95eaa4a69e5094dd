from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.explanation import Attribution
from jali.core.values import Seen
from jali.signals._norms import shares

VALUE = np.array([[3.0, -4.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
SIZES = {
    "attribution_l1": [7.0, 4.0, 0.0],
    "attribution_l2": [5.0, 2.0, 0.0],
    "attribution_linf": [4.0, 1.0, 0.0],
    "attribution_variance": [6.1875, 0.0, 0.0],  # 25 / 4 - (1 / 4)^2
}


def read(spec: str, value=VALUE):
    return registry.build("signal", spec)(Seen({"attribution": lambda: Attribution(value)}))


@pytest.mark.parametrize("name", SIZES)
def test_sizes_by_hand_as_they_are_and_on_the_log_scale(name):
    np.testing.assert_allclose(read(f'{name}(scale="raw")'), -np.array(SIZES[name]))
    np.testing.assert_allclose(read(name), -np.log(np.maximum(SIZES[name], 1e-30)))


def test_the_variance_of_attributions_that_are_0_on_average_is_their_squared_length():
    value = np.random.default_rng(0).normal(size=(50, 8))
    value -= value.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(read("attribution_variance", value), 2 * read("attribution_l2", value) + np.log(8))


def test_shares_add_up_to_one_whatever_the_size():
    value = np.random.default_rng(0).normal(size=(50, 8))
    np.testing.assert_allclose(shares(value).sum(axis=1), 1)
    np.testing.assert_allclose(shares(1e-200 * value), shares(value))


@pytest.mark.parametrize("name", ["attribution_entropy", "attribution_top1"])
def test_even_explanations_are_member_like_whatever_their_size(name):
    value = np.array([[1.0, 0, 0, 0], [4.0, -2, 1, 1], [1.0, 1, -1, 1], [0.0, 0, 0, 0]])
    found = read(name, value)
    assert found[0] == 0.0
    assert found[0] < found[1] < found[2]
    np.testing.assert_allclose(found[2:], np.log(4))
    np.testing.assert_allclose(read(name, -7 * value), found)


def test_entropy_and_top_share_by_hand():
    value = np.array([[4.0, -2.0, 1.0, 1.0]])
    np.testing.assert_allclose(read("attribution_entropy", value), 1.75 * np.log(2))  # 1/2, 1/4, 1/8, 1/8
    np.testing.assert_allclose(read("attribution_top1", value), np.log(2))
