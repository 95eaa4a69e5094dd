"""Shared fixtures: one thread per test, a planted leak, and where real data may lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from jali.core.guesses import Records
from jali.core.values import Evidence, Game, SignalName
from jali.parallel import one_thread

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _one_thread():
    """Every test has one thread, as every task of a run has: two that share a core mostly wait for each other."""
    with one_thread.libraries(tuple(sys.modules)).limit(limits=1):
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_secret_of_the_user(tmp_path_factory: pytest.TempPathFactory):
    """Stores are sealed with a secret made for the tests, not with the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
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


def planted(
    shift: float, n: int = 600, models: int = 24, signals: int = 1, seed: int = 0, aside: int = 0
) -> tuple[Evidence, Game]:
    """Evidence in which members' signals lie higher by `shift` within-record deviations; every model a target.

    aside: how many further records, which come last, are in no training set and not scored.
    """
    rng = np.random.default_rng(seed)
    n += aside
    scored = np.arange(n) < n - aside
    member = (rng.random((n, models)) < 0.5) & scored[:, None]
    difficulty = rng.normal(size=(signals, n, 1))
    value = difficulty + shift * member + rng.normal(size=(signals, n, models))
    shadows = ~np.eye(models, dtype=bool)
    everywhere = np.repeat(scored[:, None], models, axis=1)
    game = Game(member, np.arange(models), shadows, everywhere, aside=~scored if aside else None)
    names = tuple(SignalName(f"s{i}") for i in range(signals))
    return Evidence(names, value, np.ones(value.shape, dtype=bool), member), game


def records_for(game: Game, seed: int = 0) -> Records:
    """Records with two features that say nothing about the signal; those set aside are the reference."""
    rng = np.random.default_rng(seed)
    n = len(game.member)
    aside = np.zeros(n, dtype=bool) if game.aside is None else game.aside
    return Records(rng.normal(size=(n, 2)), rng.integers(0, 2, n), np.arange(n), rng.permutation(n) / n, aside)


def target_and_shadows(evidence: Evidence, column: int = 0):
    from jali.core.guesses import Shadows, Target

    rest = np.arange(evidence.member.shape[1]) != column
    target = Target(evidence.value[:, :, column], evidence.observed[:, :, column])
    return target, Shadows(evidence.value[:, :, rest], evidence.observed[:, :, rest], evidence.member[:, rest])
