import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.table import Table
from jali.data.tables import frames

TEXT = "age,job,rate,member,paid\n30,cook,0.5,True,yes\n41,clerk,1.25,False,no\n29,cook,3,True,yes\n"


@pytest.fixture
def write(tmp_path):
    def save(text, name="my.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return save


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my.csv", TEXT.encode()),
        ("my.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("my.tsv", TEXT.replace(",", "\t").encode()),
        ("bom.csv", b"\xef\xbb\xbf" + TEXT.encode()),
        ("crlf.csv", TEXT.replace("\n", "\r\n").encode()),
    ],
)
def test_text_files(write, name, content):
    data = Table(write(content, name), "paid", favourable="yes").load()
    assert data.X.tolist() == [[30, 1, 0.5, 1], [41, 0, 1.25, 0], [29, 1, 3, 1]]
    assert [c.name for c in data.schema.columns] == ["age", "job", "rate", "member"]
    assert [c.kind for c in data.schema.columns] == ["integer", "category", "number", "category"]
    assert (data.y.tolist(), data.schema.classes, data.schema.favourable) == ([1, 0, 1], ("no", "yes"), 1)


def test_frame_equals_what_pandas_reads(write):
    path = write(TEXT)
    data = Table(path, "paid").load()
    assert_frame_equal(frames.frame(data.X, data.schema), pd.read_csv(path).drop(columns="paid"))


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra jali-audit[parquet] is not installed")
    path = tmp_path / "my.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "y": [0, 1]}).to_parquet(path)
    data = Table(str(path), "y", favourable="1").load()
    assert data.X.tolist() == [[1, 0], [2, 1]]
    assert data.schema.favourable == 1


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(JaliError, match=r"pip install 'jali-audit\[parquet\]'"):
        Table(write(b"", "my.parquet"), "y").load()


def test_odd_names_and_values_stay_verbatim(write):
    odd = ["<script>alert(1)</script>", 'quo"te', "line\nbreak", "naïve ☃", "=1+1"]
    cells = ['"' + value.replace('"', '""') + '"' for value in odd]
    path = write(
        ",".join([*cells, "y"]) + "\n" + "".join(",".join([c] * 5) + f",{i % 2}\n" for i, c in enumerate(cells))
    )
    data = Table(path, "y").load()
    assert [c.name for c in data.schema.columns] == odd
    assert set(data.schema.columns[0].categories) == set(odd)
    assert frames.frame(data.X, data.schema).iloc[:, 0].tolist() == odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Cannot read .*No columns to parse"),
        ("a,y\n", "needs rows"),
        ("a,b,y\n1,2,0\n3,,1\n", "Column 'b' holds 1 missing or infinite"),
        ("a,b,y\n1,2,0\n3,inf,1\n", "Column 'b' holds 1 missing or infinite"),
        (",b,y\n1,2,0\n3,4,1\n", "Column 1 has no name"),
        ("a,a,y\n1,2,0\n3,4,1\n", "'a' occurs more than once"),
        ("a,b,y\n1,2,0\n3,4,0\n", "one class only, '0'"),
        ("a,y\n1,2,0\n3,4,1\n", r"more fields than its header has names \(2\)"),
        ("a,b,y\n1,2,0\n3,4,1,5\n", "Cannot read .*Expected 3 fields"),
        ("age,paid\n1,0\n2,1\n", "has no column 'y'; it has 'age', 'paid'"),
        ("age,yy\n1,0\n2,1\n", "did you mean 'yy'"),
        ("age;y\n1;0\n2;1\n", "only column is 'age;y': are the values separated by something else"),
        (b"a,y\n\xff\xfe,0\n1,1\n", "not text in UTF-8"),
    ],
)
def test_files_that_cannot_be_used(write, text, message):
    with pytest.raises(JaliError, match=message) as caught:
        Table(write(text), "y").load()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.csv.gz", b"not packed", "Cannot read"),
        ("my.csv.gz", gzip.compress(TEXT.encode(), mtime=0)[:-10], "Cannot read"),
        ("my.pkl", b"cos\nsystem\n(S'true'\ntR.", r"jali reads \.csv and \.tsv"),
        ("my", b"a,y\n", r"jali reads \.csv and \.tsv"),
    ],
)
def test_other_contents_and_formats(write, name, content, message):
    with pytest.raises(JaliError, match=message):
        Table(write(content, name), "y").load()


def test_a_parquet_file_that_is_none(write):
    pytest.importorskip("pyarrow", reason="the extra jali-audit[parquet] is not installed")
    with pytest.raises(JaliError, match="Cannot read"):
        Table(write(b"not parquet", "my.parquet"), "y").load()


@pytest.mark.parametrize("path", ["nowhere.csv", "https://host/x.csv", "file:///etc/passwd", "."])
def test_only_files_on_this_machine(path):
    with pytest.raises(JaliError, match="There is no file"):
        Table(path, "y").load()


def test_many_columns_are_not_all_listed(write):
    names = [f"c{i}" for i in range(30)]
    path = write(",".join(names) + "\n" + ",".join(["1"] * 30) + "\n")
    with pytest.raises(JaliError, match="'c9' and more"):
        Table(path, "zzz").load()


def test_from_a_specification(write):
    path = write(TEXT)
    source = registry.build("data", f'table(path="{path}", target="paid")')
    assert source == Table(path, "paid")
    assert np.bincount(source.load().y).tolist() == [1, 2]


def test_columns_that_find_people_and_rows_of_one_person(write):
    text = "who,age,job,paid\na,30,cook,yes\nb,41,clerk,no\na,29,cook,yes\n"
    options = 'quasi=["age", "job"], groups="who", sensitive="job"'
    part = registry.build("data", f'table("{write(text)}", "paid", {options})')
    data = part.load()
    assert [(c.name, c.role) for c in data.schema.columns] == [("age", "quasi"), ("job", "quasi")]
    assert data.groups.tolist() == [0, 1, 0]
    assert data.schema.sensitive == "job"
    assert registry.build("data", registry.spec(part)) == part


def test_quasi_is_a_list(write):
    with pytest.raises(JaliError, match=r"quasi must be a list of columns, such as \['age'\]"):
        Table(write(TEXT), "paid", quasi="age")
