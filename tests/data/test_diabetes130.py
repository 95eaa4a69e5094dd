import csv

import numpy as np
import pytest

from jali.data.diabetes130 import _chapter
from jali.data.tables import frames


def test_counts(real):
    data = real("diabetes130")
    assert data.X.shape == (101_766, 44)
    assert np.bincount(data.y).tolist() == [54_864 + 35_545, 11_357]
    assert data.schema.classes[data.schema.favourable] == "no"
    assert len(np.unique(data.groups)) == 71_518


def test_missing_and_not_measured(real):
    data = real("diabetes130")
    for name, category, count in (
        ("race", "missing", 2_273),
        ("diag_1", "missing", 21),
        ("diag_2", "missing", 358),
        ("diag_3", "missing", 1_423),
        ("A1Cresult", "None", 84_748),
        ("gender", "Unknown/Invalid", 3),
    ):
        j = data.schema.index(name)
        assert (data.X[:, j] == data.schema.columns[j].categories.index(category)).sum() == count


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("diabetes130")
    rows = list(csv.DictReader(lines("diabetes130")[:2001]))
    table = frames.frame(data.X[:2000], data.schema)
    for name in table.columns:
        want = [row[name].replace("?", "missing") for row in rows]
        if name.startswith("diag_"):
            want = [code if code == "missing" else _chapter(code) for code in want]
        assert table[name].astype(str).tolist() == want
    assert [data.schema.classes[y] == "yes" for y in data.y[:2000]] == [row["readmitted"] == "<30" for row in rows]
    patients = [row["patient_nbr"] for row in rows]
    assert len(set(zip(patients, data.groups[:2000].tolist(), strict=True))) == len(set(patients))


@pytest.mark.parametrize(
    ("code", "chapter"),
    [
        ("1", "infectious"),
        ("139", "infectious"),
        ("140", "neoplasms"),
        ("249", "endocrine"),
        ("250", "diabetes"),
        ("250.02", "diabetes"),
        ("251", "endocrine"),
        ("365.44", "nervous system"),
        ("459", "circulatory"),
        ("799", "symptoms"),
        ("999", "injury"),
        ("E909", "external cause"),
        ("V45", "other contact"),
    ],
)
def test_chapters_by_hand(code, chapter):
    assert _chapter(code) == chapter
