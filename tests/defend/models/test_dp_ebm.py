"""Private boosting: its claim, its exact terms, and its use as a protected model."""

from __future__ import annotations

import numpy as np
import pytest

import jali
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.defend.models.dp_ebm import DPEBM
from jali.privacy.byte_sources import SystemRandom
from tests.protect.people import DECLARED, trained


def test_its_claim_needs_declared_bounds_and_classes():
    assert not DPEBM(1.0).guarantee(Schema((Column("a", low=0, high=1),))).void
    assert DPEBM(1.0).guarantee(Schema((Column("a", low=0, high=1, known="observed"),))).void
    with pytest.raises(JaliError, match="epsilon"):
        DPEBM(0.0)
    with pytest.raises(JaliError, match="rounds at least 1"):
        DPEBM(1.0, rounds=0)


def test_terms_add_up_and_noise_is_new_in_a_release():
    pytest.importorskip("interpret", reason="the extra jali-audit[glassbox] is not installed")
    rng = np.random.default_rng(0)
    schema = Schema((Column("a", low=-3, high=3), Column("b", "category", categories=("x", "y"))), favourable=1)
    X = np.stack([np.clip(rng.normal(size=2000), -3, 3), rng.integers(0, 2, 2000)], axis=1)
    data = Dataset(X, (X[:, 0] + X[:, 1] > 0.5).astype(int), schema)
    member = np.ones((2000, 1), dtype=bool)
    model = DPEBM(8.0, rounds=50).fit(data, member, [SystemRandom()])[0]
    other = DPEBM(8.0, rounds=50).fit(data, member, [SystemRandom()])[0]
    assert (model.logits(X).argmax(axis=1) == data.y).mean() > 0.9
    assert not np.array_equal(model.logits(X), other.logits(X))
    score = model.logits(X)
    np.testing.assert_allclose(score[:, 1] - score[:, 0], model.estimator.decision_function(model.feed(X)), atol=1e-9)


def test_a_protected_explainer_of_it():
    pytest.importorskip("interpret", reason="the extra jali-audit[glassbox] is not installed")
    train, (others, _), _ = trained()
    protected = jali.protect(None, train, "dp_ebm(epsilon=8.0, rounds=30)", **DECLARED)
    assert protected.guarantee.epsilon == 8.0
    assert not protected.guarantee.void
    told = [a for a in protected.explain(others[:30]) if a.row]
    assert told
    assert set(protected.predict([a.row for a in told])) == {"yes"}
