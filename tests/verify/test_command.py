"""The command `jali verify`: its exit codes, and the page and results that it writes."""

from __future__ import annotations

import json

import numpy as np

from jali.core.values import Column, Dataset, Schema
from jali.privacy.mechanisms import released
from jali.results.verification import Scoreboard, Verification
from tests.commands import jali

VALUE = "Zaphod7Sentinel"
SCHEMA = Schema((Column("x", low=0, high=1),))
ROWS = np.linspace(0, 1, 20)[:, None]
ME = __name__


def two_pairs():
    """The first record moves, near or far."""
    first = Dataset(ROWS, np.arange(20) % 2, SCHEMA)
    return [(first, Dataset(np.vstack([[[end]], ROWS[1:]]), first.y, SCHEMA), np.array([0.5])) for end in (1.0, 0.7)]


def no_noise(data, query, rng):
    """The mean as it is."""
    return data.X.mean() + 0.0 * rng.normal()


def noise(data, query, rng):
    """The mean with noise for epsilon = 1."""
    return released("mean", lambda: data.X.mean() + rng.laplace(scale=0.05), scale=0.05, sensitivity=0.05)


def fails_at_one_query(data, query, rng):
    """A release that quotes a value of a person where it fails."""
    if query[0] == 0.25:
        raise ValueError(f"no number: {VALUE}")
    return noise(data, query, rng)


def pairs_of_which_one_fails():
    """One pair of which every call fails, and one that works."""
    good, other = two_pairs()
    return [good, (*other[:2], np.array([0.25]))]


def run(capsys, name, *more, pairs="two_pairs"):
    words = ["verify", f"{ME}:{name}", "--epsilon", "1", "--draws", "200", "--pairs", f"{ME}:{pairs}"]
    return jali(*words, *more, capsys=capsys)


def test_report_and_results_are_written_and_the_verdict_stays_the_last_line(tmp_path, capsys):
    code, said, errors = run(capsys, "no_noise", "--out", tmp_path / "v")
    assert (code, errors) == (1, "")
    assert said.splitlines()[0] == f"Report: {tmp_path / 'v' / 'report.html'}"
    assert said.splitlines()[-1].startswith("REFUTED (")
    assert sorted(path.name for path in (tmp_path / "v").iterdir()) == ["report.html", "results.json"]
    found = Verification.read((tmp_path / "v" / "results.json").read_text())
    assert found.verdict == "REFUTED"
    assert "REFUTED: " in (tmp_path / "v" / "report.html").read_text()


def test_another_verdict_another_code_and_no_file_unless_asked(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, _ = run(capsys, "noise")
    assert code == 0
    assert said.splitlines()[-1].startswith("NOT REFUTED (")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_leaves_the_earlier_files(tmp_path, capsys):
    run(capsys, "noise", "--out", tmp_path)
    (tmp_path / "report.html").unlink()
    (tmp_path / "report.html").mkdir()
    before = (tmp_path / "results.json").read_bytes()
    code, _, errors = run(capsys, "no_noise", "--out", tmp_path)
    assert code == 2
    assert "in the way" in errors
    assert (tmp_path / "results.json").read_bytes() == before


def test_what_an_exception_quotes_stays_out_of_the_results(tmp_path, capsys):
    code, said, errors = run(capsys, "fails_at_one_query", "--out", tmp_path, pairs="pairs_of_which_one_fails")
    assert (code, errors) == (0, "")
    results = (tmp_path / "results.json").read_text()
    assert "it raised ValueError" in results
    assert VALUE not in said + results + (tmp_path / "report.html").read_text()


def refutes(exhibit, draws, seed):
    """A verifier that refutes everything."""
    return True


def test_the_zoo_has_a_page_too(tmp_path, capsys):
    words = ["verify", "--zoo", "--only", "low bits", "--verifier", f"{ME}:refutes", "--draws", "200"]
    code, _, errors = jali(*words, "--out", tmp_path, capsys=capsys)
    assert (code, errors) == (0, "")
    board = Scoreboard.model_validate(json.loads((tmp_path / "results.json").read_text()))
    page = (tmp_path / "report.html").read_text()
    assert all(each.refuted == 1 for each in board.sightings)
    assert all(each.name in page for each in board.sightings)
