"""Rules that speak of fewer than k people, before and after `k_rules`, in many surrogates; the price is fidelity.

Lending, 600 training people and a forest for each seed; surrogates are tree_surrogate, trepan (one each) and lore (one
for each of four people). Rules are counted row by row. Usage: bench_k_rules.py [seeds]
"""

from __future__ import annotations

import sys

import numpy as np

from jali.core import registry
from jali.core.explanation import Surrogate
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats
from jali.defend.explain.k_rules import KRules
from jali.text.rules import hits, published, support

K = 10
PARTS = ("tree_surrogate(depth=8)", "trepan(sample=600)", "lore(samples=300, generations=3)")
PARAMS = "n_estimators=10, max_depth=6, n_jobs=1"
FOREST = f'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="{PARAMS}")'


def main(seeds: int) -> None:
    lines = {name: np.zeros(7) for name in PARTS}
    for seed in range(seeds):
        data = registry.build("data", f"lending(n=1000, seed={seed})").load()
        train, others = data.rows(np.arange(600)), data.rows(np.arange(600, 1000))
        member = np.ones((600, 1), dtype=bool)
        model = registry.build("model", FOREST).fit(train, member, [np.random.default_rng(seed)])[0]
        for name in PARTS:
            asked = others.X[:4] if name.startswith("lore") else others.X
            lines[name] += counted(name, model, train, asked, seed)
    for name, (made, rules, few, before, cut, still, after) in lines.items():
        print(f"{name}: {made:.0f} surrogates; {few:.0f} of {rules:.0f} rules below {K} people")
        print(f"  k_rules: {still:.0f} of {cut:.0f}; fidelity {before / seeds:.3f}, then {after / seeds:.3f}")


def counted(name: str, model: Model, train: Dataset, X: Floats, seed: int) -> Floats:
    inner = registry.build("explain", name)
    found = []
    for part in (inner, KRules(inner, K)):
        rng = np.random.default_rng(seed)
        made = part.prepare(model, train.schema, train, rng).explain(X, rng)
        assert isinstance(made, Surrogate)
        covered = support(published(made), train.X)
        found += [len(made.models), len(covered), int((covered < K).sum()), hits(made, model, X).mean()]
    return np.array([found[0], *found[1:4], *found[5:8]])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 170)
