"""Engines, shards and stores from the command line."""

from __future__ import annotations

import importlib.util

import pytest

from tests.commands import PAPER, jali

SMALL = ["--data", "lending(n=160)", "--game", "rotate(models=4)", "--explain", "none", "--workers", "1"]

HAS_FSSPEC = importlib.util.find_spec("fsspec") is not None
NO_PLACE = "fsspec cannot open nosuch://" if HAS_FSSPEC else "A store at a URL needs another library"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["audit", "--engine", "spark"], "There is no engine 'spark'"),
        (["audit", "--shard", "9/7"], "from 1/7 to 7/7"),
        (["reproduce", "pawelczyk2022", "--engine", "nope"], "There is no engine 'nope'"),
        (["audit", *SMALL, "--store", "nosuch://x"], NO_PLACE),
    ],
)
def test_a_mistake_is_one_sentence(words, sentence, tmp_path, capsys):
    code, _, errors = jali(*words, "--out", tmp_path / "out", capsys=capsys)
    assert code == 2
    assert sentence in " ".join(errors.split())
    assert errors.count("Error") == 1


def test_shards_and_their_merge(tmp_path, capsys):
    out = tmp_path / "out"
    assert jali("merge", out, capsys=capsys)[0] == 2
    code, said, _ = jali("audit", *SMALL, "--shard", "1/2", "--out", out, capsys=capsys)
    assert (code, said.split(".")[0]) == (0, "Shard 1 of 2: 2 models, 2 of them new")
    code, _, errors = jali("merge", out, "--workers", "1", capsys=capsys)
    assert code == 2
    assert "2 models are not in the store, the first of them model 1" in " ".join(errors.split())
    assert jali("audit", *SMALL, "--shard", "2/2", "--out", out, capsys=capsys)[0] == 0
    code, said, _ = jali("merge", out, "--workers", "1", capsys=capsys)
    assert code == 0
    assert "Report:" in said
    assert (out / "report.html").exists()


def test_a_paper_has_an_engine_and_a_store(tmp_path, capsys):
    paper = tmp_path / "small.toml"
    paper.write_text(PAPER)
    words = ["reproduce", paper, "--store", tmp_path / "elsewhere", "--workers", "1", "--out", tmp_path / "out"]
    code, _, errors = jali(*words, capsys=capsys)
    assert (code, errors) == (0, "")
    assert list((tmp_path / "elsewhere").glob("??/*.npz"))
