"""Shared fixtures: one thread per test, a planted leak, and where real data may lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from jali import parallel
from jali.core.values import Evidence, Game, SignalName

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _one_thread():
    """Every test has one thread, as every task of a run has: two that share a core mostly wait for each other."""
    with parallel._libraries(tuple(sys.modules)).limit(limits=1):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; the tests that need it say so where it is absent."""
    folder = Path(os.environ.get("JALI_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("real data are not here: set JALI_DATA to their folder")
    return folder


def planted(shift: float, n: int = 600, models: int = 24, signals: int = 1, seed: int = 0) -> tuple[Evidence, Game]:
    """Evidence in which members' signals lie higher by `shift` within-record deviations; every model a target."""
    rng = np.random.default_rng(seed)
    member = rng.random((n, models)) < 0.5
    difficulty = rng.normal(size=(signals, n, 1))
    value = difficulty + shift * member + rng.normal(size=(signals, n, models))
    game = Game(member, np.arange(models), ~np.eye(models, dtype=bool), np.ones((n, models), dtype=bool))
    names = tuple(SignalName(f"s{i}") for i in range(signals))
    return Evidence(names, value, np.ones(value.shape, dtype=bool), member), game


def target_and_shadows(evidence: Evidence, column: int = 0):
    from jali.core.values import Shadows, Target

    rest = np.arange(evidence.member.shape[1]) != column
    target = Target(evidence.value[:, :, column], evidence.observed[:, :, column])
    return target, Shadows(evidence.value[:, :, rest], evidence.observed[:, :, rest], evidence.member[:, rest])
