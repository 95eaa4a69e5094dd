"""Large arrays are mapped: same values and refusals as when they are loaded, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.store import files, map_arrays, mapped, read_arrays, release, scratch


@pytest.fixture
def everything_mapped(tmp_path, monkeypatch):
    """Arrays of any size are mapped; temporary files go to this folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(mapped, "SMALL", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def arrays():
    rng = np.random.default_rng(0)
    return {
        "f4": rng.normal(size=(50, 7)).astype(np.float32),
        "f8": rng.normal(size=(3, 20, 7)),
        "by_column": np.asfortranarray(rng.normal(size=(20, 7))),
        "bools": rng.random((50, 7)) < 0.5,
        "text": np.array(["loss", "confidence"]),
        "one": np.array(True),
    }


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_mapped_arrays_are_those_that_are_loaded(tmp_path, everything_mapped, write):
    write(tmp_path / "a.npz", **arrays())
    loaded = read_arrays(tmp_path / "a.npz")
    found = map_arrays(tmp_path / "a.npz")
    assert list(found) == list(loaded)
    for name, array in loaded.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        assert isinstance(found[name], np.memmap)
        assert not found[name].flags.writeable
    assert os.listdir(everything_mapped) == []


def test_a_stored_array_is_mapped_where_it_lies(tmp_path, everything_mapped):
    np.savez(tmp_path / "a.npz", x=np.arange(5.0))
    found = map_arrays(tmp_path / "a.npz")["x"]
    assert isinstance(found, np.memmap)
    with (tmp_path / "a.npz").open("r+b") as file:
        file.seek(found.offset)
        file.write(np.array([7.0]).tobytes())
    assert found[0] == 7.0


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_a_damaged_archive_is_refused(tmp_path, everything_mapped, write):
    path = tmp_path / "a.npz"
    write(path, x=np.arange(1000.0))
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)
    with pytest.raises(JaliError, match="is not a readable npz file"):
        map_arrays(path)
    assert os.listdir(everything_mapped) == []


def test_headers_are_checked_before_anything_is_unpacked(tmp_path, everything_mapped, monkeypatch):
    def never(size):
        raise AssertionError(size)

    monkeypatch.setattr(mapped, "_temporary", never)
    np.savez_compressed(tmp_path / "large.npz", x=np.zeros(10_000))
    with pytest.raises(JaliError, match="too large"):
        map_arrays(tmp_path / "large.npz", most=1000)
    np.savez_compressed(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    with pytest.raises(JaliError, match="not plain numbers or text"):
        map_arrays(tmp_path / "objects.npz")


def test_no_room_is_said_in_one_sentence(tmp_path, everything_mapped, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1000))
    with pytest.raises(JaliError, match=r"^Cannot unpack .* No space left on device; free some space there"):
        map_arrays(tmp_path / "a.npz")
    assert os.listdir(everything_mapped) == []


def test_scratch_is_zero_and_private(everything_mapped):
    found = scratch((2, 3), np.float64)
    assert isinstance(found, np.memmap)
    assert found.tolist() == [[0.0] * 3] * 2
    found[1] = 5.0
    assert found.sum() == 15.0
    assert os.listdir(everything_mapped) == []


def test_what_is_given_back_is_read_again(tmp_path, everything_mapped):
    found = scratch((1000, 10), np.float64)
    found[:] = np.arange(10)
    release(np.asarray(found)[5:, 3:])
    assert (found == np.arange(10)).all()
    release(np.arange(3))
    np.save(tmp_path / "x.npy", np.zeros(10_000))
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[:] = 7.0
    release(private)
    assert (private == 7.0).all()


HOLDS = """
import sys, time, numpy as np
from pathlib import Path
from jali.store import mapped
mapped.SMALL = 0
found = mapped.map_arrays(Path(sys.argv[1]))["x"], mapped.scratch((1000, 10), float)
print(found[0].sum(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_nothing_is_left_of_a_process_that_is_ended(tmp_path, number):
    folder = tmp_path / "temporary"
    folder.mkdir()
    np.savez_compressed(tmp_path / "a.npz", x=np.ones(1000))
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "a.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(folder)}) as process:
        assert process.stdout.readline() == b"1000.0\n"
        process.send_signal(getattr(signal, number))
        assert process.wait() == -getattr(signal, number)
    assert os.listdir(folder) == []


def test_loading_and_mapping_share_their_checks():
    assert mapped.read_arrays is files.read_arrays
