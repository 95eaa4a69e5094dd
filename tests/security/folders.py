"""Hostile working folders: `python -m tests.security.folders`, one line per kind of folder.

Each folder holds one kind of thing that Python, a library, the system or jali might pick up where it is started. The
commands that people run in a received folder are run in it, as the console script starts them. Two things count: code
that ran (every payload writes a line to the file RAN), and planted files that were opened or imported although no
command names them (an audit hook in every Python process writes them to OPENED).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import jali
from tests.commands import PAPER, SCRIPT
from tests.security.planted import KINDS, Plant, optional

SOURCE = str(Path(jali.__file__).parents[1])
# Writes down, in every process, what below the received folder is opened, imported or loaded.
HOOK = """
import os, sys
def hook(event, args, folder=os.environ["RECEIVED"] + os.sep, note=os.environ["OPENED"], open=os.open, write=os.write):
    if event in ("open", "import", "ctypes.dlopen", "subprocess.Popen", "exec") and args:
        name = args[1] if event == "import" and len(args) > 1 and args[1] else args[0]
        name = getattr(name, "co_filename", name)
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if isinstance(name, str):
            path = os.path.abspath(name)
            if path.startswith(folder):
                handle = open(note, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                write(handle, (path[len(folder):] + "\\n").encode())
                os.close(handle)
sys.addaudithook(hook)
"""


QUICK = ("--attack", "threshold", "--game", "rotate(models=4)", "--explain", "none")
OWN = ("--data", "people.csv", "--target", "y")


def commands() -> list[tuple[list[str], int]]:
    """What people run in a folder that they received, with the exit code that each must have."""
    audit = ["audit", *OWN, *QUICK]
    return [
        ([*audit, "--workers", "1", "--out", "one"], 0),
        ([*audit, "--workers", "2", "--out", "two", "--seed", "1"], 0),
        (["audit", "one/audit.toml", "--workers", "1", "--out", "three"], 0),
        (["attack", "one/evidence.npz", "--attack", "threshold", "--workers", "1", "--out", "attacked"], 0),
        (["report", "one"], 0),
        (["compare", "one", "two", "--out", "compared"], 0),
        (["schema", "people.csv", "--target", "y", "--out", "people.toml"], 0),
        (["explain", "people.csv", "--target", "y", "--row", "0", "--out", "answers.json"], 0),
        (["exposure", "--log", "people.csv", "--train", "people.csv", "--quasi", "age", "--out", "exposed"], 0),
        (["verify", "public_direction", "--draws", "100", "--out", "verified"], 0),
        (["reproduce", "paper.toml", "--scale", "standard", "--workers", "1", "--out", "reproduced"], 0),
        ([*audit, "--workers", "1", "--shard", "1/1", "--out", "sharded"], 0),
        (["merge", "sharded", "--workers", "1"], 0),
        (["list", "attack"], 0),
        (["store", "one"], 0),
        (["scan", "people.csv", "one", "--train", "people.csv", "--out", "scanned"], 0),
        (["forget", "one"], 0),
        (["audit", "hostile.toml", "--out", "refused"], 2),
        (["reproduce", "hostile-paper.toml", "--out", "refused"], 2),
    ]


NAMED = {"people.csv", "paper.toml", "hostile.toml", "hostile-paper.toml"}  # commands name these
OUTS = (
    "one",
    "two",
    "three",
    "attacked",
    "compared",
    "exposed",
    "verified",
    "reproduced",
    "sharded",
    "scanned",
    "refused",
)


def table(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 200), "income": rng.normal(30, 5, 200), "y": rng.integers(0, 2, 200)}
    )
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "paper.toml").write_text(PAPER)


def received(kind: Plant, place: Path) -> Path:
    """A folder of this kind, with a table and a paper in it."""
    folder = place / "received"
    folder.mkdir(parents=True)
    kind(folder)
    table(folder)
    return folder


def surroundings(place: Path, *more: Path) -> dict[str, str]:
    """The variables of a command; what is on PYTHONPATH was put there by the user."""
    hook = place / "hook"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(HOOK)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JALI", "MPL"))}
    paths = os.pathsep.join(map(str, (*more, hook, SOURCE)))
    told = {"RAN": str(place / "ran"), "OPENED": str(place / "opened"), "RECEIVED": str(place / "received")}
    return kept | told | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}


def run(place: Path, some: list[list[str]], *more: Path) -> subprocess.CompletedProcess[str]:
    """Run commands in the received folder, as the console script does."""
    (place / "bin").mkdir(exist_ok=True)
    (place / "bin" / "jali").write_text(SCRIPT)
    words = [sys.executable, str(place / "bin" / "jali"), json.dumps(some)]
    return subprocess.run(
        words, cwd=place / "received", env=surroundings(place, *more), capture_output=True, text=True, check=False
    )


def lines(file: Path) -> list[str]:
    return sorted(set(file.read_text().splitlines())) if file.exists() else []


def meddled(place: Path, planted: set[str]) -> list[str]:
    """What ran, and planted files that were opened although no command names them or their folder."""
    ran = [f"ran: {name}" for name in lines(place / "ran")]
    touched = [name for name in lines(place / "opened") if name in planted - NAMED]
    return ran + [f"opened: {name}" for name in touched if name.partition("/")[0] not in OUTS]


def tried(kind: Plant, place: Path, every: list[tuple[list[str], int]]) -> list[str]:
    """Run commands in a folder of this kind; what was wrong."""
    folder = received(kind, place)
    planted = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    some = [
        (words, code) for words, code in every if all((folder / w).exists() for w in words if w.startswith("hostile"))
    ]
    found = run(place, [words for words, _ in some])
    said = found.stdout.rpartition("codes ")[2]
    codes = json.loads(said) if said.startswith("[") else []
    wrong = [f"{' '.join(w)}: exit {c}" for (w, code), c in zip(some, codes, strict=False) if c != code]
    if len(codes) < len(some):
        wrong.append(f"ended early: {found.stderr[-300:]}")
    if "Traceback" in found.stderr:
        wrong.append(f"a traceback: {found.stderr[-300:]}")
    return meddled(place, planted) + wrong


def everything(only: Sequence[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """What was wrong in each kind of folder; only: names of kinds."""
    for kind in KINDS:
        if only and kind.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="folders-") as name:
            yield kind.__name__, tried(kind, Path(name).resolve(), commands())


def main(only: Sequence[str] = ()) -> int:
    """Try every kind of folder with every command; how many had an effect."""
    bad = 0
    tries = 0
    for name, wrong in everything(only):
        tries += 1
        bad += bool(wrong)
        sys.stdout.write(f"{name:20}{'; '.join(wrong[:6]) or 'nothing ran, nothing was opened'}\n")
        sys.stdout.flush()
    many = len(commands())
    sys.stdout.write(f"{tries} folders, {many} commands in each, {len(optional())} names: {bad} had an effect\n")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
