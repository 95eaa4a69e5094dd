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
        ("a,b,y\n1,2,0\n3,inf,1\n", "Column 'b' holds 1 missing or infinite"),
        (",b,y\n1,2,0\n3,4,1\n", "Column 1 has no name"),
        ("a,a,y\n1,2,0\n3,4,1\n", "'a' occurs more than once"),
        ("a,b,y\n1,2,0\n3,4,0\n", "one class only"),
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


ODD = """id,name,age,pay,opened,vip,code,paid
901,a1,30,10.5,2020-01-02,True,1000,yes
902,a2,41,,2021-03-04,False,1001,no
903,a3,29,12.0,,True,1000,yes
"""


def odd(n=60):
    lines = ODD.splitlines()
    return "\n".join(
        [lines[0], *(lines[1 + i % 3].replace("90", f"9{i:02d}", 1).replace("a", f"a{i}_", 1) for i in range(n))]
    )


def test_identifiers_dates_missing_values_and_kinds(write):
    data = Table(write(odd()), "paid", favourable="yes", kind=("code=category",), bounds=("pay=0:100",)).load()
    assert [c.name for c in data.schema.columns] == ["age", "pay", "opened", "vip", "code"]
    age, pay, opened, vip, code = data.schema.columns
    assert [c.kind for c in data.schema.columns] == ["integer", "number", "number", "category", "category"]
    assert (pay.low, pay.high, pay.known, pay.missing, age.missing) == (0, 100, "bounds", True, False)
    assert (vip.categories, code.categories) == (("False", "True"), ("1000", "1001"))
    assert np.isnan(data.X[1, 1])
    days = (pd.Timestamp("2021-03-04") - pd.Timestamp("1970-01-01")).days
    assert (data.X[1, 2], opened.missing) == (days, True)
    assert data.schema.notes == (
        "Column 'id' is different in each row and was left out as an identifier; --kind id=integer keeps it.",
        "Column 'name' is different in each row and was left out as an identifier.",
        "Column 'opened' holds dates, which are read as days since 1970-01-01.",
    )
    kept = Table(write(odd()), "paid", kind=("id=integer",), drop=("name", "opened"), immutable=("age",)).load()
    assert [c.name for c in kept.schema.columns] == ["id", "age", "pay", "vip", "code"]
    assert [c.mutable for c in kept.schema.columns] == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"kind": ("age=text",)}, "kind must be NAME=number, NAME=integer or NAME=category, not 'age=text'"),
        ({"bounds": ("pay=5",)}, "bounds must be NAME=LOW:HIGH, such as income=0:200000, not 'pay=5'"),
        ({"bounds": ("pay=0:11",)}, "'pay': 20 rows lie outside the declared 0 to 11"),
        ({"kind": ("name=number",)}, "'name' is to be a number, but 60 of its texts are no numbers"),
        ({"drop": ("nam",)}, "drop: the table has no column 'nam' among its inputs; did you mean 'name'"),
        ({"drop": ("paid",)}, "'paid' is the target"),
        ({"target": ""}, "needs a target"),
    ],
)
def test_slips_about_columns_are_one_sentence(write, more, says):
    with pytest.raises(JaliError, match=says):
        Table(**{"path": write(odd()), "target": "paid", **more}).load()


def test_a_large_file_is_read_in_pieces_to_the_same_table(write, monkeypatch):
    from jali.data.tables import frame_files, pieces

    path = write(odd(90) + "\n9999,zz,50,3,2022-01-01,True,code,no")  # the last piece makes `code` a text
    plain = Table(path, "paid").load()
    monkeypatch.setattr(frame_files, "LARGE", 0)
    monkeypatch.setattr(pieces.whole, "__defaults__", (20,))
    found = Table(path, "paid").load()
    np.testing.assert_array_equal(found.X, plain.X)
    assert found.schema == plain.schema
    assert found.schema.notes == plain.schema.notes
    assert "code" in found.schema.columns[4].categories


def test_jali_schema_writes_a_file_that_is_read(write, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from jali.cli import app

    path, out = write(odd()), tmp_path / "schema.toml"
    run = CliRunner()
    options = ["--target", "paid", "--favourable", "yes", "--quasi", "age", "--immutable", "age"]
    options += ["--kind", "code=category", "--bounds", "pay=0:100", "--out", str(out)]
    first = run.invoke(app, ["schema", path, *options])
    assert first.exit_code == 0, first.output
    text = out.read_text()
    assert 'drop = [\n    "id",\n    "name",\n]' in text
    assert "1001" not in text  # no category and no extreme of anybody's row
    assert "high = 100" in text
    again = run.invoke(app, ["schema", path, "--out", str(out)])
    assert again.exit_code == 0
    assert "fits my.csv" in again.output
    whole = Table(path, "paid", favourable="yes", quasi=("age",), immutable=("age",), kind=("code=category",)).load()
    read = Table(path, schema=str(out)).load()
    np.testing.assert_array_equal(read.X, whole.X)
    assert [(c.name, c.kind, c.mutable, c.role) for c in read.schema.columns] == [
        (c.name, c.kind, c.mutable, c.role) for c in whole.schema.columns
    ]
    assert (read.schema.favourable, read.schema.columns[1].known) == (1, "declared")
    shown = run.invoke(app, ["schema", path, *options[:-1], str(tmp_path / "all.toml"), "--show-values"])
    assert shown.exit_code == 0
    assert "1001" in (tmp_path / "all.toml").read_text()
    changed = run.invoke(app, ["schema", path, *options])
    assert "is read as it is" in str(changed.exception)


def test_a_parquet_file_is_read_column_by_column_to_the_same_table(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "my.parquet"
    table = pd.DataFrame({"a.b": [1, 2], "a": [0.5, None], "n": pd.array([1, None], dtype="Int64"), "t": ["x", None]})
    table["c"] = pd.Categorical(["u", "v"])
    table.index = pd.Index([7, 9], name="row")
    table.to_parquet(path)
    read = Table(str(path)).frame()
    assert_frame_equal(read.astype({"t": object}), table.reset_index(drop=True).astype({"t": object}))


def test_a_parquet_file_with_one_name_twice_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "my.parquet"
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], ["x", "x"]), path)
    with pytest.raises(JaliError, match="'x' occurs more than once"):
        Table(str(path)).frame()


def test_a_header_with_another_separator_is_recognised(write):
    with pytest.raises(JaliError, match="are they separated by ';'"):
        Table(write("age;rate;paid\n30;0,5;yes\n31;1,5;no\n"), "paid").load()


def test_a_row_of_values_as_header_is_not_searched_for_a_name(write):
    with pytest.raises(JaliError, match="looks like a row of values"):
        Table(write("30,0.5,yes\n31,1.5,no\n"), "y").load()
