"""Coarser answers, one answer per question, and nothing more than that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution
from jali.core.values import Column, Dataset, Schema
from jali.defend._keys import FRESH
from jali.defend.explain.hardened import Hardened
from jali.defend.explain.k_groups import KGroups
from jali.defend.explain.private_background import PrivateBackground
from jali.explain.lime import Lime
from jali.explain.linear_recourse import LinearRecourse
from jali.explain.nice import NICE
from jali.explain.trepan import Trepan
from jali.models.fitted.linear import LinearModel

SCHEMA = Schema(
    (Column("a", low=-10, high=10, spread=2), Column("b", "integer", -10, 10, 0, 3), Column("c", mutable=False)),
    favourable=1,
)
MODEL = LinearModel(Encoding(SCHEMA), np.array([[0.0, 2.0], [0.0, 1.0], [0.0, 0.3]]), np.zeros(2))


def rows(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(-1, 2, n), rng.integers(-5, 5, n), rng.normal(size=n)], axis=1)


def explained(part, X, seed=0, train=None):
    return part.prepare(MODEL, SCHEMA, train, np.random.default_rng(1)).explain(X, np.random.default_rng(seed))


def test_normalised_attributions_have_no_size():
    """The L1 norm of the answer is the same for everybody, so an attack on it has nothing to read."""
    X = rows() + np.array([20, 0, 0])  # all of the class whose score the columns move
    out = explained(Hardened(Lime(samples=50), normalise=True), X)
    np.testing.assert_allclose(np.abs(out.value).sum(axis=1), 1.0)


def test_top_and_round_by_hand():
    ready = Hardened(Lime(samples=50), round=1, top=1).prepare(MODEL, SCHEMA, None, np.random.default_rng(0))
    out = ready.part_of_attributions(np.array([[0.123, -4.56, 0.4], [7.0, 1.0, -6.9]]))
    np.testing.assert_allclose(out, [[0, -5, 0], [7, 0, 0]])
    assert isinstance(explained(Lime(samples=10), rows()), Attribution)


def test_keyed_answers_are_the_same_bit_for_bit_and_without_a_key_averaging_gains():
    X = rows(4) + np.array([20, 0, 0])
    plain = [explained(Lime(samples=20), X, seed).value for seed in range(64)]
    keyed = [explained(Hardened(Lime(samples=20), keyed=FRESH), X, seed).value for seed in range(64)]
    assert all(np.array_equal(keyed[0], other) for other in keyed)
    alone = explained(Hardened(Lime(samples=20), keyed=FRESH), X[2:3]).value
    np.testing.assert_array_equal(alone, keyed[0][2:3])
    assert np.std(plain, axis=0).max() > 1e-3
    other = explained(Hardened(Lime(samples=20), keyed=FRESH), X + 1e-9).value
    assert not np.array_equal(other, keyed[0])


def test_snapped_rows_are_on_the_grid_further_out_and_valid():
    X = rows(60)
    plain = explained(LinearRecourse(), X)
    out = explained(Hardened(LinearRecourse(), snap=0.25), X)
    some = out.found
    assert some.sum() > 10
    moved = some & (out.rows[:, 0] != X[:, 0])
    np.testing.assert_allclose(out.rows[moved, 0] % 0.5, 0, atol=1e-9)
    assert (np.abs(out.rows - X)[some] >= np.abs(plain.rows - X)[some] - 1e-9).all()
    np.testing.assert_array_equal(out.rows[:, 2], X[:, 2])
    assert (MODEL.logits(out.rows[some]).argmax(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("part", "what"),
    [
        (lambda: Hardened(top=-1), "0 or more"),
        (lambda: Hardened(keyed="/nowhere.key").prepare(MODEL, SCHEMA, data(), None), "cannot read the key"),
        (lambda: Hardened(Trepan()).prepare(MODEL, SCHEMA, data(), None), "k_rules"),
        (lambda: PrivateBackground(epsilon=0.0), "epsilon must be positive"),
        (lambda: PrivateBackground(bins=1), "at least 2"),
        (lambda: PrivateBackground().prepare(MODEL, SCHEMA, None, None), "pass them as train"),
        (lambda: PrivateBackground().prepare(MODEL, SCHEMA, data(), np.random.default_rng(0)), "declared bounds"),
    ],
)
def test_mistakes_are_one_sentence(part, what):
    with pytest.raises(JaliError, match=what):
        part()


def data(schema=SCHEMA):
    X = rows(400, 3)
    return Dataset(X, MODEL.logits(X).argmax(axis=1), schema)


BOUNDED = Schema((*SCHEMA.columns[:2], Column("c", low=-5, high=5)), favourable=1)


def test_synthetic_rows_are_nobodys_and_resemble_the_columns():
    train = Dataset(np.clip(rows(4000, 3), [-10, -10, -5], [10, 10, 5]), np.zeros(4000, int), BOUNDED)
    made = PrivateBackground(epsilon=4.0).synthetic(MODEL, BOUNDED, train, np.random.default_rng(0))
    assert not (made.X[:, None, [0, 2]] == train.X[None, :200, [0, 2]]).any()
    np.testing.assert_allclose(made.X.mean(axis=0), train.X.mean(axis=0), atol=0.4)
    np.testing.assert_array_equal(made.y, MODEL.logits(made.X).argmax(axis=1))


def test_the_noise_has_the_variance_that_the_proof_needs():
    """D tables of l2 sensitivity sqrt(2) each: rho = 2 D / (2 variance)."""
    from jali.defend._dp.histograms import private_histograms
    from jali.privacy.discrete_noise import zcdp_for
    from jali.privacy.mechanisms import recording

    train = Dataset(np.clip(rows(50, 3), [-10, -10, -5], [10, 10, 5]), np.zeros(50, int), BOUNDED)
    with recording() as tape:
        private_histograms("x", train, 1.0, 1e-6, 10, np.random.default_rng(0))
    assert [name for name, _, _ in tape.releases] == ["private histogram"] * 3
    for _, constants, _ in tape.releases:
        assert 2 * 3 / (2 * constants["variance"]) == pytest.approx(zcdp_for(1.0, 1e-6), rel=1e-6)
    empty = Dataset(train.X[:0], train.y[:0], BOUNDED)
    noise = []
    with recording() as tape:
        for seed in range(8):
            private_histograms("x", empty, 1.0, 1e-6, 10, np.random.default_rng(seed))
    noise = np.concatenate([value.ravel() for _, _, value in tape.releases])
    variance = tape.releases[0][1]["variance"]
    assert noise.var() == pytest.approx(variance, rel=0.25)


def test_donors_are_no_training_rows():
    train = Dataset(np.clip(rows(500, 3), [-10, -10, -5], [10, 10, 5]), np.zeros(500, int), BOUNDED)
    X = np.clip(rows(50, 9), [-10, -10, -5], [10, 10, 5])
    rng = np.random.default_rng(0)
    plain = NICE().prepare(MODEL, BOUNDED, train, rng).explain(X, rng)
    out = PrivateBackground().prepare(MODEL, BOUNDED, train, rng).explain(X, rng)
    held = {row.tobytes() for row in train.X}
    assert all(row.tobytes() in held for row in plain.rows[plain.found])
    assert not any(row.tobytes() in held for row in out.rows[out.found])
    assert (MODEL.logits(out.rows[out.found]).argmax(axis=1) == 1).all()
    assert PrivateBackground().claim_about_rows(BOUNDED).void == ""


def test_places_among_synthetic_rows_are_no_places_among_training_rows():
    """An audit would take them for the people whom an answer shows."""
    schema = replace(SCHEMA, columns=tuple(replace(c, low=-10, high=10, mutable=True) for c in SCHEMA.columns))
    model = LinearModel(Encoding(schema), MODEL.coef, MODEL.intercept)
    train = Dataset(np.clip(rows(300), -10, 10), np.arange(300) % 2, schema)
    rng = np.random.default_rng(0)
    found = PrivateBackground(NICE(), epsilon=1.0).prepare(model, schema, train, rng).explain(rows(), rng)
    assert found.found.any()
    assert found.origin is None
    assert Hardened(NICE(), snap=0.5).prepare(model, schema, train, rng).explain(rows(), rng).origin is not None


def test_regions_stay_regions_with_a_key():
    train = Dataset(np.clip(rows(300), -10, 10), np.arange(300) % 2, SCHEMA)
    plain = explained(KGroups(k=5), rows(), train=train)
    keyed = explained(Hardened(KGroups(k=5), keyed=FRESH), rows(), train=train)
    np.testing.assert_array_equal(plain.found, keyed.found)
    np.testing.assert_array_equal(plain.regions.low, keyed.regions.low)
