import numpy as np

from jali.data.tables import frames


def test_counts(real):
    data = real("adult")
    assert data.X.shape == (48_842, 14)
    assert np.bincount(data.y).tolist() == [48_842 - 7_841 - 3_846, 7_841 + 3_846]
    assert data.y[:32_561].sum() == 7_841
    assert data.schema.classes[data.schema.favourable] == ">50K"
    train = data.X[:32_561]
    for name, count in {"workclass": 1_836, "occupation": 1_843, "native-country": 583}.items():
        j = data.schema.index(name)
        assert (train[:, j] == data.schema.columns[j].categories.index("missing")).sum() == count


def test_equals_the_files_read_without_pandas(real, lines):
    data = real("adult")
    rows = [line.split(", ") for line in lines("adult", 0) + lines("adult", 1)[1:] if line]
    table = frames.frame(data.X, data.schema)
    for j, name in enumerate(table.columns):
        want = [row[j].replace("?", "missing") for row in rows]
        assert table[name].astype(str).tolist() == want
    assert [data.schema.classes[y] for y in data.y] == [row[14].rstrip(".") for row in rows]


def test_roles(real):
    columns = {c.name: c for c in real("adult").schema.columns}
    quasi = {name for name, c in columns.items() if c.role == "quasi"}
    assert quasi == {"age", "marital-status", "relationship", "race", "sex"}
    assert {name for name, c in columns.items() if not c.mutable} == {"age", "fnlwgt", "race", "sex", "native-country"}
    assert columns["age"].kind == "integer"
    assert (columns["age"].low, columns["age"].high) == (17, 90)
