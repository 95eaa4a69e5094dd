"""Members found from a released set of counterfactuals alone, with and without a private background.

HELOC; 2,000 members train a forest, 2,000 others were never seen, and counterfactuals of up to 1,600 further people who
are denied are released. The attack ranks candidates by their distance (HEOM) to the nearest released row; the threshold
is that of 1 % false positives, and intervals are over seeds (t). The price is beside it: answered, valid, and
plausibility (distance of released rows to the 5 nearest people of the favourable class among those never seen).
Usage: bench_released_set.py [seeds]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from jali.core import registry
from jali.core.distance import nearest, ranges
from jali.core.explanation import Counterfactual
from jali.core.values import Dataset, Floats
from jali.defend.explain.k_groups import KGroups
from jali.defend.explain.private_background import PrivateBackground
from jali.explain.nice import NICE
from jali.stats.intervals import over_units
from jali.stats.roc import tpr_at

MEMBERS = 2000
PARAMS = "n_estimators=60, min_samples_leaf=3, n_jobs=1"
FOREST = f'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="{PARAMS}")'
PARTS: dict[str, Any] = {
    "nice": NICE(),
    "nice sparse": NICE("sparsity"),
    "private_background(nice, 1)": PrivateBackground(epsilon=1.0),
    "private_background(nice sparse, 1)": PrivateBackground(NICE("sparsity"), epsilon=1.0),
    "k_groups(k=10)": KGroups(),
}


def near(X: Floats, rows: Floats, data: Dataset, k: int) -> Floats:
    """Mean distance of X to the k nearest rows."""
    spans = ranges(data.schema, data.X)
    return np.asarray(nearest(X, rows, data.schema, spans, k)[1].mean(axis=1))


def one(seed: int) -> dict[str, list[float]]:
    data = registry.build("data", "heloc").load()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    train, others = data.rows(order[:MEMBERS]), data.rows(order[MEMBERS : 2 * MEMBERS])
    asked = data.rows(order[2 * MEMBERS : 5 * MEMBERS])
    trainer = registry.build("model", FOREST)
    model = trainer.fit(train, np.ones((MEMBERS, 1), dtype=bool), [rng])[0]
    denied = asked.X[model.logits(asked.X).argmax(axis=1) != data.schema.favourable][:1600]
    good = others.X[model.logits(others.X).argmax(axis=1) == data.schema.favourable]
    out = {}
    for name, part in PARTS.items():
        began = time.process_time()
        found = part.prepare(model, data.schema, train, np.random.default_rng(seed)).explain(denied, rng)
        assert isinstance(found, Counterfactual)
        rows = found.rows[found.found]
        score = -near(np.r_[train.X, others.X], rows, data, 1)
        truth = np.r_[np.ones(MEMBERS, bool), np.zeros(len(others), bool)]
        valid = (model.logits(rows).argmax(axis=1) == data.schema.favourable).mean()
        plausible = near(rows, good, data, 5).mean()
        spent = time.process_time() - began
        out[name] = [tpr_at(score, truth, 0.01), found.found.mean(), valid, plausible, spent]
    return out


def main(seeds: int) -> None:
    runs = [one(seed) for seed in range(seeds)]
    print(f"{'released':<38}TPR at 1 % FPR (95 %)     answered valid plausibility seconds")
    native = np.mean([run["nice"][3] for run in runs])
    for name in PARTS:
        _, answered, valid, plausible, spent = np.mean([run[name] for run in runs], axis=0)
        found = over_units(np.array([run[name][0] for run in runs]))
        share = plausible / native
        attack = f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        print(f"{name:<38}{attack:<25}{answered:.3f} {valid:.3f} {share:.2f} x native {spent:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
