"""Everything that could be picked up in one folder: nothing is. Kind by kind: `python -m tests.security.folders`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.security import folders, planted

TOGETHER = [kind for kind in planted.KINDS if kind not in (planted.links, planted.foreign_stores)]
IMPORTED = {
    planted.modules: "import numexpr",
    planted.packages: "import numexpr.core",
    planted.namespaces: "import numexpr.plugins",
    planted.standard_library: "import queue",
    planted.startup: "import usercustomize",
    planted.path_files: "import site; site.addsitedir('.')",
    planted.plugins: "import importlib.metadata as m; [p.load() for p in m.entry_points(name='planted')]",
    planted.builders: "import conftest",
    planted.projects: "import tomllib; tomllib.load(open('jali.toml', 'rb'))",
    planted.environments: "open('.env').read()",
    planted.drawing: "import matplotlib.pyplot as p; p.figure()",
    planted.installers: "open('pip.conf').read()",
    planted.libraries: "open('.config/fsspec/conf.json').read()",
    planted.compiled: "import numexpr",
    planted.extensions: "import numexpr",
    planted.system: "import ctypes; ctypes.CDLL('./libz.so.1')",
    planted.links: "import numexpr",
    planted.our_name: "import threshold",
    planted.archives: "import sys; sys.path.insert(0, 'jali.zip'); import numexpr",
    planted.configurations: "import planted",
    planted.foreign_stores: "open('store.key').read()",
    planted.pickles: "open('model.pkl', 'rb').read()",
}


def test_nothing_in_a_folder_with_everything_in_it_runs_or_is_opened(tmp_path):
    def everything(folder):
        for kind in TOGETHER:
            kind(folder)

    some = [words for words in folders.commands() if words[0][0] in ("audit", "schema", "report", "list", "forget")]
    some = [(words, code) for words, code in some if "three" not in words]
    assert folders.tried(everything, tmp_path, some) == []


@pytest.mark.parametrize("kind", planted.KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_of_folder_is_seen_where_it_has_an_effect(kind, tmp_path):
    """The control: somebody puts the folder on the path and uses what is in it."""
    folder = folders.received(kind, tmp_path)
    seen = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    words = [sys.executable, "-c", IMPORTED[kind]]
    surroundings = folders.surroundings(tmp_path, folder)
    if kind is planted.startup:  # Python itself looks for these before anything else does
        surroundings = surroundings | {"PYTHONPATH": str(folder)}
    subprocess.run(words, cwd=folder, env=surroundings, capture_output=True, check=False)
    assert folders.meddled(tmp_path, seen)


def test_there_are_twenty_kinds_and_a_control_for_each():
    assert len(planted.KINDS) >= 20
    assert set(IMPORTED) == set(planted.KINDS)
    assert {"numexpr", "bottleneck", "pyarrow", "lz4", "fsspec", "numba"} <= set(planted.optional())
