import numpy as np

from jali.data.german import COLUMNS, NAMES
from jali.data.tables import frames


def test_counts(real):
    data = real("german")
    assert data.X.shape == (1_000, 20)
    assert np.bincount(data.y).tolist() == [300, 700]
    assert data.schema.classes == ("bad", "good")
    assert data.schema.favourable == 1
    assert sum(c.kind == "category" for c in data.schema.columns) == 13
    assert sum(c.role == "quasi" for c in data.schema.columns) == 8


def test_first_row_by_hand(real):
    data = real("german")
    assert frames.frame(data.X[:1], data.schema).iloc[0].tolist() == [
        *("overdrawn", 6, "critical, or credits elsewhere", "radio or television", 1169, "none or unknown"),
        *("7 years or more", 4, "man, single", "none", 4, "real estate", 67, "none", "owned", 2),
        *("skilled or official", 1, "yes", "yes"),
    ]


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("german")
    rows = [line.split() for line in lines("german")]
    table = frames.frame(data.X, data.schema)
    for j, name in enumerate(COLUMNS[:-1]):
        codes = [row[j] for row in rows]
        assert table[name].tolist() == [NAMES[name][c] if name in NAMES else int(c) for c in codes]


def test_names_are_distinct():
    assert all(len(set(codes.values())) == len(codes) for codes in NAMES.values())
