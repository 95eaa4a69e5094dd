"""Names, terminals and small files that nobody expects: no command ends in an error of Python's."""

from __future__ import annotations

import io
import json
import os
import sys

import numpy as np
import pytest

from jali import config, terminal
from jali.api import scan
from jali.core.errors import JaliError
from jali.data.tables import frame_files
from jali.report.words import as_json
from jali.results.scan import Place, Scan
from tests.commands import jali
from tests.security.people import ROWS

NO_UTF8 = os.fsdecode(b"x\xff\xfe")


def test_a_name_that_is_no_utf8_is_written_with_replacement_characters(tmp_path):
    (tmp_path / "files").mkdir()
    ROWS.to_csv(tmp_path / "files" / "a.csv", index=False)
    os.rename(tmp_path / "files" / "a.csv", os.fsencode(tmp_path / "files") + b"/x\xff.csv")
    scan(tmp_path / "files", ROWS).save(tmp_path / "out")
    found = Scan.model_validate_json((tmp_path / "out" / "results.json").read_bytes())
    assert found.leaks[0].where == "x\N{REPLACEMENT CHARACTER}.csv"
    plain = Place(where="a.csv", of=1, rows=1, people=1, chance=0.0, columns=1, form="raw", leak=True)
    assert json.loads(as_json(plain))["where"] == "a.csv"


@pytest.mark.parametrize("settings", [{"data": f"{NO_UTF8}.csv"}, {"data": "a.csv", "quasi": ["age", NO_UTF8]}])
def test_a_setting_that_is_no_utf8_is_one_sentence(settings):
    with pytest.raises(JaliError, match="no text in UTF-8"):
        config.checked(settings)


def test_a_terminal_without_unicode_shows_question_marks(monkeypatch, tmp_path):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    terminal.forgive()
    terminal.console().print("a \N{EN DASH} \N{REPLACEMENT CHARACTER}")
    assert written.getvalue() == b"a ? ?\n"


def test_a_closed_terminal_is_no_error(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    terminal.forgive()
    terminal.console().print("nobody reads this")


def test_a_setting_that_is_not_known_is_not_called_invalid_toml(tmp_path, capsys):
    (tmp_path / "audit.toml").write_text('data = "lending"\nzzz = 1\nyyy = 1\n')
    _, _, errors = jali("audit", tmp_path / "audit.toml", capsys=capsys)
    assert "audit.toml: There is no setting 'zzz'" in errors
    assert "valid TOML" not in errors


def parquet(path, columns):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), path)
    return path


@pytest.mark.parametrize("columns", [{"t": ["x" * 10_000] * 2000}, {"l": [[0] * 10_000] * 300}], ids=["texts", "lists"])
def test_a_small_parquet_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch, columns):
    monkeypatch.setattr(frame_files, "SMALL", 1e7)
    path = parquet(tmp_path / "bomb.parquet", columns)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("pandas.read_parquet", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(JaliError, match="would take"):
        frame_files.read(path)


def test_texts_that_repeat_are_read_where_they_are_not_too_many(tmp_path):
    path = parquet(tmp_path / "a.parquet", {"job": ["cook", None, "smith"] * 300, "y": np.arange(900)})
    assert frame_files.read(path)["job"].value_counts().to_dict() == {"cook": 300, "smith": 300}
    path = parquet(tmp_path / "b.parquet", {"job": [["cook"], ["smith"]]})
    with pytest.raises(JaliError, match="lists of texts"):
        frame_files.read(path)
