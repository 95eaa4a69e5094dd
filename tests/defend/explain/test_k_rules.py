"""No rule, leaf or count of a surrogate speaks of fewer than k people."""

from __future__ import annotations

import numpy as np
import pytest

from jali.anonymity.grid import people_with
from jali.anonymity.measures import people
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.defend.explain.k_rules import KRules
from jali.models.logistic import Logistic
from jali.text.rules import AtLeast, hits, published

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 45, 15, known="observed"),
        Column("income", "number", 0, 400, 50, 25, known="observed"),
        Column("job", "category", categories=("a", "b", "c", "d")),
    ),
    favourable=1,
)


def crowd(n: int, seed: int, groups: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    X = np.stack(
        [rng.integers(18, 91, n), np.round(rng.lognormal(3.8, 0.6, n), 1), rng.choice(4, n, p=[0.5, 0.3, 0.19, 0.01])],
        1,
    )
    y = (X[:, 1] / 25 + X[:, 2] + rng.normal(size=n) > 3).astype(int)
    return Dataset(X, y, SCHEMA, rng.integers(0, n // 2, n) if groups else None)


def made(inner: str, k: int, seed: int, groups: bool = False):
    data = crowd(300, seed, groups)
    model = Logistic().fit(data, np.ones((300, 1), bool), [np.random.default_rng(0)])[0]
    part = KRules(registry.build("explain", inner), k)
    return (
        data,
        model,
        part.prepare(model, SCHEMA, data, np.random.default_rng(seed)).explain(data.X[:4], np.random.default_rng(seed)),
    )


@pytest.mark.parametrize(
    "inner", ["tree_surrogate(depth=8)", "trepan(sample=300, size=15)", "lore(samples=200, generations=3)"]
)
@pytest.mark.parametrize("groups", [False, True])
def test_every_rule_covers_k_people_and_no_bound_is_one_persons(inner, groups):
    for seed in range(4):
        data, _, surrogate = made(inner, 10, seed, groups)
        rules = published(surrogate)
        assert rules
        for rule in rules:
            assert people(rule.covers(data.X)[None], data)[0] >= 10
            terms = [t for c in rule.premise for t in (c.terms if isinstance(c, AtLeast) else (c,))]
            for term in terms:
                value, count = people_with(data.X[:, term.column], data.group_numbers())
                assert term.codes is not None or not {term.low, term.high} & set(value[count == 1])
        for model in surrogate.models:
            share = np.exp(model.logits(data.X[:50]))
            np.testing.assert_allclose(share * 20, np.round(share * 20), atol=1e-6)


def test_fidelity_is_the_price():
    data, model, surrogate = made("tree_surrogate(depth=8)", 10, 0)
    others = crowd(300, 50)
    plain = registry.build("explain", "tree_surrogate(depth=8)")
    rng = np.random.default_rng(0)
    before = plain.prepare(model, SCHEMA, data, rng).explain(others.X, rng)
    cut = KRules(plain).prepare(model, SCHEMA, data, rng).explain(others.X, rng)
    assert 0.8 < hits(cut, model, others.X).mean() <= hits(before, model, others.X).mean() + 0.03
    assert len(cut.models[0].rules()) < len(before.models[0].rules())
    assert len(surrogate.models) == 1


def test_mistakes_are_one_sentence():
    with pytest.raises(JaliError, match="at least 2"):
        KRules(k=1)
    with pytest.raises(JaliError, match="cuts back surrogates"):
        KRules(registry.build("explain", "nice"))
    with pytest.raises(JaliError, match="pass them as train"):
        KRules().prepare(None, SCHEMA, None, np.random.default_rng(0))
    few = crowd(30, 0)
    with pytest.raises(JaliError, match="k = 31 is more than the 30 people"):
        KRules(k=31).prepare(None, SCHEMA, few, np.random.default_rng(0))
    twice = Dataset(few.X, few.y, SCHEMA, np.arange(30) // 2)
    with pytest.raises(JaliError, match="k = 16 is more than the 15 people"):
        KRules(k=16).prepare(None, SCHEMA, twice, np.random.default_rng(0))


def test_a_question_gets_one_rule_however_often_and_in_whatever_company_it_is_asked():
    """Rules drawn anew for the same record each cover k people, but what they have in common may not."""
    data = crowd(300, 0)
    model = Logistic().fit(data, np.ones((300, 1), bool), [np.random.default_rng(0)])[0]
    part = KRules(registry.build("explain", "lore(samples=100, generations=2)"))
    ready = part.prepare(model, SCHEMA, data, np.random.default_rng(0))
    X = crowd(6, 9).X
    together = ready.explain(X, np.random.default_rng(1))
    for i in (0, 5):
        alone = ready.explain(X[i : i + 1], np.random.default_rng(2 + i))
        assert alone.models[0].rules() == together.models[together.which[i]].rules()
    assert ready.explain(X[:0], np.random.default_rng(0)).which.shape == (0,)
