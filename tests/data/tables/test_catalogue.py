from jali.data.german import German
from jali.data.heloc import Heloc
from jali.data.tables import files
from jali.data.tables.catalogue import catalogue


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
    assert (entries["adult"].state, entries["adult"].where) == ("embedded", str(files.EMBEDDED / "adult"))
    assert (entries["cmc"].state, entries["cmc"].where) == ("missing", "")
    assert "jali data fetch cmc" in entries["cmc"].advice
    assert entries["heloc"].advice == files.advice(Heloc.files[0])
    assert files.present(German())
    assert not files.present(Heloc())
