from jali.data import _files
from jali.data._catalogue import catalogue
from jali.data.german import German
from jali.data.heloc import Heloc


def listed():
    return {entry.name: entry for entry in catalogue()}


def test_embedded_present_and_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "german").mkdir()
    (tmp_path / German.files[0].path).write_text("")
    entries = listed()
    assert "table" not in entries
    assert entries["digits"].state == "embedded"
    assert (entries["german"].state, entries["german"].where) == ("present", str(tmp_path / "german"))
    assert (entries["adult"].state, entries["adult"].where) == ("missing", "")
    assert "jali data fetch adult" in entries["adult"].advice
    assert entries["heloc"].advice == _files.advice(Heloc.files[0])
    assert _files.present(German())
    assert not _files.present(Heloc())
