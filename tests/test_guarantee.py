from __future__ import annotations

import math

import pytest

from jali.core import JaliError
from jali.guarantee import Guarantee, Private, accounting, doubled


def made(**fields):
    return Guarantee(
        **{"mechanism": "m", "epsilon": 1.0, "adjacency": "replace-one", "covers": ("decisions",), **fields}
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be positive"),
        ({"epsilon": math.inf}, "finite"),
        ({"delta": 1.0}, "delta"),
        ({"adjacency": ""}, "needs its adjacency"),
    ],
)
def test_a_claim_must_be_complete(fields, words):
    with pytest.raises(JaliError, match=words):
        made(**fields)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_event_of_a_pure_claim_has_its_epsilon(epsilon):
    dp = accounting()
    pld = dp.pld.PLDAccountant(dp.NeighboringRelation.REPLACE_ONE)
    pld.compose(made(epsilon=epsilon).event())
    assert pld.get_epsilon(0.0) == pytest.approx(epsilon, abs=2e-4)


def test_membership_replaces_a_record_so_add_remove_counts_twice():
    assert doubled(made()) == 1.0
    assert doubled(made(adjacency="add-remove")) == 2.0


def test_only_pure_claims_have_an_event():
    with pytest.raises(JaliError, match="pure"):
        made(delta=1e-5).event()


def test_a_part_that_promises_is_recognised():
    class Part:
        def guarantee(self):
            return made()

    assert isinstance(Part(), Private)
