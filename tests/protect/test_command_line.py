"""`jali explain` and `jali budget` as a person meets them."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from jali.protect.budget import Budget
from tests.protect.people import applicants
from tests.test_cli import jali

COMMON = [
    "--target",
    "granted",
    "--favourable",
    "yes",
    "--immutable",
    "age",
    "--immutable",
    "sex",
    "--method",
    "k_groups(k=8)",
]


@pytest.fixture
def table(tmp_path):
    X, y = applicants(300, 0)
    X.insert(0, "person", [f"p{i}" for i in range(300)])
    X.assign(granted=y).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_one_applicant_and_a_file(table, tmp_path, capsys):
    words = ["explain", table, *COMMON, "--groups", "person"]
    code, out, err = jali(*words, "--row", "0", capsys=capsys)
    assert code == 0, err
    assert out.count("\n") == 2
    assert "Guarantee: Every value shown is your own or that of a group of at least 8 training people" in out
    code, same, _ = jali(*words, "--where", "person=p0", capsys=capsys)
    assert same == out
    code, out, _ = jali(*words, "--out", tmp_path / "answers.csv", "--grid", "income=5", capsys=capsys)
    assert code == 0
    assert "… and 280 more" in out
    assert len(pd.read_csv(tmp_path / "answers.csv")) == 300
    code, _, _ = jali(*words, "--people", table, "--row", "3", "--out", tmp_path / "a.json", capsys=capsys)
    assert len(json.loads((tmp_path / "a.json").read_text())["answers"]) == 1


def test_a_model_of_ones_own_by_import_path(table, tmp_path, capsys, monkeypatch):
    (tmp_path / "own_models.py").write_text(
        "from tests.protect.people import trained\n\n\ndef model():\n    return trained()[2]\n"
    )
    monkeypatch.chdir(tmp_path)
    code, out, err = jali(
        "explain", table, *COMMON, "--groups", "person", "--model", "own_models:model", "--row", "1", capsys=capsys
    )
    assert code == 0, err
    assert "Guarantee" in out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--row", "300"], "There is no row 300"),
        (["--where", "person"], "column=value"),
        (["--where", "person=nobody"], "No row has this value"),
        (["--row", "1", "--where", "person=p1"], "not both"),
        (["--out", "answers.txt"], ".csv or .json"),
        (["--grid", "income"], "column=width"),
        (["--model", "nowhere_at_all:x"], "Cannot import"),
        (["--budget", "no.ledger"], "--epsilon"),
    ],
)
def test_a_mistake_is_one_sentence(table, words, what, capsys):
    code, _out, err = jali("explain", table, *COMMON, "--groups", "person", *words, capsys=capsys)
    assert code == 2
    assert what in err
    assert "Traceback" not in err


def test_a_budget_is_shown_in_answers(tmp_path, capsys):
    path = tmp_path / "answers.ledger"
    assert Budget(2.0, path).answers_left(0.5) == 4
    code, out, _ = jali("budget", path, "--price", "0.5", capsys=capsys)
    assert code == 0
    assert "4 answers at epsilon = 0.5 each are left of a budget of 2" in out
    code, _, err = jali("budget", tmp_path / "none.ledger", capsys=capsys)
    assert code == 2
    assert "cannot be used as a ledger" in err
