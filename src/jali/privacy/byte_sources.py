"""Where the random bytes of private noise come from: the operating system, a secret key, or the seed of a study.

All noise that is released is computed from `bytes` of a generator, by `discrete_noise` and `snapped_noise`. Who draws
decides on the generator: a release passes `SystemRandom`, an answer that must be the same again passes `KeyedRandom`,
and a study or a test passes numpy's seeded generator. The sampler is the same for all three.
"""

from __future__ import annotations

import hashlib
import os
import secrets

import numpy as np

from jali.core.values import Rng


class SystemRandom(np.random.Generator):
    """A generator whose `bytes` come from the operating system; one that is seeded from there gives its other draws."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64DXSM(secrets.randbits(256)))

    def bytes(self, length: int) -> bytes:
        """Random bytes of the operating system."""
        return os.urandom(length)


class KeyedRandom(np.random.Generator):
    """A generator whose `bytes` are SHAKE-256 of a secret and a counter: the same again for whoever has the secret.

    numpy's generators are made for simulations, and their state can be computed from their output. Here nothing is
    learnt about bytes that are not shown, nor about the secret.

    >>> KeyedRandom(b"secret").bytes(8) == KeyedRandom(b"secret").bytes(8) != KeyedRandom(b"another").bytes(8)
    True
    """

    def __init__(self, secret: bytes) -> None:
        other = hashlib.sha256(b"other draws" + secret).digest()
        super().__init__(np.random.PCG64DXSM(int.from_bytes(other)))
        self._secret = hashlib.sha256(b"bytes" + secret).digest()
        self._calls = 0

    def bytes(self, length: int) -> bytes:
        """The next random bytes."""
        self._calls += 1
        return hashlib.shake_256(self._secret + self._calls.to_bytes(16)).digest(length)


def seeded(rng: Rng) -> bool:
    """Whether the noise of a generator can be repeated by those who know its seed, as in a study.

    >>> seeded(np.random.default_rng(0)), seeded(SystemRandom())
    (True, False)
    """
    return not isinstance(rng, SystemRandom | KeyedRandom)
