from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.store import Store, read_arrays, sweep_killed, together, user_secret, write_text
from jali.store.secret import VARIABLE
from jali.terminal import locked


def test_a_store_from_elsewhere_is_not_used(tmp_path):
    Store(tmp_path, b"theirs").save("abc", {"x": np.arange(3)})
    assert Store(tmp_path, b"mine").load("abc") is None
    assert Store(tmp_path, b"theirs").load("abc")["x"].tolist() == [0, 1, 2]


def test_entries_cannot_change_places(tmp_path):
    store = Store(tmp_path, b"mine")
    store.save("abc", {"x": np.arange(3)})
    store.save("abd", {"x": np.arange(4)})
    store.path("abd").write_bytes(store.path("abc").read_bytes())
    assert store.load("abd") is None


def test_the_secret_is_made_once_and_only_its_user_reads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    first = user_secret()
    assert user_secret() == first
    assert len(first) == 32
    (file,) = (tmp_path / "jali").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv(VARIABLE, "for the cluster")
    assert user_secret() != first


def test_arrays_above_the_limit_are_refused_by_their_headers(tmp_path):
    path = tmp_path / "large.npz"
    np.savez_compressed(path, x=np.zeros(1_000_000))  # packed as well as others may pack it
    assert path.stat().st_size < 20_000
    with pytest.raises(JaliError, match=r"take 0\.008 GB, and the limit is 0\.001 GB; raise it with --max-gb"):
        read_arrays(path, most=1e6)


def test_a_set_of_files_is_replaced_whole_or_not_at_all(tmp_path):
    names = ("a.txt", "b.txt", "c.txt")
    for name in names:
        (tmp_path / name).write_text("old")
    with pytest.raises(ZeroDivisionError):
        _written(tmp_path, names[:1], fail=True)
    (tmp_path / "b.txt").unlink()
    (tmp_path / "b.txt").mkdir()  # a folder in the way
    with pytest.raises(JaliError, match="in the way"):
        _written(tmp_path, names)
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "c.txt").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == list(names)
    (tmp_path / "b.txt").rmdir()
    _written(tmp_path, names)
    assert {(tmp_path / name).read_text() for name in names} == {"new"}


def _written(folder, names, fail=False):
    with together():
        for name in names:
            write_text(folder / name, "new")
        assert 1 / (not fail)


def test_a_full_disk_is_one_sentence_and_changes_nothing(tmp_path):
    """A limit on the size of files stands for a full disk: both make a write fail half way."""
    (tmp_path / "a.txt").write_text("old")
    code = f"""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from pathlib import Path
from jali.core.errors import JaliError
from jali.store import together, write_text
try:
    with together():
        write_text(Path({str(tmp_path)!r}) / "a.txt", "new")
        write_text(Path({str(tmp_path)!r}) / "b.txt", "x" * 5000)
except JaliError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("Cannot write")
    assert os.strerror(errno.EFBIG) in said
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_a_killed_run_left_goes_with_the_next_start(tmp_path):
    code = f"""
import os, signal
from pathlib import Path
from jali.store import atomic
with atomic(Path({str(tmp_path)!r}) / "a.npz") as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    mine = left.replace(left.split("-")[-1].partition(".")[0], str(os.getpid()))
    (tmp_path / mine).write_text("of a run that is alive")
    sweep_killed(tmp_path)
    assert os.listdir(tmp_path) == [mine]


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    with locked(tmp_path), pytest.raises(JaliError, match="Another run writes to"), locked(tmp_path):
        pass
    with locked(tmp_path, shared=True), locked(tmp_path, shared=True):
        pass
    assert not os.listdir(tmp_path)


def test_sets_of_files_in_each_other_are_one_set(tmp_path):
    def written():
        with together():
            with together():
                write_text(tmp_path / "first", "new")
            write_text(tmp_path / "second", "new")

    (tmp_path / "second").mkdir()
    with pytest.raises(JaliError, match="in the way"):
        written()
    assert [path.name for path in tmp_path.iterdir()] == ["second"]
