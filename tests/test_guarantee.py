from __future__ import annotations

import math

import numpy as np
import pytest

from jali.core import Column, Dataset, JaliError, Schema
from jali.defend.dp_logistic import DPLogistic
from jali.guarantee import SECRET, Guarantee, Private, accounting, doubled


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


def test_every_claim_rests_on_a_secret_seed_besides_what_its_mechanism_assumes():
    assert made(assumes=("rows are rows",)).conditions == ("rows are rows", SECRET)
    assert made().conditions == (SECRET,)


def test_whoever_knows_the_seed_subtracts_the_noise():
    """Two training sets, one seed: the released weights differ by exactly what the models without noise differ by."""
    private = DPLogistic(epsilon=0.1, bound=1.0, method="output")
    rng, schema = np.random.default_rng(0), Schema((Column("x", low=-1, high=1),))
    X = rng.uniform(-1, 1, (50, 1))
    pair = [Dataset(X, y, schema) for y in (X[:, 0] > 0, X[:, 0] > 0.5)]
    noisy, exact = (
        [trainer.fit(data, np.ones((50, 1), dtype=bool), [np.random.default_rng(5)])[0].coef for data in pair]
        for trainer in (private, private.plain())
    )
    assert np.abs(noisy[0] - exact[0]).max() > 5
    np.testing.assert_allclose(noisy[0] - noisy[1], exact[0] - exact[1], atol=1e-6)
