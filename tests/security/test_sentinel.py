"""A person's value occurs in no file and in nothing that is said, unless somebody asks for values."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jali import stopping
from tests.security.folders import SCRIPT

NUMBER = 7654321.25  # of one person, in a column of numbers
NAME = "Zaphod7Sentinel"  # of one person, in a column of texts
DONE = {"audit": (0, 3), "attack": (0, 3), "verify": (0, 1, 4)}  # exit codes of a command that did its work
QUICK = ("--game", "rotate(models=4)", "--attack", "threshold", "--explain", "input_x_gradient")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(18, 80, 400),
        "income": rng.normal(3000, 500, 400).round(2),
        "job": rng.choice(["cook", "smith"], 400),
        "paid": rng.choice(["no", "yes"], 400),
        "member": (np.arange(400) % 3 == 0).astype(int),
        "score": rng.random(400),
    })  # fmt: skip
    frame.loc[7, ["income", "job"]] = [NUMBER, NAME]
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame[20:].to_csv(tmp_path / "others.csv", index=False)
    return tmp_path


def run(folder: Path, *commands: list[str]) -> str:
    """Run commands in a folder, in one process with a temporary folder of its own; everything that they say."""
    found = started(folder, SCRIPT, json.dumps(commands))
    codes = json.loads(found.rpartition("codes ")[2])
    done = [words[0] for words, code in zip(commands, codes, strict=True) if code not in DONE.get(words[0], (0,))]
    assert done == [], found
    return found


def started(folder: Path, code: str, *words: str) -> str:
    """Run Python in a folder; everything that it says."""
    (folder / "tmp").mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    command = [sys.executable, "-P", "-c", code, *words]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stderr + found.stdout


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
    """Folders of tables in memory, of this process and of processes that have ended: other tests run meanwhile."""
    shared = Path("/dev/shm")
    names = {path.name for path in shared.glob("jali-*")} if shared.is_dir() else set()
    runs = {name: stopping.number(name.split("-")[1]) for name in names}
    return {name for name, run in runs.items() if run == os.getpid() or not stopping.alive(run)}


PAPER = """
title = "small"
citation = "nobody"
[methods."loss"]
signal = "loss"
attack = "threshold"
[studies.s]
data = 'table("people.csv", target="paid")'
model = "logistic"
game = "rotate(models=4)"
methods = ["loss"]
"""
PROTECT = """
import sys
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.compose import make_column_transformer
import jali
people = pd.read_csv("people.csv")
people.loc[7, "job"] = "cook"  # which categories occur may be known: that is a condition of the guarantee
columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough")
model = make_pipeline(columns, LogisticRegression(max_iter=2000)).fit(people.drop(columns="paid"), people.paid)
explainer = jali.protect(model, (people.drop(columns="paid"), people.paid), method="k_groups(k=5)")
explainer.save("protected")
sys.stdout.write(repr(explainer) + str(explainer.guarantee))
"""
OWN = ("--data", "people.csv", "--target", "paid")
RELEASE = """
def release(data, query, rng):
    return data.X[:, 0].mean() + rng.laplace(scale=1.0)
"""
# Everything that writes: by name, what is run in the folder of the audits before it.
WRITING = {
    "audit": ["audit", *OWN, *QUICK, "--workers", "2", "--out", "a"],
    "another audit": ["audit", *OWN, *QUICK, "--workers", "1", "--seed", "1", "--quasi", "age", "--out", "b"],
    "report": ["report", "a", "--tables"],
    "attack": ["attack", "a/evidence.npz", "--attack", "threshold", "--workers", "1", "--out", "c"],
    "dump": ["attack", "people.csv", "--member", "member", "--label", "paid", "--signal", "score", "--workers", "1",
             "--out", "d"],
    "released": ["attack", "--released", "people.csv", "--candidates", "people.csv", "--reference", "others.csv",
                 "--target", "paid", "--out", "r"],
    "linked": ["attack", "--released", "people.csv", "--register", "people.csv", "--quasi", "age", "--out", "l"],
    "schema": ["schema", "people.csv", "--target", "paid", "--out", "schema.toml"],
    "scan": ["scan", "a", "people.csv", "--train", "people.csv", "--out", "s"],
    "exposure": ["exposure", "--log", "people.csv", "--train", "people.csv", "--quasi", "age", "--out", "e"],
    "compare": ["compare", "a", "b", "--out", "m"],
    "explain": ["explain", "people.csv", "--target", "paid", "--row", "3", "--out", "answers.json"],
    "verify": ["verify", "my_release:release", "--epsilon", "1", "--draws", "100", *OWN, "--out", "v"],
    "reproduce": ["reproduce", "paper.toml", "--scale", "standard", "--workers", "1", "--out", "p"],
    "frontier": ["frontier", "table.toml", "--workers", "1", "--out", "f"],
    "forget": ["forget", "b"],
}  # fmt: skip
FRONTIER = """data = "people.csv"
target = "paid"
favourable = "yes"
model = "logistic"
explain = ["nice"]
defend = ["k_groups(k=5)"]
game = "rotate(models=4)"
"""


def test_values_stay_in_the_table(people):
    """Whatever any command leaves: results, reports, configurations, evidence, stores, temporary files, and says."""
    before = in_memory()
    for name, text in {"paper.toml": PAPER, "my_release.py": RELEASE, "table.toml": FRONTIER}.items():
        (people / name).write_text(text)
    said = run(people, *WRITING.values())
    said += started(people, PROTECT)
    assert places(people) == []
    assert NAME not in said
    assert "7654321" not in said
    assert list((people / "tmp").iterdir()) == []
    assert in_memory() <= before

    # The search does find what is there: with --show-values a report shows people's rows.
    run(people, ["schema", "people.csv", "--target", "paid", "--out", "shown.toml", "--show-values"])
    assert places(people) == ["shown.toml"]
