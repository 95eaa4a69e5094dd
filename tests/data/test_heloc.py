import numpy as np

from jali.data.tables import frames


def kept(lines):
    rows = [line.split(",") for line in lines("heloc")]
    return rows[0], [row for row in rows[1:] if set(row[1:]) != {"-9"}]


def test_counts(real):
    data = real("heloc")
    assert data.X.shape == (10_459 - 588, 23)
    assert np.bincount(data.y).tolist() == [5_136, 4_735]
    assert data.schema.classes == ("Bad", "Good")
    assert data.schema.favourable == 1
    assert all(c.kind == "integer" for c in data.schema.columns)


def test_special_codes_stay_as_numbers(real):
    data = real("heloc")
    counts = dict(zip(*np.unique(data.X, return_counts=True), strict=True))
    assert (counts[-7], counts[-8], counts[-9]) == (6_519, 6_114, 13_534 - 588 * 23)


def test_equals_the_file_read_without_pandas(real, lines):
    data = real("heloc")
    header, rows = kept(lines)
    table = frames.frame(data.X, data.schema)
    assert list(table.columns) == header[1:]
    assert table.to_numpy().tolist() == [[int(v) for v in row[1:]] for row in rows]
    assert [data.schema.classes[y] for y in data.y] == [row[0] for row in rows]


def test_score_as_target(real, lines):
    data = real('heloc(target="ExternalRiskEstimate")')
    scores = np.array([int(row[1]) for row in kept(lines)[1]])
    assert np.median(scores) == 72
    assert data.y.tolist() == (scores >= 72).astype(int).tolist()
    assert data.X.shape == (9_871, 22)
    assert {"ExternalRiskEstimate", "RiskPerformance"}.isdisjoint(c.name for c in data.schema.columns)
    assert data.schema.classes[data.schema.favourable] == ">=median"
