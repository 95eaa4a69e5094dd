"""A person's value occurs in no file and in nothing that is said, unless somebody asks for values."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

NUMBER = 7654321.25  # of one person, in a column of numbers
NAME = "Zaphod7Sentinel"  # of one person, in a column of texts
QUICK = ("--game", "rotate(models=4)", "--attack", "threshold", "--explain", "input_x_gradient")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(18, 80, 240),
        "income": rng.normal(3000, 500, 240).round(2),
        "job": rng.choice(["cook", "smith"], 240),
        "paid": rng.choice(["no", "yes"], 240),
    })  # fmt: skip
    frame.loc[7, ["income", "job"]] = [NUMBER, NAME]
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """Run a command in a folder, with a temporary folder of its own; everything that it says."""
    (folder / "tmp").mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    command = [sys.executable, "-P", "-m", "jali", *words]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout + found.stderr


def places(folder: Path) -> list[str]:
    """Files below a folder, but the table itself, in which one of the values stands as text or as a number."""
    wanted = [NAME.encode(), NAME.encode("utf-16-le"), NAME.encode("utf-32-le"), b"7654321"]
    wanted += [np.float64(NUMBER).tobytes(), np.float32(NUMBER).tobytes()]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "people.csv":
            found += [str(path.relative_to(folder)) for part in contents(path) if any(w in part for w in wanted)]
    return found


def contents(path: Path) -> list[bytes]:
    """The bytes of a file, and what is packed into it."""
    parts = [path.read_bytes()]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            parts += [archive.read(name) for name in archive.namelist()]
    elif parts[0][:2] == b"\x1f\x8b":
        parts.append(gzip.decompress(parts[0]))
    return parts


def in_memory() -> set[str]:
    """Folders of tables that runs share in memory."""
    shared = Path("/dev/shm")
    return {path.name for path in shared.glob("jali-*")} if shared.is_dir() else set()


def test_values_stay_in_the_table(people):
    """Whatever a run leaves: results, report, configuration, evidence, store, temporary files, what it says."""
    before = in_memory()
    own = ("--data", "people.csv", "--target", "paid", "--workers", "2")
    said = run(people, "audit", *own, *QUICK, "--out", "a")
    said += run(people, "report", "a", "--tables")
    said += run(people, "schema", "people.csv", "--target", "paid")
    said += run(people, "scan", "a", "--train", "people.csv", "--out", "s")
    said += run(people, "exposure", "--log", "people.csv", "--train", "people.csv", "--quasi", "age", "--out", "e")
    assert places(people) == []
    assert NAME not in said
    assert "7654321" not in said
    assert list((people / "tmp").iterdir()) == []
    assert in_memory() <= before

    # The search does find what is there: with --show-values a report shows people's rows.
    run(people, "schema", "people.csv", "--target", "paid", "--out", "shown.toml", "--show-values")
    assert places(people) == ["shown.toml"]
