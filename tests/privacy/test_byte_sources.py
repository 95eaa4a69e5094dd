"""Random bytes of releases, of keyed answers and of studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from jali.privacy.byte_sources import KeyedRandom, SystemRandom, seeded
from jali.privacy.discrete_noise import laplace_each
from jali.privacy.snapped_noise import ball


def test_a_key_repeats_its_bytes_and_another_does_not():
    first = KeyedRandom(b"key")
    again = KeyedRandom(b"key")
    assert [first.bytes(n) for n in (3, 100, 3)] == [again.bytes(n) for n in (3, 100, 3)]
    assert KeyedRandom(b"key").bytes(32) != KeyedRandom(b"kez").bytes(32)
    calls = KeyedRandom(b"key")
    assert calls.bytes(32) != calls.bytes(32)


@pytest.mark.parametrize("rng", [KeyedRandom(b"a key"), SystemRandom()], ids=["key", "system"])
def test_bytes_are_uniform(rng):
    counts = np.bincount(np.frombuffer(rng.bytes(100_000), dtype=np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-6


def test_noise_of_a_key_repeats_and_that_of_the_system_does_not():
    scale = np.full(20, 1000)
    assert np.array_equal(laplace_each(scale, KeyedRandom(b"a")), laplace_each(scale, KeyedRandom(b"a")))
    assert not np.array_equal(laplace_each(scale, SystemRandom()), laplace_each(scale, SystemRandom()))
    assert not np.array_equal(ball(1, 5, 1.0, SystemRandom()), ball(1, 5, 1.0, SystemRandom()))


def test_only_a_study_is_seeded():
    assert seeded(np.random.default_rng(0))
    assert not seeded(KeyedRandom(b"secret"))
    assert not seeded(SystemRandom())
