"""Commands that read files alone: what they print, and the sentence where something is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.test_cli import jali


@pytest.fixture
def files(tmp_path, rng):
    """Candidates of whom the first half were trained on, a release of 60 of these, and a reference."""
    numbers = rng.integers(0, 1000, (1000, 4))
    people = pd.DataFrame(numbers, columns=list("abcd"))
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("cfs", "people", "population")}
    people.iloc[:60].to_csv(paths["cfs"], index=False)
    people.iloc[:700].assign(member=np.arange(700) < 350).to_csv(paths["people"], index=False)
    people.iloc[700:].to_csv(paths["population"], index=False)
    return paths | {"out": str(tmp_path / "out")}


def test_a_release_is_attacked_from_files_alone(files, tmp_path, capsys):
    words = ["--released", files["cfs"], "--candidates", files["people"], "--reference", files["population"]]
    code, out, _ = jali("attack", *words, "--member", "member", "--out", files["out"], capsys=capsys)
    assert code == 0
    assert "The exact row of 60 of the 350 members is in the release" in out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["ranking.csv", "report.html", "results.json"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Name what to attack: jali attack evidence.npz, jali attack dump.csv --member member"),
        (["--released", "cfs.csv"], "--released needs --candidates too: jali attack --released cfs.csv"),
        (["--released", "a.csv", "--candidates", "b.csv", "--reference", "c.csv"], "There is no file "),
        (["evidence.npz", "--released", "a.csv"], "Give either a file of evidence or --released, not both"),
    ],
)
def test_what_is_missing_is_one_sentence_with_a_command_that_works(words, sentence, capsys):
    code, _, err = jali("attack", *words, capsys=capsys)
    assert code == 2
    assert err.startswith("Error: ")
    assert sentence in " ".join(err.split())


def test_scan_and_exposure_and_linkage_from_files(files, tmp_path, capsys):
    code, out, _ = jali("scan", files["cfs"], "--train", files["people"], "--out", files["out"], capsys=capsys)
    assert code == 0
    assert "60 of 700 training rows were found in cfs.csv." in out
    words = ["--released", files["cfs"], "--register", files["people"], "--quasi", "a", "--out", files["out"]]
    code, out, _ = jali("attack", *words, capsys=capsys)
    assert code == 0
    assert "60 of 60 released rows are the exact rows of real people, 60 of the 700 in the table" in out
    words = ["--log", files["cfs"], "--train", files["people"], "--quasi", "a", "--quasi", "b", "--person", "3"]
    code, out, _ = jali("exposure", *words, "--out", files["out"], capsys=capsys)
    assert code == 0
    assert "1 answer to 1 recipient shows this person's row, and 1 recipient can single the person out" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["scan", "model.pkl"], "Say which rows to look for: jali scan model.pkl --train train.csv."),
        (["exposure"], "--log is missing: jali exposure --log answers.parquet --train train.csv --quasi age"),
        (["exposure", "--log", "a.csv", "--train", "b.csv"], "--quasi is missing: "),
    ],
)
def test_other_commands_say_what_is_missing(words, sentence, capsys):
    code, _, err = jali(*words, capsys=capsys)
    assert code == 2
    assert sentence in " ".join(err.split())
