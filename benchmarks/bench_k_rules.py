"""Rules that speak of fewer than k people, before and after `k_rules`, in many surrogates; the price is fidelity.

`rules`: lending, 600 training people and a forest for each seed; surrogates are tree_surrogate, trepan (one each) and
lore (one for each of four people). Rules are counted row by row, and so are the bits that they leave open about the
training rows (trees: all leaves with their counts; lore: the rule of each person with its count).
`attacks`: those of Naretto et al. (shokri_mia, label_only, aloa) on the black box, the surrogates and the surrogates
that were cut back, on Adult; AUC over target models, and fidelity on the rows that are explained.
Usage: bench_k_rules.py rules [seeds], or bench_k_rules.py attacks [people] [folds]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from jali.audit.all_models import gather
from jali.audit.attack_run_rows import rows_of_run
from jali.audit.attack_runs import AttackRun
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.explanation import Surrogate
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats
from jali.defend.explain.k_rules import KRules
from jali.text.bits_left import bits_left
from jali.text.rules import Readable, hits, published, support

K = 10
PARTS = ("tree_surrogate(depth=8)", "trepan(sample=600)", "lore(samples=300, generations=3)")
FOREST = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="{}")'
SMALL = FOREST.format("n_estimators=10, max_depth=6, n_jobs=1")
BLACK_BOX = FOREST.format("n_estimators=50, n_jobs=1")
SHADOW = f"shadow={FOREST.format('n_estimators=20, n_jobs=1')}"
JUDGE = FOREST.format("n_estimators=50, min_samples_leaf=20, n_jobs=1")
ATTACKS = {
    "MIA": f'shokri_mia(reference="predicted", attack={JUDGE}, {SHADOW})',
    "LO": f"label_only({SHADOW}, perturbations=200)",
    "ALOA": f"aloa({SHADOW}, perturbations=200)",
}
EXPLAINED = ("trepan", 'tree_surrogate(depth=10, labels="true")')
LOCAL = "lore(samples=300)"


def rules(seeds: int) -> bool:
    lines = {name: np.zeros(11) for name in PARTS}
    for seed in range(seeds):
        data = registry.build("data", f"lending(n=1000, seed={seed})").load()
        train, others = data.rows(np.arange(600)), data.rows(np.arange(600, 1000))
        member = np.ones((600, 1), dtype=bool)
        model = registry.build("model", SMALL).fit(train, member, [np.random.default_rng(seed)])[0]
        for name in PARTS:
            asked = others.X[:4] if name.startswith("lore") else others.X
            lines[name] += counted(name, model, train, asked, seed)
    for name, (made, *both) in lines.items():
        before, after = np.reshape(both, (2, 5))
        print(f"{name}: {made:.0f} surrogates")
        for label, (many, few, true, left, least) in (("as they are", before), ("k_rules", after)):
            told = f"fidelity {true / seeds:.3f}, bits left {left / seeds:.4f}, about one person {least / seeds:.4f}"
            print(f"  {label}: {few:.0f} of {many:.0f} rules below {K} people; {told}", flush=True)
    return not sum(line[7] for line in lines.values())


def counted(name: str, model: Model, train: Dataset, X: Floats, seed: int) -> Floats:
    """Surrogates; and before and after: rules, those below K people, fidelity, bits left (mean and least)."""
    inner = registry.build("explain", name)
    found: list[float] = []
    for part in (inner, KRules(inner, K)):
        rng = np.random.default_rng(seed)
        made = part.prepare(model, train.schema, train, rng).explain(X, rng)
        assert isinstance(made, Surrogate)
        covered = support(published(made), train.X)
        left = [one_left(each, train, name.startswith("lore")) for each in made.models]
        few = int((covered < K).sum())
        found += [len(covered), few, float(hits(made, model, X).mean()), *np.mean(left, axis=0)]
    return np.array([len(made.models), *found])


def one_left(model: Model, train: Dataset, local: bool) -> tuple[float, float]:
    """The bits that one surrogate leaves open on average and least of all; of a local one, its rule for the person."""
    assert isinstance(model, Readable)
    shown = model.rules()[:1] if local else model.rules()
    left = bits_left(shown, train.X, train.schema)
    return float(left.mean()), float(left.min())


def attacks(people: int, folds: int) -> bool:
    surrogates = [registry.build("explain", text) for text in EXPLAINED]
    local = registry.build("explain", LOCAL)
    noise = registry.build("knowledge", "noise")
    runs = []
    asked: list[Any] = [None, *(each for s in surrogates for each in (s, KRules(s, K)))]
    for text in ATTACKS.values():
        for part in asked:
            runs.append(AttackRun(registry.build("query_attack", text), noise, part))
    vote = registry.build("query_attack", f'vote({ATTACKS["ALOA"]}, select="threshold", each=2)')
    both: list[Any] = [local, KRules(local, K)]
    runs += [AttackRun(vote, noise, part) for part in both]
    data = registry.build("data", f'without(sample(adult, n={people}), ["fnlwgt"])')
    game = registry.build("game", f"folds(k={folds}, shadows=0)")
    setup = load(Experiment(data, registry.build("model", BLACK_BOX), game, runs=tuple(runs)))
    began = time.process_time()
    found = gather(setup, Resources())
    print(f"{people} people, {len(setup.game.targets)} targets, {time.process_time() - began:.0f} CPU seconds")
    for run in runs:
        rows = rows_of_run(found.record(run), setup.game, lambda: np.random.default_rng(0))
        shown = {row.metric: row for row in rows if row.metric in ("auc", "tpr@0.01", "fidelity", "rules_below_10")}
        told = "; ".join(f"{n} {_number(r)}" for n, r in shown.items()) or str(rows[0])
        label = run.queried or "the black box"
        print(f"{registry.name_of(run.attack):<12}{label:<60}{told}", flush=True)
    return True


def _number(row: object) -> str:
    value, low, high = (getattr(row, name) for name in ("value", "low", "high"))
    return "none" if value is None else f"{value:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["rules"]
    sizes = [int(text) for text in numbers]
    done = rules(*(sizes or [170])) if what == "rules" else attacks(*(sizes or [2000, 4]))
    sys.exit(0 if done else 1)
