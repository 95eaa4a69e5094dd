"""Specifications with alternatives."""

from __future__ import annotations

import pytest

from jali import config
from jali.core.alternatives import written_out
from jali.core.errors import JaliError


@pytest.mark.parametrize(
    ("text", "stands_for"),
    [
        ("k_groups", ["k_groups"]),
        ("k_groups(k=5 | 10)", ["k_groups(k=5)", "k_groups(k=10)"]),
        ('nice("a\\"|b")', ['nice("a\\"|b")']),
        (
            "dp_sgd(mlp(hidden=[8]), epsilon=1|4)",
            ["dp_sgd(mlp(hidden=[8]), epsilon=1)", "dp_sgd(mlp(hidden=[8]), epsilon=4)"],
        ),
        (
            "hardened(lime(), normalise=true|false)",
            ["hardened(lime(), normalise=true)", "hardened(lime(), normalise=false)"],
        ),
    ],
)
def test_each_alternative_is_written_out(text, stands_for):
    assert list(written_out(text)) == stands_for


def test_a_module_in_one_alternative_is_not_hidden_from_the_check_of_files():
    foreign = config.checked({"defend": ["hardened(my_lab:Mine(k=1|2))"]})
    with pytest.raises(JaliError, match="my_lab"):
        foreign.vet(trust=False)
    config.checked({"defend": ["k_groups(k=5|10)", "dp_logistic(epsilon=1|4, bound=2)"]}).vet(trust=False)
