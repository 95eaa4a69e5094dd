"""What a folder or a file that somebody else made can do when jali is used on it: nothing but be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jali
from jali import config, parallel
from jali.api import from_config
from jali.audit.setup import Resources
from jali.core import registry
from jali.core.errors import JaliError
from jali.privacy.ledger import Ledger
from jali.reproduce import schema as claims
from tests.commands import PAPER, SCRIPT, besides_progress
from tests.commands import jali as command

SOURCE = str(Path(jali.__file__).parents[1])
QUICK = ["--attack", "threshold", "--game", "rotate(models=4)", "--explain", "none"]
# Writes down, in every process, the modules that are asked for and that nobody finds.
RECORDER = """
import os, sys
class Recorder:
    def find_spec(self, name, path=None, target=None):
        with open(os.environ["PROBED"], "a") as file:
            file.write(name + "\\n")
sys.meta_path.append(Recorder())
"""
# scikit-learn starts processes of its own here, which is nothing that a file may not ask for.
STARTS_WORKERS = """data = "people.csv"
target = "y"
model = 'sklearn(estimator="sklearn.ensemble:BaggingClassifier", params="n_jobs=2, n_estimators=4")'
game = "rotate(models=4)"
attack = ["threshold"]
"""
PLANTED = """
import os
with open(os.environ["RAN"], "a") as file:
    file.write(__name__ + "\\n")
"""
LIBRARIES = (
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "joblib",
    "threadpoolctl",
    "pydantic",
    "rich",
    "matplotlib",
    "jinja2",
)
PROBES = ("numexpr", "bottleneck", "lz4", "psutil", "zstandard", "sitecustomize", "usercustomize", "pyarrow", "cupy")
STANDARD = ("random", "json", "secrets", "tempfile", "pickle", "zipfile")


def table(path: Path, n: int = 200) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.normal(30, 5, n), "y": rng.integers(0, 2, n)})
    frame.to_csv(path, index=False)
    return path


def environment(tmp_path: Path, *folders: str | Path) -> dict[str, str]:
    """The surroundings of a command; what is on PYTHONPATH was put there by the user."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONSAFEPATH", "PYTHONPATH")}
    paths = os.pathsep.join(map(str, (*folders, SOURCE)))
    return kept | {"PYTHONPATH": paths, "PROBED": str(tmp_path / "probed"), "RAN": str(tmp_path / "ran")}


def run(words: list[str], folder: Path, surroundings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)


def commands(folder: Path, out: str) -> list[list[str]]:
    """Every command, on files that lie in the working folder, with one process and with two.

    The last of them has scikit-learn start processes of its own.
    """
    own = ["audit", "--data", "people.csv", "--target", "y", *QUICK]
    return [
        [*own, "--workers", "1", "--out", f"{out}1"],
        [*own, "--workers", "2", "--out", f"{out}2", "--seed", "1"],
        ["audit", f"{out}1/audit.toml", "--out", f"{out}3", "--workers", "2"],
        ["attack", f"{out}1/evidence.npz", "--workers", "2", "--out", f"{out}4"],
        ["report", f"{out}1"],
        ["reproduce", "paper.toml", "--scale", "standard", "--workers", "2", "--out", f"{out}5"],
        ["verify", "laplace_recourse", "--draws", "100"],
        *(["list", kind] for kind in registry.FOLDERS),
        ["data"],
        ["schema", "people.csv", "--target", "y", "--out", f"{out}.toml"],
        ["explain", "people.csv", "--target", "y", "--row", "0", "--out", f"{out}.json"],
        ["scan", "people.csv", "paper.toml", f"{out}1", "--train", "people.csv", "--out", f"{out}7"],
        ["exposure", "--log", "people.csv", "--train", "people.csv", "--quasi", "age", "--out", f"{out}8"],
        [*own, "--workers", "1", "--shard", "1/1", "--out", f"{out}10"],
        ["merge", f"{out}10", "--workers", "1"],
        ["store", f"{out}10"],
        ["audit", "parallel.toml", "--workers", "1", "--out", f"{out}6"],
    ]


def received(tmp_path: Path) -> Path:
    folder = tmp_path / "received"
    folder.mkdir()
    table(folder / "people.csv")
    (folder / "paper.toml").write_text(PAPER)
    (folder / "parallel.toml").write_text(STARTS_WORKERS)
    return folder


def plant(folder: Path, names: set[str]) -> None:
    """Files that libraries would find if they looked here, and a plugin that says where it can be loaded from."""
    for name in names:
        (folder / f"{name}.py").write_text(PLANTED)
    plugin = folder / "plugin-1.0.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (plugin / "entry_points.txt").write_text(
        "[pydantic]\np = planted_plugin\n[matplotlib.backend]\nb = planted_plugin\n"
    )
    (folder / "planted_plugin.py").write_text(PLANTED)
    (folder / "matplotlibrc").write_text("backend: module://planted_plugin\n")


def ran(folder: Path) -> list[str]:
    """Planted modules whose code ran."""
    return (folder / "ran").read_text().split() if (folder / "ran").exists() else []


def test_nothing_in_the_working_folder_runs_because_a_library_looks_for_it(tmp_path):
    folder, bins, recorder = received(tmp_path), tmp_path / "bin", tmp_path / "recorder"
    for made in (bins, recorder):
        made.mkdir()
    (bins / "jali").write_text(SCRIPT)
    (recorder / "sitecustomize.py").write_text(RECORDER)
    # Processes of scikit-learn take seconds to start and look for what ours look for, so they are started once, below.
    everything = [sys.executable, str(bins / "jali"), json.dumps(commands(folder, "a")[:-1])]
    first = run(everything, folder, environment(tmp_path, recorder))
    expected = [int(command[0] == "verify") for command in commands(folder, "a")]  # a false claim is refuted: 1
    assert json.loads(first.stdout.rpartition("codes ")[2]) == expected[:-1], first.stderr
    probed = {name.partition(".")[0] for name in (tmp_path / "probed").read_text().split()}
    assert {"numexpr", "bottleneck"} <= probed
    plant(folder, probed | {*PROBES, *LIBRARIES, *STANDARD})

    again = run([*everything[:2], json.dumps(commands(folder, "b"))], folder, environment(tmp_path))
    assert ran(tmp_path) == []
    assert json.loads(again.stdout.rpartition("codes ")[2]) == expected, again.stderr

    # The same with `python -m`, which puts the folder first; modules of Python itself it loads before jali has a say.
    for name in STANDARD:
        (folder / f"{name}.py").unlink()
    words = ["audit", "b1/audit.toml", "--out", "c", "--workers", "1"]  # with two workers: the next test
    found = run([sys.executable, "-m", "jali", *words], folder, environment(tmp_path))
    assert (ran(tmp_path), found.returncode, besides_progress(found.stderr)) == ([], 0, [])

    # A folder that the user puts on the path is looked into: the planted files do run when they are found.
    run([*everything[:2], json.dumps([["list", "attack"]])], folder, environment(tmp_path, folder))
    assert ran(tmp_path)


OWN = {
    "my_lab.py": """
        from dataclasses import dataclass
        from typing import ClassVar
        import my_scale

        @dataclass(frozen=True)
        class Mine:
            "The mirror of the signal."
            requires: ClassVar[frozenset] = frozenset()
            many: ClassVar[bool] = False

            def score(self, target, shadows):
                import importlib, my_late
                importlib.import_module("my_later")
                return my_scale.SCALE * my_late.SIGN * target.value[0]
    """,
    "my_scale.py": "SCALE = 2.0",
    "my_late.py": "SIGN = -1.0",
    "my_later.py": "",
    "my_trees/forest.py": "from sklearn.tree import DecisionTreeClassifier as Tree",
}


@pytest.mark.parametrize(("start", "workers"), [("console", "1"), ("python -m", "2")])
def test_modules_that_are_typed_are_found_in_the_working_folder_and_find_their_neighbours(start, workers, tmp_path):
    folder = received(tmp_path)
    for name, text in OWN.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    plant(folder, {*PROBES, *LIBRARIES})
    (tmp_path / "jali").write_text("from jali.cli import main\nmain()\n")
    command = [str(tmp_path / "jali")] if start == "console" else ["-m", "jali"]
    tree = 'sklearn(estimator="my_trees.forest:Tree", params="max_depth=2")'
    words = ["audit", "--data", "people.csv", "--target", "y", "--model", tree, "--explain", "none"]
    words += ["--attack", "my_lab:Mine", "--attack", "threshold", "--game", "rotate(models=4)"]
    found = run([sys.executable, *command, *words, "--workers", workers], folder, environment(tmp_path))
    assert (ran(tmp_path), found.returncode, besides_progress(found.stderr)) == ([], 0, [])
    rows = json.loads((folder / "jali-audit" / "results.json").read_text())["rows"]
    assert {"my_lab:Mine", "threshold"} <= {row["attack"] for row in rows}


RELEASE = """
    import numpy as np
    def release(data, query, rng):
        import my_noise
        return my_noise.draw(rng)
"""


def test_a_release_that_is_typed_is_found_in_the_working_folder(tmp_path):
    (tmp_path / "my_release.py").write_text(textwrap.dedent(RELEASE))
    (tmp_path / "my_noise.py").write_text("def draw(rng): return rng.normal()")
    words = ["verify", "my_release:release", "--epsilon", "1", "--draws", "100"]
    found = run([sys.executable, "-m", "jali", *words], tmp_path, environment(tmp_path))
    assert (found.returncode, besides_progress(found.stderr)) == (
        4,
        [],
    )  # it is noise alone, so no pair can tell anything
    assert "NOT TESTABLE" in found.stdout


# --- files ---------------------------------------------------------------------------------------------------------

NAMING = {
    "data": ["pwn:X", "sample(pwn:X(), n=9)", "pwn.inner:X"],
    "model": [
        "pwn:X",
        'sklearn(estimator="pwn:X")',
        'sklearn("pwn:X")',
        "sklearn('pwn')",
        'tuned("pwn:X", grid="a=[1]")',
    ],
    "game": ["pwn:X(3)"],
    "explain": [["nice", "pwn:X"], ["k_anonymous(pwn:X(), k=2)"], ["k_anonymous(inner=k_anonymous(pwn:X))"]],
    "attack": [["pwn:X"], ["linkage", "threshold", "directed(pwn:X)"], ["vote(shadow=[pwn:X])", "vote(pwn:X)"]],
    "knowledge": ["pwn:X"],
    "signal": [["loss", "pwn:X"]],
}
EACH = [(setting, told) for setting, several in NAMING.items() for told in several]


@pytest.fixture
def pwn(tmp_path, monkeypatch):
    """A module that can be imported and says so; a file that names it."""
    folder = tmp_path / "pwn"
    folder.mkdir()
    for name in ("__init__", "inner"):
        (folder / f"{name}.py").write_text(PLANTED + "from jali.models.logistic import Logistic as X\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "pwn"]:
        del sys.modules[name]


def refused(words: list[str], capsys) -> str:
    code, _, errors = command(*words, capsys=capsys)
    assert (code, errors.count("\n")) == (2, 1)
    return errors


@pytest.mark.parametrize(("setting", "told"), EACH)
def test_a_file_imports_no_module_unless_it_is_trusted(setting, told, pwn, capsys):
    path = pwn / "audit.toml"
    settings = {"data": "lending(n=60)", "game": "rotate(models=2)"} | {setting: told}
    path.write_text(config.written(settings))
    errors = refused(["audit", path, "--out", pwn / "out"], capsys)
    assert "'pwn" in errors
    assert "--trust" in errors
    with pytest.raises(JaliError, match="--trust"):
        from_config(config.read(path), Resources())
    assert ran(pwn) == []


def test_a_trusted_file_and_what_is_typed_beside_it_may_import(pwn, capsys):
    path = pwn / "audit.toml"
    path.write_text(config.written({"data": "lending(n=200)", "model": "pwn:X", "game": "rotate(models=4)"}))
    rest = ["--explain", "none", "--attack", "threshold", "--workers", "1", "--out", pwn / "out"]
    refused(["audit", path, *rest], capsys)
    assert command("audit", path, "--model", "logistic", *rest, capsys=capsys)[0] == 0  # what is overridden is not read
    assert ran(pwn) == []
    assert command("audit", path, "--trust", *rest, capsys=capsys)[0] == 0
    assert ran(pwn) == ["pwn"]
    path.write_text(config.written({"data": "lending(n=200)", "signal": ["pwn.inner:X"], "game": "rotate(models=4)"}))
    assert "'pwn.inner'" in refused(["audit", path, "--model", "pwn:X", *rest], capsys)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('signal = "loss"', 'signal = ["loss", "pwn:X"]'),
        ('attack = "threshold"', 'attack = "directed(pwn:X)"'),
        ('attack = "threshold"', 'attack = "threshold"\nexplain = "pwn:X"'),
        ('attack = "threshold"', 'attack = "threshold"\namong = "pwn:X"'),
        ('signal = "loss"\nattack = "threshold"', 'query_attack = "vote(pwn:X)"\nknowledge = "noise"'),
        ('signal = "loss"\nattack = "threshold"', 'query_attack = "vote"\nknowledge = "pwn:X"'),
        ('data = "lending(n=200)"', 'data = "pwn:X"'),
        ('model = "logistic"', """model = 'sklearn(estimator="pwn:X")'"""),
        ('game = "rotate(models=4)"', 'game = "pwn:X"'),
        ('methods = ["loss"]', 'methods = ["loss"]\n[studies.s.smoke]\nmodel = "pwn:X"'),
        ('methods = ["loss"]', 'methods = ["loss"]\n[studies.t]\nlike = "s"\npaper = { data = "pwn:X" }'),
    ],
)
def test_a_paper_of_somebody_elses_imports_no_module_unless_it_is_trusted(old, new, pwn, capsys):
    assert PAPER.count(old) == 1
    path = pwn / "paper.toml"
    path.write_text(PAPER.replace(old, new))
    errors = refused(["reproduce", path, "--out", pwn / "out"], capsys)
    assert "'pwn'" in errors
    assert "--trust" in errors
    assert ran(pwn) == []
    assert claims.read(str(path), trust=True).title == "small"


def test_a_trusted_paper_runs_with_its_modules(pwn, capsys):
    path = pwn / "paper.toml"
    path.write_text(PAPER.replace('"logistic"', '"pwn:X"'))
    words = ["reproduce", path, "--trust", "--scale", "standard", "--workers", "1", "--out", pwn / "out"]
    assert command(*words, capsys=capsys)[0] == 0
    assert ran(pwn) == ["pwn"]


@pytest.mark.parametrize(
    "estimator",
    ["sklearn.utils:Bunch", "sklearn.base:clone", "sklearn.svm:OneClassSVM", "sklearn.utils.validation:joblib"],
)
def test_a_file_may_name_classifiers_of_scikit_learn_and_nothing_else_of_it(estimator, tmp_path, capsys):
    path = tmp_path / "audit.toml"
    settings = {"data": "lending(n=200)", "game": "rotate(models=4)", "attack": ["threshold"]}
    path.write_text(config.written(settings | {"model": f'sklearn(estimator="{estimator}")'}))
    assert "must be a class" in refused(["audit", path, "--workers", "1", "--out", tmp_path / "out"], capsys)


def test_a_file_that_names_a_classifier_of_scikit_learn_is_run(tmp_path, capsys):
    path = tmp_path / "audit.toml"
    settings = {"data": "lending(n=200)", "game": "rotate(models=4)", "attack": ["threshold"]}
    tree = 'sklearn(estimator="sklearn.tree:DecisionTreeClassifier", params="max_depth=2")'
    path.write_text(config.written(settings | {"model": tree}))
    assert command("audit", path, "--workers", "1", "--out", tmp_path / "out", capsys=capsys)[0] == 0


def test_names_in_data_are_not_imported_for_a_key(pwn):
    """A column may be called anything; only a field that names code counts with the source of that code."""
    registry.source.cache_clear()
    column = registry.build("data", 'table("a.csv", target="pwn:X", quasi=["pwn:X"])')
    registry.key(column)
    registry.key(registry.build("model", 'sklearn(estimator="pwn:X")'))
    assert ran(pwn) == []


def test_a_stored_model_imports_nothing_but_its_trainer(pwn):
    from jali.core.encoding import Encoding
    from jali.models.fitted.restore import restore

    schema = registry.build("data", "lending(n=60)").load().schema
    arrays = {"architecture": np.array(["pwn:X"]), "state000": np.zeros((1, 2))}
    with pytest.raises(JaliError, match="'pwn'"):
        restore(arrays, Encoding(schema))
    assert ran(pwn) == []


# --- files that are written ----------------------------------------------------------------------------------------


def test_files_get_the_permissions_that_the_umask_leaves(tmp_path, capsys):
    umask = 0o027
    parallel.stop()  # workers keep the umask they were started with
    before = os.umask(umask)
    try:
        words = ["audit", "--data", "lending(n=200)", *QUICK, "--workers", "2", "--out", tmp_path / "out"]
        assert command(*words, capsys=capsys)[0] == 0
        secret = tmp_path / "answers.ledger"
        Ledger(secret, 1.0, 0.0, "replace-one").close()
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    kinds = {path.suffix or path.name for path in files}
    assert kinds == {".html", ".json", ".toml", ".npz", "began"}  # the last: when the run began, for `jali store`
    assert {path.stat().st_mode & 0o777 for path in files} == {0o666 & ~umask}
    assert secret.stat().st_mode & 0o777 == 0o600
