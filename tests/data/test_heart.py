import numpy as np

from jali.data.tables import frames


def test_counts(real):
    data = real("heart")
    assert data.X.shape == (303 - 6, 13)
    assert np.bincount(data.y).tolist() == [160, 137]
    assert data.schema.classes[data.schema.favourable] == "absent"
    assert {c.name for c in data.schema.columns if c.role == "quasi"} == {"age", "sex"}


def test_first_row_by_hand(real):
    data = real("heart")
    assert frames.frame(data.X[:1], data.schema).iloc[0].tolist() == [
        *(63, "male", "typical angina", 145, 233, "above 120 mg/dl", "thick left ventricle"),
        *(150, "no", 2.3, "falling", "0", "fixed defect"),
    ]


def test_numbers_equal_the_file(real, lines):
    data = real("heart")
    rows = np.array([[float(v) for v in line.split(",")] for line in lines("heart") if "?" not in line])
    for j in (0, 3, 4, 7, 9, 11):
        assert (data.X[:, j] == rows[:, j]).all()
    assert (data.y == (rows[:, 13] > 0)).all()
