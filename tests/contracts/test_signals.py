"""What every signal must do."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual
from jali.core.protocols import Vector
from jali.core.values import Column, Schema, Seen

SIGNALS = [registry.build("signal", name) for name in registry.names("signal")]
signals = pytest.mark.parametrize("signal", SIGNALS, ids=registry.names("signal"))


def tile(member_like: bool, n: int = 40) -> dict[str, object]:
    """What an adversary sees of records that a model fits well, or badly."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n)
    strength = 4.0 if member_like else 0.5
    logits = rng.normal(size=(n, 3)) * 0.1
    logits[np.arange(n), y] += strength
    if not member_like:
        logits[: n // 2] = np.roll(logits[: n // 2], 1, axis=1)
    x = rng.normal(size=(n, 4))
    away = rng.normal(size=(n, 4))
    return {
        "x": x,
        "y": y,
        "logits": logits,
        "decision": logits.argmax(axis=1),
        "encode": lambda rows: rows,
        "attribution": Attribution(0.1 * np.abs(away) ** 0.5 if member_like else 2.0 * away**2),  # smaller and flatter
        "counterfactual": Counterfactual(x + away * strength, np.ones(n, bool)),
        "schema": Schema(tuple(Column(name) for name in "abcd")),
        "ask": lambda rows: scores(rows, x, logits, strength),
        "outcome": logits[:, 1] - logits[:, 0] + rng.normal(size=n) / strength**2,
    }


def scores(rows: np.ndarray, x: np.ndarray, logits: np.ndarray, strength: float) -> np.ndarray:
    """Logits of any rows: those of the nearest record, flatter with the distance, and more so where it fits well."""
    far = np.linalg.norm(rows[:, None] - x, axis=2)
    near = far.argmin(axis=1)
    return logits[near] / (1 + strength * far.min(axis=1, keepdims=True))


def view(values: dict[str, object], needs) -> Seen:
    return Seen({k: (lambda v=v: v) for k, v in values.items()}).only(needs)


@signals
def test_larger_is_more_member_like(signal):
    if isinstance(signal, Vector):
        return  # its parts have no direction; the combined attack learns it
    high, low = (signal(view(tile(side), signal.needs)) for side in (True, False))
    assert high.mean() > low.mean()


@signals
def test_one_finite_number_per_record_whatever_the_order(signal):
    values = tile(True)
    out = signal(view(values, signal.needs))
    assert out.shape == ((40, signal.width(values["schema"])) if isinstance(signal, Vector) else (40,))
    assert np.isfinite(out).all()
    back = {k: (v[::-1] if isinstance(v, np.ndarray) else v) for k, v in values.items()}
    back["attribution"] = Attribution(values["attribution"].value[::-1])
    back["counterfactual"] = Counterfactual(values["counterfactual"].rows[::-1], np.ones(40, bool))
    np.testing.assert_allclose(signal(view(back, signal.needs)), out[::-1])


@signals
def test_extremes_stay_finite(signal):
    values = tile(True, n=4)
    values |= {
        "logits": np.array([[800.0, 0, 0], [0, 800, 0], [-800, 0, 0], [0, 0, 0]]),
        "attribution": Attribution(np.zeros((4, 4))),
        "counterfactual": Counterfactual(values["x"], np.ones(4, bool)),
    }
    assert np.isfinite(signal(view(values, signal.needs))).all()


@signals
def test_it_reads_what_it_declares_and_no_more(signal):
    for need in signal.needs:
        with pytest.raises(JaliError, match="not declared"):
            signal(view(tile(True), signal.needs - {need}))


@signals
def test_inputs_are_read_only(signal):
    values = tile(True)
    for array in values.values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    signal(view(values, signal.needs))


@signals
def test_specification_and_docstring(signal):
    assert registry.build("signal", registry.spec(signal, every=True)) == signal
    text = type(signal).__doc__ or ""
    assert ("t_j = " if isinstance(signal, Vector) else "t = ") in text
    assert ">>>" in text
