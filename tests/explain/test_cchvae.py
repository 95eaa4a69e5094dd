from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.explain import cchvae
from jali.explain._recourse import vae as _vae
from jali.explain.cchvae import CCHVAE
from jali.explain.linear_recourse import LinearRecourse
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from jali.models.logistic import Logistic
from tests.explaining import explained

PART = CCHVAE(latent=3)
TRAINED = _vae.trained
FREE = Schema(tuple(Column(f"x{j}") for j in range(8)), favourable=1)


@pytest.fixture(autouse=True)
def _each_autoencoder_is_trained_once(monkeypatch):
    """It depends on its table and size alone, so the tests of this module share it."""
    monkeypatch.setattr(_vae, "trained", autoencoder)


KEPT: dict[tuple, _vae.VAE] = {}


def autoencoder(train, schema, latent, hidden):
    key = train.X.tobytes(), schema, latent, hidden
    if key not in KEPT:
        KEPT[key] = TRAINED(train, schema, latent, hidden)
    return KEPT[key]


@functools.cache
def curved(n: int = 800) -> Dataset:
    """A surface of two dimensions bent through eight, with two classes on it."""
    rng = np.random.default_rng(0)
    s, t = rng.uniform(-1, 1, (2, n))
    X = np.stack([s, t, s**2, t**2, s * t, np.sin(3 * s), np.cos(3 * t), s - t], axis=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 0.02 * rng.normal(size=X.shape)
    return Dataset(X, s + t + 0.2 * rng.normal(size=n) > 0, FREE)


@functools.cache
def network() -> Network:
    """A network of one hidden layer, whose last layer is fitted to the curved table by least squares."""
    rng, data = np.random.default_rng(1), curved()
    W, b = rng.normal(size=(8, 60)), rng.normal(size=60)
    H = np.maximum(data.X @ W + b, 0)
    out = np.linalg.lstsq(np.column_stack([H, np.ones(len(H))]), 2.0 * data.y - 1, rcond=None)[0]
    last = np.stack([-out, out], axis=1)
    return Network(Encoding(FREE), (W, last[:-1]), (b, last[-1]))


def fitted(spec: str):
    data = curved()
    return registry.build("model", spec).fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]


def forest():
    return fitted('sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=20")')


def ask(model, X, part=PART, data=None, schema=FREE, seed=0):
    return explained(part, model, X, schema, data or curved(), np.random.default_rng(seed))


def implausible(rows, data) -> float:
    """Mean distance to the five nearest training rows of the favourable class."""
    good = data.X[data.y == 1]
    return float(np.sort(np.linalg.norm(rows[:, None] - good, axis=2), axis=1)[:, :5].mean())


def anywhere(model, X, rng):
    """The nearest of random points on spheres that grow until each record has a valid one."""
    rows, left = X.copy(), np.arange(len(X))
    radius = 0.0
    while len(left):
        radius, way = radius + 0.1, rng.normal(size=(200, X.shape[1]))
        points = X[left][:, None] + radius * way / np.linalg.norm(way, axis=1, keepdims=True)
        good = model.logits(points.reshape(-1, X.shape[1])).argmax(axis=1).reshape(len(left), -1) == 1
        hit = good.any(axis=1)
        rows[left[hit]] = points[hit, good.argmax(axis=1)[hit]]
        left = left[~hit]
    return rows


@pytest.mark.parametrize("make", [lambda: fitted("logistic"), network, forest], ids=["logistic", "network", "forest"])
def test_found_for_almost_everybody_valid_and_nearer_to_people_than_a_search_in_the_open(make):
    model, data = make(), curved()
    X = data.X[:200]
    out, denied = ask(model, X), model.logits(X).argmax(axis=1) == 0
    assert out.found[denied].mean() > 0.95
    assert not out.found[~denied].any()
    assert (model.logits(out.rows[out.found]).argmax(axis=1) == 1).all()
    np.testing.assert_array_equal(out.rows[~out.found], X[~out.found])
    open_search = anywhere(model, X[out.found], np.random.default_rng(0))
    assert implausible(out.rows[out.found], data) < 0.8 * implausible(open_search, data)


def test_nearer_to_people_than_the_nearest_row_of_a_linear_model():
    model, data = fitted("logistic"), curved()
    X = data.X[:200]
    out, nearest = ask(model, X), explained(LinearRecourse(), model, X, FREE, None, np.random.default_rng(0))
    both = out.found & nearest.found
    assert implausible(out.rows[both], data) < 0.8 * implausible(nearest.rows[both], data)
    cost = [np.linalg.norm(r[both] - X[both], axis=1) for r in (out.rows, nearest.rows)]
    assert (cost[0] > cost[1] - 1e-9).all()  # nothing is nearer than the closed form


def test_the_search_against_brute_force_over_every_move():
    """Decode every move of every shell for every record; the answer is the nearest valid one of the first shell."""
    part, model, data = CCHVAE(latent=3, samples=20, step=0.2, shells=15), network(), curved()
    X = data.X[:40][model.logits(data.X[:40]).argmax(axis=1) == 0]
    out, vae = ask(model, X, part), _vae.trained(data, FREE, 3, 20)
    moves = part._moves(np.random.default_rng(0))
    for x, row, found in zip(X, out.rows, out.found, strict=True):
        answer = x
        for shell in moves:
            rows = vae.decode(vae.encode(x[None])[:, None] + shell, x[None])[0]
            rows = rows[model.logits(rows).argmax(axis=1) == 1]
            if len(rows):
                answer = rows[np.abs(rows - x).sum(axis=1).argmin()]
                break
        assert found == (answer is not x)
        np.testing.assert_allclose(row, answer, atol=1e-9)


def test_moves_fill_their_shells_evenly():
    moves = CCHVAE(latent=4, samples=5000, step=0.5, shells=3)._moves(np.random.default_rng(0))
    radius = np.linalg.norm(moves, axis=2)
    for k in range(3):
        assert (radius[k] >= 0.5 * k).all()
        assert (radius[k] <= 0.5 * (k + 1)).all()
        assert radius[k].mean() == pytest.approx(0.5 * k + 0.25, abs=0.01)
    np.testing.assert_allclose((moves / radius[:, :, None]).mean(axis=(0, 1)), 0, atol=0.02)


def test_one_record_alone_has_the_answer_it_has_among_others(monkeypatch):
    model, X = network(), curved().X[:60]
    together = ask(model, X)
    for i in np.flatnonzero(together.found)[:8]:
        np.testing.assert_allclose(ask(model, X[i : i + 1]).rows[0], together.rows[i], atol=1e-9)
    monkeypatch.setattr(cchvae, "CANDIDATES", 300)
    np.testing.assert_allclose(ask(model, X).rows, together.rows, atol=1e-9)


def test_tiles_share_one_autoencoder_that_does_not_depend_on_who_asks_first(monkeypatch):
    model, X, answers, fitted = network(), curved().X[:40], [], []
    monkeypatch.setattr(_vae, "trained", TRAINED)
    monkeypatch.setattr(_vae, "STEPS", 100)
    monkeypatch.setattr(_vae, "EPOCHS", 1)
    monkeypatch.setattr(_vae, "fit", lambda *a, real=_vae.fit: fitted.append(1) or real(*a))
    for order in ((0, 1), (1, 0)):
        ready = CCHVAE().prepare(model, FREE, curved(), np.random.default_rng(order[0]))
        tiles = {t: ready.explain(X[20 * t : 20 * t + 20], np.random.default_rng(t)).rows for t in order}
        answers.append(np.concatenate([tiles[0], tiles[1]]))
    assert len(fitted) == 2
    np.testing.assert_array_equal(*answers)


def mixed() -> tuple[Dataset, LinearModel]:
    schema = Schema(
        (
            Column("age", "integer", 18, 90, 45, 15, mutable=False),
            Column("sex", "category", categories=("f", "m"), mutable=False),
            Column("income", "number", 0, 100, 50, 20),
            Column("lines", "integer", 0, 12, 4, 3),
            Column("job", "category", categories=("a", "b", "c")),
        )
    )
    rng = np.random.default_rng(0)
    skill, age, sex = rng.normal(size=400), rng.integers(18, 91, 400), rng.integers(0, 2, 400)
    income, lines = (50 + 20 * skill).clip(0, 100), np.rint(4 + 3 * skill + rng.normal(size=400)).clip(0, 12)
    X = np.stack([age, sex, income, lines, np.digitize(skill, [-0.5, 0.5])], axis=1).astype(float)
    data = Dataset(X, skill > 0, schema)
    return data, Logistic().fit(data, np.ones((400, 1), bool), [rng])[0]


def test_mixed_columns_stay_legal_and_without_a_favourable_class_everybody_asks():
    data, model = mixed()
    X = data.X[:80].copy()
    X[:, 0] += 0.5  # an immutable value the schema would round is left as it is
    out = ask(model, X, CCHVAE(latent=2), data, data.schema)
    before, after = model.logits(X).argmax(axis=1), model.logits(out.rows).argmax(axis=1)
    assert out.found.mean() > 0.95
    assert (before != after)[out.found].all()
    np.testing.assert_array_equal(out.rows[:, :2], X[:, :2])
    np.testing.assert_array_equal(out.rows[:, 3:], np.rint(out.rows[:, 3:]))
    assert (out.rows[:, 2:4].min(axis=0) >= 0).all()
    assert (out.rows[:, 2:4].max(axis=0) <= [100, 12]).all()
    assert (out.rows[:, 4] != X[:, 4]).any()


def test_nothing_to_change_nobody_denied_and_nothing_in_reach_are_said():
    data, model = mixed()
    fixed = Schema(tuple(dataclasses.replace(c, mutable=False) for c in data.schema.columns), favourable=1)
    assert not ask(model, data.X, CCHVAE(), data, fixed).found.any()
    for bias in (-1e6, 1e6):
        sure = LinearModel(model.encoding, np.zeros_like(model.coef), np.array([0.0, bias]))
        schema = dataclasses.replace(data.schema, favourable=1)
        out = ask(sure, data.X[:30], CCHVAE(latent=2, samples=10, shells=5), data, schema)
        assert not out.found.any()
        np.testing.assert_array_equal(out.rows, data.X[:30])


def test_no_records_no_answers():
    assert len(ask(network(), curved().X[:0]).found) == 0


def test_the_training_set_is_required():
    nobody = curved().rows(np.zeros(800, dtype=bool))
    for train in (None, nobody):
        with pytest.raises(JaliError, match="reads the training set"):
            explained(CCHVAE(), network(), curved().X[:2], FREE, train, np.random.default_rng(0))


def test_fields_must_be_positive():
    for wrong in (CCHVAE(latent=0), CCHVAE(step=0.0), CCHVAE(shells=-1)):
        with pytest.raises(JaliError, match="must be positive"):
            ask(network(), curved().X[:2], wrong)
