from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Schema
from jali.explain.linear_recourse import LinearRecourse
from jali.explain.scfe import SCFE
from jali.models.fitted.linear import LinearModel
from tests.explaining import explained


def model(schema: Schema, coef, intercept) -> LinearModel:
    return LinearModel(Encoding(schema), np.asarray(coef, float), np.asarray(intercept, float))


def rows(m, X, schema, margin: float = 0.0):
    return explained(LinearRecourse(margin), m, np.asarray(X, float), schema, None, np.random.default_rng(0))


def test_closed_form_distance():
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}") for j in range(6)), favourable=1)
    w, b = rng.normal(size=6), -2.0
    m = model(schema, np.stack([-w / 2, w / 2], axis=1), [-b / 2, b / 2])
    X = rng.normal(size=(200, 6))
    out = rows(m, X, schema)
    f = X @ w + b
    assert (out.found == (f < 0)).all()
    distance = np.linalg.norm(out.rows - X, axis=1)[out.found]
    np.testing.assert_allclose(distance, np.abs(f[out.found]) / np.linalg.norm(w), rtol=1e-5)


def test_the_margin_is_reached():
    schema = Schema((Column("a"), Column("b")), favourable=1)
    m = model(schema, [[0, 3], [0, 4]], [0, -25])
    out = rows(m, [[0, 0]], schema, margin=5.0)
    np.testing.assert_allclose(out.rows, [[3.6, 4.8]], rtol=1e-5)  # 30/25 of the way along (3, 4)


def test_bounds_are_met_exactly_by_brute_force():
    """With a box, a fine grid finds nothing nearer."""
    schema = Schema((Column("a", low=-1, high=1), Column("b", low=-1, high=3)), favourable=1)
    m = model(schema, [[0, 3], [0, 1]], [0, -5])
    out = rows(m, [[0, 0]], schema)
    np.testing.assert_allclose(out.rows, [[1, 2]], rtol=1e-5)
    a, b = np.meshgrid(np.linspace(-1, 1, 401), np.linspace(-1, 3, 801))
    valid = 3 * a + b - 5 >= 0
    assert np.hypot(a, b)[valid].min() >= np.linalg.norm(out.rows[0]) - 1e-5


def test_random_boxes_against_a_general_solver():
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    for _ in range(10):
        w, high = rng.normal(size=4), rng.uniform(0.2, 2, 4)
        schema = Schema(tuple(Column(f"x{j}", low=-high[j], high=high[j]) for j in range(4)), favourable=1)
        gap = 0.6 * float(np.abs(w) @ high)
        m = model(schema, np.stack([np.zeros(4), w], axis=1), [0, -gap])
        out = rows(m, np.zeros((1, 4)), schema)
        solved = minimize(
            lambda d: d @ d,
            np.sign(w) * high,
            bounds=list(zip(-high, high, strict=True)),
            constraints={"type": "ineq", "fun": lambda d, w=w, gap=gap: w @ d - gap},
        )
        assert out.found[0]
        assert np.linalg.norm(out.rows[0]) == pytest.approx(np.sqrt(solved.fun), rel=1e-3)


def test_out_of_reach_is_said_not_forced():
    schema = Schema((Column("a", low=0, high=1), Column("fixed", mutable=False)), favourable=1)
    m = model(schema, [[0, 1], [0, 5]], [0, -3])
    out = rows(m, [[0.5, 0.0], [0.5, 0.42]], schema)
    assert out.found.tolist() == [False, True]
    np.testing.assert_array_equal(out.rows[0], [0.5, 0.0])


def test_whole_numbers_by_hand():
    """From (1, 3), 2 n - m >= 4.5 is reached at (3.2, 1.9); rounded away (4, 1), of which one n can be spared."""
    schema = Schema((Column("n", "integer", 0, 10), Column("m", "integer", 0, 10)), favourable=1)
    m = model(schema, [[0, 2], [0, -1]], [0, -4.5])
    out = rows(m, [[1, 3]], schema)
    assert out.found[0]
    np.testing.assert_array_equal(out.rows, [[3, 1]])


def integers(spread: tuple[float, ...], free: int = 0) -> Schema:
    whole = tuple(Column(f"n{j}", "integer", -6, 6, spread=s) for j, s in enumerate(spread))
    return Schema((*whole, *(Column(f"x{j}", low=-6, high=6) for j in range(free))), favourable=1)


@pytest.mark.parametrize("free", [0, 1])
def test_whole_numbers_against_every_legal_row(free):
    """All combinations of whole numbers, each with the number that is then left to move, if there is one."""
    rng, schema = np.random.default_rng(0), integers((1.0, 2.0, 5.0), free)
    w = np.array([1.0, -0.7, 0.4, 0.5][: 3 + free])
    m = model(schema, np.stack([0 * w, w], axis=1), [0, -1.003])  # no whole row lies on the boundary
    X = np.concatenate([rng.integers(-3, 3, (60, 3)), rng.normal(size=(60, free))], axis=1)
    out, steps = rows(m, X, schema), np.stack(np.meshgrid(*[np.arange(-6, 7)] * 3), axis=-1).reshape(-1, 3)
    assert out.found.sum() > 20
    ratio = []
    for x, row in zip(X[out.found], out.rows[out.found], strict=True):
        move = (steps - x[:3]) / (1, 2, 5)
        lacks = np.maximum(1.003 - (steps / (1, 2, 5)) @ w[:3] - (w[3:] @ x[3:]), 0.0)
        rest = lacks / w[3] if free else np.where(lacks > 0, np.inf, 0.0)
        rest = np.where(x[3:].sum() + rest > 6, np.inf, rest)
        best = np.sqrt((move**2).sum(axis=1) + rest**2).min()
        ratio.append(np.linalg.norm((row - x) / (1, 2, 5, 1)[: 3 + free]) / best)
    assert min(ratio) > 1 - 1e-6
    assert np.median(ratio) < 1.02
    assert max(ratio) < 1.7


def test_close_to_the_boundary_no_whole_number_is_paid_for():
    """The exact way spreads over all columns; one unit of a whole number costs a hundred times what is lacking."""
    schema = integers((1.0, 1.0, 1.0), free=1)
    m = model(schema, [[0, 1], [0, 1], [0, 1], [0, 1]], [0, -3.01])
    out = rows(m, [[1, 1, 1, 0]], schema)
    np.testing.assert_allclose(out.rows, [[1, 1, 1, 0.01]], rtol=1e-5)


def test_no_further_than_the_gradient_search():
    rng, schema = np.random.default_rng(2), integers((1.0, 2.0, 4.0, 8.0, 3.0), free=2)
    w = rng.normal(size=7)
    m = model(schema, np.stack([0 * w, w], axis=1), [0, -2.0])
    X = np.concatenate([rng.integers(-4, 4, (100, 5)), rng.normal(size=(100, 2))], axis=1)
    ours, theirs = rows(m, X, schema), explained(SCFE(), m, X, schema, None, np.random.default_rng(0))
    np.testing.assert_array_equal(ours.found, theirs.found)
    spread = [c.spread for c in schema.columns]
    near, far = (np.linalg.norm((out.rows - X) / spread, axis=1) for out in (ours, theirs))
    assert near[ours.found].mean() <= 1.01 * far[ours.found].mean()


def test_without_a_favourable_class_everybody_gets_the_nearest_other_one():
    rng = np.random.default_rng(1)
    schema = Schema(tuple(Column(f"x{j}") for j in range(3)), classes=("0", "1", "2"))
    coef, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    m = model(schema, coef, b)
    X = rng.normal(size=(50, 3))
    out = rows(m, X, schema)
    assert out.found.all()
    scores = X @ coef + b
    top = scores.argmax(axis=1)
    each = [
        min(
            (scores[i, top[i]] - scores[i, c]) / np.linalg.norm(coef[:, c] - coef[:, top[i]])
            for c in range(3)
            if c != top[i]
        )
        for i in range(50)
    ]
    np.testing.assert_allclose(np.linalg.norm(out.rows - X, axis=1), each, rtol=1e-4)


def test_where_bounds_close_the_nearest_class_another_one_is_shown():
    schema = Schema((Column("a", low=-9, high=1), Column("b", low=-9, high=9)), classes=("0", "1", "2"))
    m = model(schema, [[0, 1, 0], [0, 0, 1]], [0, -2, -5])  # class 1 from a = 2 on, which no row reaches; 2 from b = 5
    out = rows(m, [[0.0, 0.0]], schema)
    assert out.found[0]
    np.testing.assert_allclose(out.rows, [[0, 5]], rtol=1e-5)


def test_a_negative_margin_is_refused():
    with pytest.raises(JaliError, match="zero or more"):
        LinearRecourse(margin=-1.0)


def test_three_classes_with_a_favourable_one_have_no_closed_form():
    schema = Schema((Column("a"),), classes=("0", "1", "2"), favourable=1)
    with pytest.raises(JaliError, match="two classes"):
        rows(model(schema, [[0, 1, 2]], [0, 0, 0]), [[1.0]], schema)


def test_all_columns_immutable_finds_nothing():
    schema = Schema((Column("a", mutable=False),), favourable=1)
    out = rows(model(schema, [[0, 1]], [0, -3]), [[1.0]], schema)
    assert not out.found.any()
