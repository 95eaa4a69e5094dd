from __future__ import annotations

import os
import time
import zipfile

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.store import DAY, Guarded, Store, atomic, read_arrays, remove, write_arrays


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


def filled(folder, **ages):
    """A store with entries by the beginning of their keys that were last used so many days ago."""
    store = Store(folder)
    for key, days in ages.items():
        store.save(long(key), {"x": np.arange(100)})
        os.utime(store.path(long(key)), times=(time.time() - days * DAY,) * 2)
    return store


def long(key):
    """A content key that begins like this."""
    return key.ljust(40, "0")


def keys(entries):
    return [entry.path.stem.rstrip("0") for entry in entries]


def test_entries_have_sizes_and_are_sorted_by_their_last_use(tmp_path):
    store = filled(tmp_path, ab1=2, ab2=9, cd1=5)
    (tmp_path / "note.txt").write_text("not of the store")
    assert keys(store.entries()) == ["ab2", "cd1", "ab1"]
    assert [e.bytes for e in store.entries()] == [store.path(long(k)).stat().st_size for k in ("ab2", "cd1", "ab1")]


def test_reading_an_entry_is_a_use_and_finding_none_is_not(tmp_path):
    store = filled(tmp_path, ab1=2, ab2=9)
    assert keys(store.older(1)) == ["ab2", "ab1"]
    assert store.load(long("ab2")) is not None
    assert store.load(long("ab3")) is None
    assert keys(store.older(1)) == ["ab1"]


def test_what_the_last_run_read_or_wrote_is_used(tmp_path):
    store = filled(tmp_path, ab1=2, ab2=9, cd1=5)
    assert store.unused() == []  # no run is known
    store.begin()
    assert keys(store.unused()) == ["ab2", "cd1", "ab1"]
    store.load(long("cd1"))
    store.save(long("ef1"), {"x": np.zeros(1)})
    assert keys(store.unused()) == ["ab2", "ab1"]


def test_removing_leaves_the_rest_and_no_empty_folder(tmp_path):
    store = filled(tmp_path, ab1=2, ab2=9, cd1=9)
    remove(store.older(7))
    assert keys(store.entries()) == ["ab1"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ab"]
    remove(store.older(7))


def test_files_of_a_users_own_in_a_store_are_no_entries(tmp_path):
    """They were removed with it where their names began like those of their folders."""
    store = filled(tmp_path, ab1=9)
    for name in ("data/data_2024.npz", "ab/abalone.npz", "ab/ab.npz", f"cd/{long('ab2')}.npz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.savez(tmp_path / name, x=np.zeros(1))
    assert keys(store.entries()) == ["ab1"]


def test_a_guarded_store_keeps_nothing_once_the_file_has_changed(tmp_path):
    file = tmp_path / "scores.npz"
    np.savez(file, x=np.zeros(3))
    store = Guarded.by(Store(tmp_path / "store"), [file])
    store.save(long("a"), {"x": np.zeros(1)})
    np.savez(file, x=np.zeros(4))
    store.save(long("b"), {"x": np.zeros(1)})
    assert keys(store.entries()) == ["a"]
    file.unlink()
    store.save(long("c"), {"x": np.zeros(1)})
    assert keys(store.entries()) == ["a"]


def test_what_a_killed_run_published_is_removed_a_week_later(tmp_path):
    store = Store(tmp_path)
    old, new = store.publish({"X": np.zeros(3)}), store.publish({"X": np.ones(3)})
    os.utime(tmp_path / old, times=(time.time() - 8 * DAY,) * 2)
    store.begin()
    assert not (tmp_path / old).exists()
    assert store.published(new, ["X"])["X"].tolist() == [1.0, 1.0, 1.0]


def test_large_arrays_of_random_digits_are_stored_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"random": rng.normal(size=1_300_000), "flags": rng.random(12_000_000) < 0.5, "few": rng.normal(size=10)}
    write_arrays(tmp_path / "a.npz", arrays)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        kinds = {member.filename: member.compress_type for member in archive.infolist()}
    stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
    assert kinds == {"random.npy": stored, "flags.npy": deflated, "few.npy": deflated}
    for name, array in read_arrays(tmp_path / "a.npz").items():
        np.testing.assert_array_equal(array, arrays[name])


def test_large_arrays_are_kept_as_small_ones_are(tmp_path):
    store = Store(tmp_path)
    rng = np.random.default_rng(0)
    arrays = {"random": rng.random(1_500_000), "few": np.zeros(3), "regular": np.arange(1_500_000) % 7}
    store.save("large", arrays)
    found = store.load("large")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
