import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from jali.core.errors import JaliError
from jali.data.table import Table
from jali.data.tables import written

N = 60


def loaded(tmp_path, **more):
    path = tmp_path / "my.csv"
    pd.DataFrame({"age": np.arange(N) % 7, **more, "y": ["a", "b"] * (N // 2)}).to_csv(path, index=False)
    return Table(str(path), "y").load()


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_that_differ_in_each_row_are_dates_and_no_identifiers(tmp_path, form):
    days = pd.Timestamp("1970-01-01") + pd.to_timedelta(np.arange(N), "D")
    data = loaded(tmp_path, d=days.strftime(form))
    assert data.X[:, 1].tolist() == list(range(N))
    assert data.schema.columns[1].date


def test_times_are_parts_of_days_in_one_zone():
    found = written.meant(pd.Series(["1970-01-02T01:00+01:00", None, "1970-01-02 12:00"]))
    assert found[0] == pd.Timestamp("1970-01-02")
    assert pd.isna(found[1])
    assert found[2] == pd.Timestamp("1970-01-02 12:00")


def test_texts_that_are_no_dates_stay_as_they_are():
    for texts in (["2020-02-30", "2020-01-01"], ["2020-01-01", "later"]):
        assert written.meant(pd.Series(texts)).tolist() == texts


def test_objects_of_dates_and_decimals():
    assert written.meant(pd.Series([datetime.date(2020, 1, 2), None])).dt.day.tolist()[0] == 2
    assert written.meant(pd.Series([Decimal("1.25"), None], dtype=object))[0] == 1.25


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([f"{i},5" for i in range(N)], "'x' seems to hold numbers"),
        ([f"{i},000.5" for i in range(N)], "'x' seems to hold numbers"),
        ([f"{i}%" for i in range(N)], "'x' seems to hold numbers"),
        ([str(i) if i % 9 else "?" for i in range(N)], "--kind x=category or --drop x"),
        ([f"{1 + i % 28:02}.01.2020" for i in range(N)], "write them as yyyy-mm-dd"),
    ],
)
def test_numbers_and_dates_in_another_spelling_are_refused(tmp_path, texts, said):
    with pytest.raises(JaliError, match=said):
        loaded(tmp_path, x=texts)


def test_codes_and_names_are_not(tmp_path):
    codes = [f"{200 + i % 30}.{i % 10}" if i % 4 else f"V{i}" for i in range(N)]
    few = ["1", "2", "unknown"] * (N // 3)
    assert [c.kind for c in loaded(tmp_path, codes=codes, few=few).schema.columns[1:]] == ["category", "category"]


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}])
def test_cells_with_several_values_are_refused_and_can_be_dropped(tmp_path, cell):
    pytest.importorskip("pyarrow")
    path = tmp_path / "my.parquet"
    pd.DataFrame({"x": np.arange(N) % 7, "cell": [cell] * N, "y": ["a", "b"] * (N // 2)}).to_parquet(path)
    with pytest.raises(JaliError, match=r"'cell' holds a .* in each cell, and one value was expected"):
        Table(str(path), "y").load()
    assert Table(str(path), "y", drop=("cell",)).load().X.shape == (N, 1)
