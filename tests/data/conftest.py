"""Real data for the tests: the folder in JALI_DATA, else ../shared/data beside the repository; absent files skip."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jali.core import registry
from jali.core.values import Dataset
from jali.data.tables import files

FOLDER = Path(os.environ.get("JALI_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@functools.cache
def _load(spec: str) -> Dataset:
    source = registry.build("data", spec)
    if not files.present(source):
        pytest.skip(f"the files of {spec} are not in {FOLDER}; set JALI_DATA to the folder that holds them")
    return source.load()


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Dataset]:
    """Load a data set by its specification, once for all tests, or skip."""
    monkeypatch.setenv("JALI_DATA", str(FOLDER))
    return _load


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], list[str]]:
    """The lines of one file of a data set, read without pandas, or skip."""
    monkeypatch.setenv("JALI_DATA", str(FOLDER))

    def read(spec: str, file: int = 0) -> list[str]:
        source = registry.build("data", spec)
        if not files.present(source):
            pytest.skip(f"the files of {spec} are not in {FOLDER}; set JALI_DATA to the folder that holds them")
        return files.read(source.files[file]).decode().splitlines()

    return read
