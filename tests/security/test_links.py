"""Links, pipes and odd names where jali looks for files of its own: nothing outside is removed, and nothing waits."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from jali import parallel, stopping
from jali.api import forget
from jali.core.errors import JaliError
from jali.defend._keys import read_key
from jali.reproduce import files as reproductions
from jali.results.frontier import read as read_frontier
from jali.store import Store, sweep_killed

LONG_AGO = time.time() - 30 * 24 * 3600.0


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of somebody who received a run: nothing in it may go."""
    folder = tmp_path / "mine"
    (folder / "letters").mkdir(parents=True)
    (folder / "letters" / "a.txt").write_text("kept")
    np.savez(folder / "mine.npz", a=np.zeros(1))
    os.utime(folder / "letters", (LONG_AGO, LONG_AGO))
    return folder


def received(tmp_path: Path) -> Path:
    """The folder of a run, with a store."""
    run = tmp_path / "run"
    (run / "store").mkdir(parents=True)
    (run / "results.json").write_text(json.dumps({"schema_version": "jali.scan/1"}))
    return run


def kept(mine: Path) -> bool:
    return (mine / "letters" / "a.txt").read_text() == "kept" and (mine / "mine.npz").exists()


def test_a_store_whose_shared_folder_leads_elsewhere_removes_nothing_there(tmp_path, mine):
    run = received(tmp_path)
    (run / "store" / "shared").symlink_to(mine)
    Store(run / "store").begin()
    assert kept(mine)
    (run / "store" / "shared").unlink()
    (run / "store" / "shared").mkdir()
    (run / "store" / "shared" / "old").symlink_to(mine)
    Store(run / "store").begin()
    assert kept(mine)


def test_what_a_run_really_published_long_ago_is_removed(tmp_path):
    """The control: the same sweep does remove folders."""
    old = tmp_path / "shared" / "other-1-x"
    old.mkdir(parents=True)
    os.utime(old, (LONG_AGO, LONG_AGO))
    Store(tmp_path).begin()
    assert not old.exists()


def test_a_store_whose_folders_lead_elsewhere_has_no_entries_there(tmp_path, mine):
    run = received(tmp_path)
    (run / "store" / "mi").symlink_to(mine)
    (run / "store" / "ab").mkdir()
    (run / "store" / "ab" / "ab.npz").symlink_to(mine / "mine.npz")
    store = Store(run / "store")
    assert store.entries() == []
    store.save("ab" * 20, {"x": np.zeros(2)})
    assert [entry.path.name for entry in store.entries()] == [f"{'ab' * 20}.npz"]
    forget(run)
    assert kept(mine)
    assert store.entries() == []


def test_forgetting_a_run_beside_a_damaged_file_and_a_pipe(tmp_path):
    outer = tmp_path / "outer"
    received(outer)
    (outer / "results.json").write_text("[")
    (outer / "other").mkdir()
    os.mkfifo(outer / "other" / "results.json")
    (outer / "run" / "evidence.npz").write_bytes(b"x")
    assert [path.name for path in forget(outer)] == ["evidence.npz", "store"]


@pytest.mark.parametrize("read", [lambda p: read_key("key", p), read_frontier, reproductions.read])
def test_a_pipe_or_a_device_is_one_sentence(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(JaliError):
            read(path)


def test_an_entry_of_a_store_that_is_a_pipe_is_absent(tmp_path):
    store = Store(tmp_path)
    store.path("abcd").parent.mkdir()
    os.mkfifo(store.path("abcd"))
    assert store.load("abcd") is None


def test_what_others_put_into_the_temporary_folder_neither_stops_a_run_nor_is_removed(tmp_path, mine, monkeypatch):
    """Temporary folders are open to everybody: pipes, links and numbers that no process has."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(sys.modules["jali.parallel.sharing"], "MEMORY", temporary)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    os.mkfifo(temporary / "jali-1-pipe")
    os.mkfifo(temporary / "jali-999999999-pipe")
    (temporary / "jali-999999999-link").symlink_to(mine)
    for name in ("jali-" + "9" * 30 + "-x", "jali-\N{SUPERSCRIPT TWO}-x", "jali-0-x", "jali--x", "jali-999999998-x"):
        (temporary / name).mkdir()
    parallel.sweep_killed()
    assert kept(mine)
    assert not (temporary / "jali-999999998-x").exists()  # the control: it is what a killed run leaves
    assert len(list(temporary.iterdir())) == 7


def test_unfinished_files_with_odd_numbers_stop_nothing(tmp_path):
    mark = stopping.machine()
    odd = [f".a.{mark}-{run}.x.part" for run in ("9" * 30, "\N{SUPERSCRIPT TWO}", "", "-1")]
    for name in (*odd, f".a.{mark}-999999998.x.part"):
        (tmp_path / name).write_text("")
    sweep_killed(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(odd)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_folders_of_other_users_are_left_alone(tmp_path):
    other = tmp_path / "jali-999999998-x"
    other.mkdir()
    assert stopping.abandoned(other, 999999998)
    shutil.chown(other, 12345)
    assert not stopping.abandoned(other, 999999998)
