from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.guarantee import Guarantee
from jali.privacy.mechanisms import recording, released
from jali.verify.declared_noise import event


def taped(*constants):
    with recording() as tape:
        for each in constants:
            released("noise", lambda: np.zeros(1), **each)
    return tape


def test_declared_noise_is_an_event_and_several_are_one_after_the_other():
    dp = pytest.importorskip("dp_accounting")
    claim = Guarantee("x", 1.0, "replace-one", ("decisions",))
    once = {"scale": 3.0, "sensitivity": 1.5}
    assert event(claim, taped(once)) == dp.LaplaceDpEvent(2.0)
    assert event(claim, taped(once, once)) == dp.ComposedDpEvent([dp.LaplaceDpEvent(2.0)] * 2)
    assert event(claim, taped()) is None
    assert event(claim, taped(once, {"scale": 3.0})) is None
    assert event(claim, taped({"scale": 3.0, "sensitivity": 0.0})) is None
    assert event(claim, taped({"multiplier": 3.0})) is None


def test_the_multiplier_that_was_used_replaces_the_one_that_is_claimed():
    dp = pytest.importorskip("dp_accounting")

    @dataclasses.dataclass(frozen=True)
    class Gaussian(Guarantee):
        multiplier: float = 1.0

        def event(self):
            return dp.GaussianDpEvent(self.multiplier)

    claim = Gaussian("x", 1.0, "add-remove", ("decisions",), delta=1e-5, multiplier=4.0)
    assert event(claim, taped({"multiplier": 0.5})) == dp.GaussianDpEvent(0.5)
