"""The same bits as one set of guesses after the other."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.guesses import Guesses
from jali.stats import one_model, redrawn, roc


def scores(kind: str, n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    score = rng.normal(size=n) + {"leak": 1.0, "reversed": -2.0}.get(kind, 0.0) * truth
    if kind == "ties":
        score = np.round(score)
    elif kind == "constant":
        score[:] = 0.5
    elif kind == "neighbours":  # whose middle is one of them
        score = np.where(score > 0, np.nextafter(1.0, 2.0), 1.0)
    return score, truth


KINDS = ["leak", "nothing", "reversed", "ties", "constant", "neighbours"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_of_one_attack(kind):
    score, truth = scores(kind)
    guesses = Guesses(score, truth, np.zeros(60), np.arange(60))
    half = roc.halves(truth)

    def plain(score, half, truth):
        return roc.crossed_accuracy(score, truth, half > 0)

    rngs = [np.random.default_rng(7) for _ in range(2)]
    given = (score, half.astype(float))
    expected = one_model.bootstrap(plain, given, truth, rngs[0], 0.9, 500, truth * 2 + half.astype(int))
    found, _ = one_model.alone("balanced_accuracy", guesses, rngs[1], 0.9)
    assert found == expected
    assert rngs[0].random() == rngs[1].random()  # and as many draws


@pytest.mark.parametrize(("kind", "n"), [(kind, 9) for kind in KINDS] + [("leak", 60), ("ties", 60)])
def test_the_interval_of_a_difference(kind, n, monkeypatch):
    monkeypatch.setattr(redrawn, "CELLS", 5000)  # a part of the sets at a time
    score, truth = scores(kind, n)
    other = scores("leak", n, 1)[0]
    with_, without = (Guesses(s, truth, np.zeros(n), np.arange(n)) for s in (score, other))
    rngs = [np.random.default_rng(7) for _ in range(2)]
    expected = one_model.bootstrap(
        lambda a, b, t: roc.balanced_accuracy(a, t) - roc.balanced_accuracy(b, t), (score, other), truth, rngs[0]
    )
    found, _ = one_model.alone_difference("balanced_accuracy", with_, without, rngs[1], 0.95)
    assert found == expected
    assert rngs[0].random() == rngs[1].random()
