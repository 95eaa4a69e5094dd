from __future__ import annotations

import os

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.store import Store, atomic, read_arrays, write_arrays


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    write_arrays(path, {"x": np.arange(3)})
    with pytest.raises(RuntimeError):
        _cut_short(path)
    assert read_arrays(path)["x"].tolist() == [0, 1, 2]
    assert os.listdir(tmp_path) == ["a.npz"]


def _cut_short(path):
    with atomic(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_a_damaged_artefact_counts_as_absent(tmp_path):
    store = Store(tmp_path)
    store.save("abc", {"x": np.arange(1000)})
    whole = store.path("abc").read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"not a zip"):
        store.path("abc").write_bytes(damaged)
        assert store.load("abc") is None


def test_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, member=np.array([{"a": 1}], dtype=object))
    with pytest.raises(JaliError, match="plain arrays"):
        read_arrays(path)


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(JaliError, match="Cannot write"):
        write_arrays(tmp_path / "taken" / "a.npz", {"x": np.zeros(1)})
