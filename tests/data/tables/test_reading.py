import hashlib

import pandas as pd
import pytest

from jali.data.tables import reading
from jali.data.tables.files import Remote


@pytest.fixture
def remote(tmp_path, monkeypatch):
    def write(text):
        monkeypatch.setenv("JALI_DATA", str(tmp_path))
        (tmp_path / "x.csv").write_text(text)
        return Remote("x.csv", hashlib.sha256(text.encode()).hexdigest())

    return write


def test_only_the_declared_sign_is_missing(remote):
    table = reading.read(remote("a,b\nNone, ?\nNA, 1\n"))
    assert table["a"].tolist() == ["None", "NA"]
    assert table["b"].isna().tolist() == [True, False]


def test_names_and_skipped_lines(remote):
    table = reading.read(remote("remark\n1 x\n2 y\n"), ("n", "t"), separator=" ", skip=1)
    assert table.to_dict("list") == {"n": [1, 2], "t": ["x", "y"]}


def test_recode_leaves_unknown_codes_missing():
    table = reading.recode(pd.DataFrame({"a": [1.0, 2.0, 9.0]}), {"a": {1: "one", 2: "two"}})
    assert table["a"].isna().tolist() == [False, False, True]


def test_missing_numbers_stay_missing():
    table = reading.name_missing(pd.DataFrame({"a": [1.0, None], "b": ["x", None]}))
    assert table["a"].isna().sum() == 1
    assert table["b"].tolist() == ["x", "missing"]
