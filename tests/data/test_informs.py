import csv

import numpy as np

from jali.data.informs import NAMES
from jali.data.tables import frames


def test_counts(real):
    data = real("informs")
    assert data.X.shape == (33_961, 10)
    assert np.bincount(data.y).tolist() == [33_961 - 11_856, 11_856]
    assert data.schema.classes[data.schema.favourable] == ">mean"
    quasi = {c.name for c in data.schema.columns if c.role == "quasi"}
    assert quasi == {"DOBMM", "DOBYY", "SEX", "EDUCYEAR", "marry", "RACEX"}


def test_constant_column_has_spread_one(real):
    data = real("informs")
    year = data.schema.columns[data.schema.index("Year")]
    assert (year.low, year.high, year.centre, year.spread) == (2005, 2005, 2005, 1)


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("informs")
    rows = list(csv.DictReader(lines("informs")))
    table = frames.frame(data.X, data.schema)
    for name in table.columns:
        codes = [int(row[name]) for row in rows]
        assert table[name].astype(str).tolist() == [NAMES[name][c] if name in NAMES else str(c) for c in codes]
    income = np.array([int(row["income"]) for row in rows])
    assert (data.y == (income > income.sum() / len(income))).all()
    assert data.schema.columns[data.schema.index("HISPCAT")].categories == ("1", "2", "3", "4", "5", "6", "91", "92")
