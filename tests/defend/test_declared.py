"""What a check by minimality finds in each defence: nothing of the training data passes its mechanism, or what does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.values import Dataset
from jali.data.linear_gaussian import LinearGaussian
from jali.defend._dp.recourse import DECISION
from jali.defend.explain.above_threshold import AboveThreshold
from jali.defend.explain.dp_weights_recourse import FRESH, DPWeightsRecourse
from jali.defend.explain.laplace_recourse import LaplaceRecourse
from jali.defend.explain.public_direction import PublicDirection
from jali.defend.models.dp_logistic import DPLogistic
from jali.verify.dependence import leaking_variables
from tests.explaining import explained

DATA = LinearGaussian(n=300, d=20, scale="population").load()
OTHER = dataclasses.replace(DATA, y=np.r_[1 - DATA.y[:1], DATA.y[1:]])


def fitted(trainer, data: Dataset):
    return trainer.fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]


def answers(part, trainer):
    """Answers to records that the models of both data sets decide alike, with the same noise every time."""
    here, there = (fitted(trainer, d).logits(DATA.X).argmax(axis=1) for d in (DATA, OTHER))
    X = DATA.X[here == there][:30]
    return lambda d: explained(part, fitted(trainer, d), X, d.schema, d, np.random.default_rng(0)).rows


@pytest.mark.parametrize("cls", [PublicDirection, AboveThreshold])
def test_nothing_passes_a_public_direction(cls):
    part = cls.example(5.0)
    release = answers(part, part.deployed())
    assert leaking_variables(release, DATA, OTHER) == ()
    assert not np.array_equal(release(DATA), DATA.X[:30])


def test_nothing_passes_private_weights_whatever_is_remembered():
    part = DPWeightsRecourse(DPLogistic(5.0, bound=1.0, C=0.1, method="output"), beta=1.0, key=FRESH)
    release = answers(part, part.plain())
    before = release(OTHER)
    for _ in range(2):
        assert leaking_variables(release, DATA, OTHER) == ()
    np.testing.assert_array_equal(release(OTHER), before)


def test_a_private_model_is_all_that_is_released():
    part = DPLogistic(1.0, bound=1.0)
    assert leaking_variables(lambda d: fitted(part, d).logits(DATA.X), DATA, OTHER) == ()


def test_the_weights_pass_laplace_recourse():
    part = LaplaceRecourse.example(1.0)
    assert leaking_variables(answers(part, part.deployed()), DATA, OTHER) == ("weights",)


def test_the_decision_passes_every_one_of_them():
    """It is named as not covered in what they assume."""
    part = AboveThreshold.example(5.0)

    def release(data):
        model = fitted(part.deployed(), data)
        flipped = dataclasses.replace(model, intercept=model.intercept + (data.y[0] == 1) * np.array([-9.0, 9.0]))
        return explained(part, flipped, DATA.X[:30], data.schema, data, np.random.default_rng(0)).rows

    assert leaking_variables(release, DATA, OTHER) == (DECISION,)
