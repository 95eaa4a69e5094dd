from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.explain.reason_codes import ReasonCodes, shown
from jali.models.fitted.linear import LinearModel
from tests.explaining import explained

SCHEMA = Schema((Column("a"), Column("b"), Column("c", "category", categories=("u", "v")), Column("d")))
MODEL = LinearModel(Encoding(SCHEMA), np.array([[0, 1.0], [0, -3.0], [0, 2.0], [0, 0.5], [0, 0.0]]), np.zeros(2))


def told(show, top=2):
    part = ReasonCodes(registry.build("explain", "input_x_gradient"), top, show)
    X = np.array([[2.0, 1.0, 0.0, 9.0]])  # attributions 2, -3, 2 (at u) and 0 of the predicted class 1
    return explained(part, MODEL, X, SCHEMA, None, np.random.default_rng(0)).value


def test_by_hand_what_names_signs_and_values_show():
    np.testing.assert_array_equal(told("names"), [[0.5, 1.0, 0, 0, 0]])
    np.testing.assert_array_equal(told("signs"), [[0.5, -1.0, 0, 0, 0]])
    np.testing.assert_array_equal(told("values"), [[2.0, -3.0, 0, 0, 0]])
    np.testing.assert_allclose(told("names", 4), [[0.75, 1.0, 0.5, 0, 0]])  # what counts nothing is not named


def test_names_show_no_more_than_the_order():
    value = np.random.default_rng(0).normal(size=(50, 6))
    for change in (lambda a: 3 * a, lambda a: -a, lambda a: a**3):
        np.testing.assert_array_equal(shown(change(value), 3, "names"), shown(value, 3, "names"))
    np.testing.assert_array_equal(shown(2 * value**3, 3, "signs"), shown(value, 3, "signs"))
    assert not np.array_equal(shown(-value, 3, "signs"), shown(value, 3, "signs"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("reason_codes(top=0)", "must be at least 1"),
        ("reason_codes(nice)", "names the columns of an attribution"),
        ('reason_codes(show="all")', "show must be"),
    ],
)
def test_what_makes_no_sense_is_refused(text, words):
    with pytest.raises(JaliError, match=words):
        registry.build("explain", text)
