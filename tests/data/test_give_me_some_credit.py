import numpy as np


def test_counts(real):
    data = real("give_me_some_credit")
    assert data.X.shape == (150_000 - 29_731, 10)
    assert np.bincount(data.y).tolist() == [111_912, 8_357]
    assert data.schema.classes[data.schema.favourable] == "no"


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("give_me_some_credit")
    text = lines("give_me_some_credit")
    rows = np.array([line.split(",") for line in text[1:] if "NA" not in line], dtype=np.float64)
    assert [c.name for c in data.schema.columns] == text[0].split(",")[2:]
    np.testing.assert_allclose(data.X, rows[:, 2:], rtol=1e-15)
    assert (data.y == rows[:, 1]).all()


def test_kinds(real):
    numbers = [c.name for c in real("give_me_some_credit").schema.columns if c.kind == "number"]
    assert numbers == ["RevolvingUtilizationOfUnsecuredLines", "DebtRatio"]
