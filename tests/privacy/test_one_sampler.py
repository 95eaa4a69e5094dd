"""All noise that is released is drawn from the bytes of a generator, and from nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import jali
from jali.core.values import Column, Dataset, Schema
from jali.defend._dp.histograms import private_histograms
from jali.defend.explain.above_threshold import AboveThreshold
from jali.defend.explain.public_direction import PublicDirection
from jali.defend.models.dp_logistic import DPLogistic
from jali.privacy.snapped_noise import laplace_on_grid
from jali.protect.top_columns import peeled

FLOATING = {"laplace", "normal", "standard_normal", "gamma", "standard_gamma", "gumbel", "exponential", "geometric"}


class OnlyBytes(np.random.Generator):
    """A generator that gives nothing but bytes."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64DXSM(seed))
        self._source = np.random.default_rng(seed)

    def bytes(self, length):
        return self._source.bytes(length)

    def __getattribute__(self, name):
        if not name.startswith("_") and name != "bytes":
            raise AssertionError(f"noise was drawn with {name}, not from bytes")
        return super().__getattribute__(name)


def rows(n: int = 60) -> Dataset:
    schema = Schema(tuple(Column(f"x{j}", low=-3, high=3) for j in range(20)), favourable=1)
    X = np.random.default_rng(0).normal(size=(n, 20)).clip(-3, 3)
    return Dataset(X, X[:, 0] > 0, schema)


@pytest.mark.parametrize("method", ["objective", "output"])
def test_private_weights(method):
    data = rows()
    part = DPLogistic(1.0, bound=1.0, method=method)
    fitted = [part.fit(data, np.ones((60, 1), bool), [OnlyBytes(seed)]) for seed in (0, 0, 1)]
    assert np.array_equal(fitted[0].coef, fitted[1].coef)
    assert not np.array_equal(fitted[0].coef, fitted[2].coef)


@pytest.mark.parametrize("kind", [PublicDirection, AboveThreshold])
def test_noise_on_answers(kind):
    data = rows()
    part = kind.example(1.0)
    model = part.deployed().fit(data, np.ones((60, 1), bool), [np.random.default_rng(0)])[0]
    ready = part.prepare(model, data.schema, None, np.random.default_rng(0))
    assert ready.explain(data.X, OnlyBytes(0)).rows.shape == data.X.shape


def test_histograms_and_rankings():
    assert private_histograms("x", rows(), 1.0, 1e-6, 5, OnlyBytes(0)).share.sum() == pytest.approx(1)
    assert sorted(peeled(np.array([5, 900, 100]), 3, 1.0, OnlyBytes(0))) == [0, 1, 2]
    assert laplace_on_grid([0.1, 0.2], 1.0, 1.0, OnlyBytes(0)).shape == (2,)


def test_nothing_private_calls_a_sampler_of_numpy():
    source = Path(jali.__file__).parent
    files = [file for part in ("defend", "privacy", "protect") for file in (source / part).rglob("*.py")]
    calls = [
        f"{file.name}: {node.func.attr}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FLOATING
    ]
    assert len(files) > 40
    assert calls == []
