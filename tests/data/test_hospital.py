import csv

import numpy as np

from jali.data.tables import frames


def test_counts(real):
    data = real("hospital")
    assert data.X.shape == (1_000, 20)
    assert np.bincount(data.y).tolist() == [728, 272]
    assert data.schema.classes[data.schema.favourable] == ">mean"
    assert sum(c.role == "quasi" for c in data.schema.columns) == 5
    assert max(len(c.categories) for c in data.schema.columns) == 158


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("hospital")
    rows = list(csv.DictReader(lines("hospital")))
    table = frames.frame(data.X, data.schema)
    for name in table.columns:
        assert table[name].astype(str).tolist() == [row[name] or "missing" for row in rows]
    costs = np.array([float(row["Total Costs"].replace(",", "")) for row in rows])
    assert (data.y == (costs > costs.mean())).all()
