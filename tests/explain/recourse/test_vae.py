from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.values import Column, Dataset, Schema
from jali.explain._recourse import vae as _vae

MIXED = Schema(
    (
        Column("a"),
        Column("job", "category", categories=("x", "y", "z")),
        Column("age", mutable=False),
        Column("sex", "category", categories=("f", "m"), mutable=False),
        Column("b", "integer", 0, 20, 10, 5),
        Column("home", "category", categories=("own", "rent")),
    )
)


def mixed(n: int, seed: int = 0) -> np.ndarray:
    """Two factors behind six columns, of which two are immutable."""
    rng = np.random.default_rng(seed)
    f, g = rng.normal(size=(2, n))
    job, b = np.digitize(f, [-0.5, 0.5]), np.rint(10 + 3 * (f + g)).clip(0, 20)
    columns = [f + 0.1 * rng.normal(size=n), job, g, g > 0, b, f > g]
    return np.stack(columns, axis=1).astype(float)


def low_rank(n: int, d: int, rank: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.1 * rng.normal(size=(n, d))


def numbers(d: int) -> Schema:
    return Schema(tuple(Column(f"x{j}") for j in range(d)))


def rebuilt(vae: _vae.VAE, Z: np.ndarray) -> np.ndarray:
    return vae.decode(vae.encode(Z)[:, None], Z)[:, 0]


@pytest.fixture
def short(monkeypatch):
    """Training cut short, where what is learnt does not matter."""
    monkeypatch.setattr(_vae, "EPOCHS", 2)
    monkeypatch.setattr(_vae, "STEPS", 2)


def test_layout_by_hand():
    plan = _vae.layout(MIXED)  # model space: a, job x3, age, sex x2, b, home x2
    assert plan.made.tolist() == [0, 1, 2, 3, 7, 8, 9]
    assert plan.given.tolist() == [4, 5, 6]
    assert plan.choices.tolist() == [1, 2, 3, 5, 6]
    assert plan.starts.tolist() == [0, 3]
    assert plan.block.tolist() == [0, 0, 0, 1, 1]


def test_loss_by_hand():
    """One number off by 2, one category at probability 1/4, posterior N(1, e): 2 + log 4 + KL e / 2 - KL / 2."""
    plan = _vae.layout(Schema((Column("a"), Column("c", "category", categories=("x", "y")))))
    one = np.ones((1, 1))
    seen = _vae.Pass(one, one, one, one, one, np.array([[3.0, 0.75, 0.25]]))
    by_hand = 2 + np.log(4) + _vae.KL * 0.5 * (np.e + 1 - 1 - 1)
    assert _vae.loss(seen, plan, np.array([[1.0, 0.0, 1.0]])) == pytest.approx(by_hand)


def test_gradients_against_finite_differences():
    rng, plan = np.random.default_rng(0), _vae.layout(MIXED)
    vae = _vae.VAE(plan, np.zeros(10), np.ones(10), _vae._start(10, plan, 3, 5, rng))
    S, noise = vae.scaled(Encoding(MIXED).encode(mixed(17))), rng.normal(size=(17, 3))
    given = _vae.gradient(vae.layers, plan, S, noise)
    for layer, slopes in zip(vae.layers, given, strict=True):
        for part, slope in zip(layer, slopes, strict=True):
            numeric = np.empty_like(part)
            for at in np.ndindex(part.shape):
                numeric[at] = central(part, at, lambda: _vae.loss(_vae.forward(vae.layers, plan, S, noise), plan, S))
            np.testing.assert_allclose(slope, numeric, rtol=1e-5, atol=1e-8)


def central(array, at, value, h: float = 1e-5) -> float:
    """Central difference of value() by one entry of an array it reads."""
    keep, sides = array[at], []
    for sign in (1, -1):
        array[at] = keep + sign * h
        sides.append(value())
    array[at] = keep
    return (sides[0] - sides[1]) / (2 * h)


def test_it_rebuilds_low_rank_rows_nearly_as_well_as_principal_components():
    X = low_rank(3000, 30, 8)
    Z, fresh = np.split((X - X.mean(axis=0)) / X.std(axis=0), 2)
    vae = _vae.fit(Z, numbers(30), 8, 20, np.random.default_rng(0))
    error = ((rebuilt(vae, fresh) - fresh) ** 2).mean()
    axes = np.linalg.svd(Z, full_matrices=False)[2][:8]
    best = ((fresh - fresh @ axes.T @ axes) ** 2).mean()
    assert best < error < best + 0.02  # the mean alone: 1
    assert vae.encode(Z).std(axis=0).min() > 0.5  # no latent dimension is left unused


def test_numbers_and_categories_are_rebuilt_together_and_given_columns_are_kept():
    train, fresh = mixed(1500), mixed(500, seed=1)
    vae, encoding = _vae.fit(train, MIXED, 2, 20, np.random.default_rng(0)), Encoding(MIXED)
    Z = encoding.encode(fresh)
    rows = encoding.decode(rebuilt(vae, Z))
    np.testing.assert_array_equal(rows[:, [2, 3]], fresh[:, [2, 3]])
    error = ((rows - fresh)[:, [0, 4]] ** 2).mean(axis=0) / fresh[:, [0, 4]].var(axis=0)
    assert error.max() < 0.15
    assert (rows[:, [1, 5]] == fresh[:, [1, 5]]).mean() > 0.9  # the commonest categories alone: below .5


def test_the_decoder_reads_what_it_is_given():
    """With b = age + noise and one latent dimension, other given ages make other values at the same latent point."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=800)
    schema = Schema((Column("age", mutable=False), Column("b")))
    X = np.stack([age, 2 * age + 0.1 * rng.normal(size=800)], axis=1)
    vae = _vae.fit(X, schema, 1, 20, rng)
    ages = np.array([[-1.0, 0.0], [1.0, 0.0]])
    made = vae.decode(np.zeros((2, 1, 1)), ages)[:, 0]
    np.testing.assert_array_equal(made[:, 0], ages[:, 0])
    np.testing.assert_allclose(made[:, 1], [-2, 2], atol=0.3)


def test_the_same_content_gives_the_same_bits_whoever_asks(short):
    data = Dataset(low_rank(80, 5, 2), np.zeros(80, int), numbers(5))
    copy = Dataset(data.X.copy(), np.ones(80, int), numbers(5))
    first, again = _vae.trained(data, data.schema, 2, 4), _vae.trained(copy, copy.schema, 2, 4)
    other = _vae.trained(data.rows(np.arange(79)), data.schema, 2, 4)
    assert not np.array_equal(other.layers[0][0], first.layers[0][0])
    for (W, b), (V, c) in zip(first.layers, again.layers, strict=True):
        np.testing.assert_array_equal(W, V)
        np.testing.assert_array_equal(b, c)


def test_constant_columns_outliers_and_few_rows_stay_finite():
    X = np.random.default_rng(0).standard_cauchy((40, 3)) * 1e6
    X[:, 1] = 1e9
    for rows in (X, X[:1]):
        vae = _vae.fit(rows, numbers(3), 8, 20, np.random.default_rng(0))
        assert np.isfinite(rebuilt(vae, X)).all()
        np.testing.assert_allclose(rebuilt(vae, X)[:, 1], 1e9, rtol=1e-3)


def test_a_wide_table_does_not_diverge(monkeypatch):
    monkeypatch.setattr(_vae, "STEPS", 150)
    monkeypatch.setattr(_vae, "EPOCHS", 1)
    X = low_rank(200, 4000, 4)
    vae = _vae.fit(X, numbers(4000), 4, 20, np.random.default_rng(0))
    assert ((rebuilt(vae, X) - X) ** 2).mean() < 0.5 * X.var()
