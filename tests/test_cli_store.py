"""`jali store`: what is kept, how large it is, and what is removed on request."""

from __future__ import annotations

import os
import time

import numpy as np

from jali.store import DAY, Store
from tests.test_cli import QUICK, jali, repeatable


def aged(store, days):
    for entry in store.entries():
        os.utime(entry.path, times=(time.time() - days * DAY,) * 2)


def test_what_a_run_stored_is_shown_pruned_and_made_again(tmp_path, capsys):
    words = ["audit", "--data", "breast_cancer", *QUICK, "--explain", "none", "--out", tmp_path]
    assert jali(*words, capsys=capsys)[0] == 0
    first = repeatable(tmp_path)
    store = Store(tmp_path / "store")
    count = len(store.entries())
    code, out, _ = jali("store", tmp_path, capsys=capsys)
    assert code == 0
    assert f"{count} entries (" in out
    assert out.endswith("the last run did not use 0 entries (0.0 MB).\n")
    assert "Removed" not in out

    aged(store, 3)
    store.save("f" * 40, {"x": np.zeros(3)})
    assert jali(*words, "--seed", "7", capsys=capsys)[0] == 0  # another run beside it in the same store
    code, out, _ = jali("store", tmp_path, "--unused", capsys=capsys)
    assert f"Removed: {count + 1} entries" in out
    assert len(store.entries()) == count
    assert jali(*words, capsys=capsys)[0] == 0
    assert repeatable(tmp_path) == first


def test_entries_older_than_a_limit_are_removed(tmp_path, capsys):
    store = Store(tmp_path / "store")
    store.save("a" * 40, {"x": np.zeros(3)})
    aged(store, 40)
    store.save("b" * 40, {"x": np.zeros(3)})
    assert "Removed: 0 entries" in jali("store", tmp_path, "--older", "41", capsys=capsys)[1]
    assert "Removed: 1 entry (0.0 MB). Left: 1 entry" in jali("store", tmp_path, "--older", "30", capsys=capsys)[1]
    assert [entry.path.stem for entry in store.entries()] == ["b" * 40]


def test_mistakes_are_one_sentence(tmp_path, capsys):
    code, _, err = jali("store", tmp_path / "nowhere", capsys=capsys)
    assert code == 2
    assert "There is no store in" in err
    Store(tmp_path / "store").save("a" * 40, {"x": np.zeros(3)})
    code, _, err = jali("store", tmp_path, "--older", "-1", capsys=capsys)
    assert code == 2
    assert "0 or more" in err
