from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain import nice
from jali.explain._recourse import vae as _vae
from jali.explain.native import rows as _native
from jali.explain.nice import NICE
from jali.models.fitted.linear import LinearModel
from tests.explaining import explained

VARIANTS = ["none", "sparsity", "proximity", "plausibility"]
SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15, mutable=False),
        Column("income", "number", centre=50, spread=25),
        Column("job", "category", categories=("a", "b", "c")),
        Column("lines", "integer", 0, 12, 4, 3),
        Column("city", "category", categories=("x", "y", "z", "w")),
    ),
    favourable=1,
)
THREE = replace(SCHEMA, classes=("0", "1", "2"), favourable=None)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """An autoencoder trained for a moment: it need not be good to be compared with."""
    monkeypatch.setattr(_vae, "STEPS", 60)
    monkeypatch.setattr(_vae, "EPOCHS", 1)


def people(n: int, seed: int, schema: Schema = SCHEMA) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = rng.integers(18, 30, n), rng.uniform(0, 100, n), rng.integers(0, 3, n), rng.integers(0, 13, n)
    X = np.stack([*columns, rng.integers(0, 4, n)], axis=1).astype(float)
    score = X[:, 1] / 25 - X[:, 3] / 3 + X[:, 2] + rng.normal(size=n)
    return Dataset(X, np.digitize(score, [2.0] if len(schema.classes) == 2 else [1.0, 3.0]), schema)


def forest(data: Dataset):
    text = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=7, max_leaf_nodes=12")'
    return registry.build("model", text).fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]


def explain(part, model, X, train, schema=None):
    X = np.asarray(X, dtype=float)
    X.setflags(write=False)
    return explained(part, model, X, schema or train.schema, train, np.random.default_rng(0))


# --- one record after the other, by the definition ---------------------------------------------------------------


def length(x, r, schema, spans) -> float:
    steps = zip(schema.columns, x, r, spans, strict=True)
    return sum(float(a != b) if c.kind == "category" else abs(a - b) / s for c, a, b, s in steps)


def oracle(part: NICE, model, x, train: Dataset, labels):
    """What NICE answers to one record, with the labels of the training rows."""
    schema, now = train.schema, model.logits(x[None])[0].argmax()
    goals = [
        c
        for c in range(len(schema.classes))
        if c != now and schema.favourable in (None, c) and now != schema.favourable
    ]
    seen = train.X.max(axis=0) - train.X.min(axis=0)
    known = [part.ranges == "schema" and np.isfinite(c.high - c.low) for c in schema.columns]
    spans = [c.high - c.low if k else s for c, k, s in zip(schema.columns, known, seen, strict=True)]
    best, neighbour = np.inf, None
    for r, y, label in zip(train.X, train.y, labels, strict=True):
        kept = part.immutable == "free" or all(
            c.mutable or a == b for c, a, b in zip(schema.columns, x, r, strict=True)
        )
        sound = part.candidates == "predicted" or label == y
        if label in goals and sound and kept and length(x, r, schema, spans) < best:
            best, neighbour = length(x, r, schema, spans), r
    if neighbour is None or part.optimise == "none":
        return neighbour
    return walk(part.optimise, model, x, neighbour, goals, lambda row: length(x, row, schema, spans), train)


def walk(optimise, model, x, neighbour, goals, far, train):
    """One column after the other; rewards that differ by rounding only are equal, and the first column is taken."""

    def chance(row):
        e = np.exp(model.logits(row[None])[0])
        return e / e.sum()

    error, row = nice._errors(train, train.schema), x.copy()
    while (p := chance(row)).argmax() not in goals:
        tries = []
        for j in np.flatnonzero(row != neighbour):
            tried = row.copy()
            tried[j] = neighbour[j]
            gain = max((chance(tried) - p)[goals])
            if optimise == "proximity":
                gain /= far(tried) - far(row) + 1e-11
            if optimise == "plausibility":
                gain *= error(row[None])[0] - error(tried[None])[0]
            tries.append((gain, tried))
        top = max(gain for gain, _ in tries)
        row = next(tried for gain, tried in tries if gain >= top - 1e-13)
    return row


@pytest.mark.parametrize("optimise", VARIANTS)
@pytest.mark.parametrize("schema", [SCHEMA, THREE], ids=["favourable", "any other"])
@pytest.mark.parametrize("settings", [("predicted", "free", "train"), ("justified", "agree", "schema")])
def test_row_by_row_against_the_definition(optimise, schema, settings, monkeypatch):
    monkeypatch.setattr(_native, "ROWS", 37)
    monkeypatch.setattr(_native, "CELLS", 1000)
    data, X = people(150, 0, schema), people(25, 1, schema).X
    model, part = forest(data), NICE(optimise, *settings)
    out, labels = explain(part, model, X, data), model.logits(data.X).argmax(axis=1)
    assert out.found.mean() > 0.3
    for x, row, found in zip(X, out.rows, out.found, strict=True):
        expected = oracle(part, model, x, data, labels)
        assert found == (expected is not None)
        np.testing.assert_array_equal(row, x if expected is None else expected)


# --- by hand -------------------------------------------------------------------------------------------------------


class Listed:
    """A model that accepts the rows it is told to."""

    def __init__(self, accepted):
        self.accepted = np.asarray(accepted, dtype=float)

    def logits(self, X):
        yes = (X[:, None] == self.accepted).all(axis=2).any(axis=1)
        return np.stack([~yes, yes], axis=1).astype(float)


def test_the_neighbour_of_lisa_is_fiona():
    """Table 2 of Goethals et al.: age, sex (m, f), city (Brussels, Antwerp), salary, relationship."""
    table = np.array(
        [
            [25, 0, 0, 50, 0],
            [23, 0, 1, 40, 1],
            [34, 0, 0, 30, 2],
            [47, 0, 1, 100, 3],
            [70, 0, 0, 90, 0],
            [24, 1, 1, 60, 0],
            [27, 1, 1, 80, 3],
            [38, 1, 0, 60, 4],
            [26, 1, 1, 60, 0],
            [50, 1, 0, 100, 3],
        ]
    )
    accepted = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1])
    codes = {"sex": 2, "city": 2, "relationship": 5}
    columns = [
        Column(n, "category", categories=tuple(map(str, range(codes[n])))) if n in codes else Column(n)
        for n in ("age", "sex", "city", "salary", "relationship")
    ]
    train = Dataset(table, accepted, Schema(tuple(columns), ("reject", "accept"), favourable=1))
    out = explain(NICE(), Listed(table[accepted == 1]), [[21, 1, 0, 50, 0]], train)
    assert out.origin.tolist() == [5]
    np.testing.assert_array_equal(out.rows[0], table[5])


LINE = Schema((Column("a", low=0, high=100), Column("b", low=0, high=10)), favourable=1)


def line(a: float, b: float, bias: float, schema: Schema = LINE) -> LinearModel:
    return LinearModel(Encoding(schema), np.array([[0.0, a], [0.0, b]]), np.array([0.0, bias]))


def test_variants_differ_as_their_rewards_do():
    """To the only candidate, a gains 8 logits over 0.8 of its range and b gains 5 over 0.1; either is enough."""
    train = Dataset(np.array([[80.0, 1.0], [0.0, 0.0]]), [1, 0], LINE)
    model = line(0.1, 5.0, -4.0)
    rows = {v: explain(NICE(v), model, [[0.0, 0.0]], train).rows[0].tolist() for v in VARIANTS[:3]}
    assert rows == {"none": [80, 1], "sparsity": [80, 0], "proximity": [0, 1]}


def test_spans_of_the_schema_or_of_the_training_set():
    train = Dataset(np.array([[10.0, 0.0], [0.0, 4.0], [0.0, 0.0]]), [1, 1, 0], LINE)
    model = line(1.0, 1.0, -3.0)
    assert explain(NICE(), model, [[0.0, 0.0]], train).origin.tolist() == [0]  # .1 of 100 against .4 of 10
    train = Dataset(np.array([[10.0, 0.0], [0.0, 4.0], [0.0, 9.0]]), [1, 1, 1], LINE)
    assert explain(NICE(ranges="train"), model, [[0.0, 0.0]], train).origin.tolist() == [1]  # 1 against 4/9


def test_equal_rows_are_told_apart_by_their_place():
    train = Dataset(np.array([[9.0, 9.0], [5.0, 5.0], [5.0, 5.0]]), [1, 1, 1], LINE)
    assert explain(NICE(), line(1.0, 1.0, -3.0), [[0.0, 0.0]], train).origin.tolist() == [1]


def test_justified_leaves_out_rows_the_model_gets_wrong():
    train = Dataset(np.array([[5.0, 5.0], [6.0, 6.0]]), [0, 1], LINE)
    for candidates, row in (("predicted", 0), ("justified", 1)):
        part = NICE(candidates=candidates)
        assert explain(part, line(1.0, 1.0, -3.0), [[0.0, 0.0]], train).origin.tolist() == [row]


def test_immutable_columns_agree_or_nobody_answers():
    fixed = replace(LINE, columns=(LINE.columns[0], replace(LINE.columns[1], mutable=False)))
    train = Dataset(np.array([[5.0, 4.0], [50.0, 0.0]]), [1, 1], fixed)
    X, model = [[0.0, 0.0], [0.0, 1.0]], line(1.0, 1.0, -3.0, fixed)
    strict, free = explain(NICE(), model, X, train), explain(NICE(immutable="free"), model, X, train)
    assert strict.origin.tolist() == [1, -1]
    assert strict.found.tolist() == [True, False]
    assert free.origin.tolist() == [0, 0]


# --- what is released ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimise", VARIANTS)
def test_origin_names_the_row_that_is_shown_and_no_other(optimise):
    data = people(200, 3)
    model = forest(data)
    out = explain(NICE(optimise, immutable="free"), model, data.X, data)
    whole = out.origin >= 0
    np.testing.assert_array_equal(out.rows[whole], data.X[out.origin[whole]])
    assert not whole[~out.found].any()
    assert (model.logits(out.rows).argmax(axis=1)[out.found] == 1).all()
    if optimise == "none":
        np.testing.assert_array_equal(whole, out.found)
    else:
        goal = explain(NICE(immutable="free"), model, data.X, data).rows
        assert ((out.rows == data.X) | (out.rows == goal)).all()
        np.testing.assert_array_equal(whole, out.found & (out.rows == goal).all(axis=1))


def test_it_says_that_it_releases_rows():
    assert NICE().releases_rows()
    assert NICE.reads_training_data
    assert "origin" not in repr(explain(NICE(), forest(people(50, 0)), people(5, 1).X, people(50, 0)))


def test_whoever_has_the_outcome_is_left_alone():
    data = people(200, 4)
    model = forest(data)
    has = model.logits(data.X).argmax(axis=1) == 1
    out = explain(NICE("sparsity", immutable="free"), model, data.X, data)
    np.testing.assert_array_equal(out.found, ~has)
    np.testing.assert_array_equal(out.rows[has], data.X[has])


def test_error_of_reconstruction_against_encode_and_decode():
    data = people(80, 5)
    whole = replace(SCHEMA, columns=tuple(replace(c, mutable=True) for c in SCHEMA.columns))
    vae, encoding = _vae.trained(data, whole, nice.LATENT, nice.HIDDEN), Encoding(whole)
    Z = encoding.encode(data.X)
    made = vae.decode(vae.encode(Z)[:, None], Z)[:, 0]
    for j in (2, 4):
        block = encoding.source == j
        made[:, block] = np.exp(made[:, block]) / np.exp(made[:, block]).sum(axis=1, keepdims=True)
    gap = (np.clip((Z - vae.centre) / vae.spread, -_vae.REACH, _vae.REACH) - (made - vae.centre) / vae.spread) ** 2
    np.testing.assert_allclose(nice._errors(data, SCHEMA)(data.X), gap.mean(axis=1), rtol=1e-9)


# --- bad input -----------------------------------------------------------------------------------------------------


def test_without_training_rows_it_refuses():
    model = line(1.0, 1.0, -3.0)
    for train in (None, Dataset(np.zeros((0, 2)), [], LINE)):
        with pytest.raises(JaliError, match=r"nice answers with rows .* none were given"):
            explain(NICE(), model, [[0.0, 0.0]], train, LINE)


@pytest.mark.parametrize("optimise", VARIANTS)
def test_no_row_with_the_outcome(optimise):
    train = Dataset(np.zeros((3, 2)), [0, 0, 0], LINE)
    out = explain(NICE(optimise), line(1.0, 1.0, -3.0), [[0.0, 1.0]], train)
    assert not out.found.any()
    assert out.origin.tolist() == [-1]
    np.testing.assert_array_equal(out.rows, [[0.0, 1.0]])


def test_unknown_choices_are_refused():
    with pytest.raises(JaliError, match="optimise must be one of none, sparsity"):
        NICE("fast")
    with pytest.raises(JaliError, match="immutable must be one of agree, free"):
        NICE(immutable="no")
