import numpy as np

from jali.data.tables import frames


def test_counts_of_use(real):
    data = real("cmc")
    assert data.X.shape == (1_473, 9)
    assert np.bincount(data.y).tolist() == [629, 333 + 511]
    assert data.schema.classes[data.schema.favourable] == "no use"
    assert [c.name for c in data.schema.columns if c.role == "quasi"] == ["wife-age", "children"]


def test_counts_of_methods(real):
    data = real('cmc(target="method")')
    assert dict(zip(data.schema.classes, np.bincount(data.y).tolist(), strict=True)) == {
        "none": 629,
        "long-term": 333,
        "short-term": 511,
    }
    assert data.schema.favourable is None


def test_first_row_by_hand(real, lines):
    data = real("cmc")
    assert lines("cmc")[0] == "24,2,3,3,1,1,2,3,0,1"
    assert frames.frame(data.X[:1], data.schema).iloc[0].tolist() == [24, "2", "3", 3, "Islam", "no", "2", "3", "good"]


def test_numbers_equal_the_file(real, lines):
    data = real("cmc")
    rows = np.array([[int(v) for v in line.split(",")] for line in lines("cmc")])
    assert (data.X[:, [0, 3]] == rows[:, [0, 3]]).all()
    assert (data.X[:, 1] == rows[:, 1] - 1).all()
