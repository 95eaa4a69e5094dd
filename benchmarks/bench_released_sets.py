"""Membership from a released set of counterfactuals, from CSV files alone: Adult and HELOC, and ranks beside DOMIAS.

python benchmarks/bench_released_sets.py [--seeds 3]; needs JALI_DATA. With the `domias` package on the path (it wants
torch), ranks of its three distance scores are compared with ours on the same arrays.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from jali.api import attack_released
from jali.audit.released_sets.scores import scores
from jali.audit.released_sets.spaces import SquaredEuclidean
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.values import Column, Dataset, Schema
from jali.data.tables import frames

FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=100")'
EXPLAINERS = (
    ("nearest unlike neighbour", FOREST, 'nice(immutable="free")'),
    ("the same, sparse", FOREST, 'nice("sparsity", immutable="free")'),
    ("linear recourse", "logistic", "linear_recourse"),
)
MEMBERS = 2000
RELEASED = 1600  # at most: about as many denied people asked


def made(data: Dataset, model: str, explainer: str, seed: int, folder: Path) -> None:
    """Write the three files of a released set: counterfactuals, candidates with their membership, and a reference."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    member, other, reference = (order[i * MEMBERS : (i + 1) * MEMBERS] for i in range(3))
    asked = order[3 * MEMBERS :]
    trained = np.isin(np.arange(len(data)), member)[:, None]
    fitted = registry.build("model", model).fit(data, trained, [rng])[0]
    part = registry.build("explain", explainer)
    ready = part.prepare(fitted, data.schema, data.rows(member) if part.reads_training_data else None, rng)
    given = ready.explain(data.X[asked[: 2 * RELEASED]], rng)
    released = given.rows[given.found][:RELEASED]
    both = np.r_[member, other]
    people = frames.frame(data.X[both], data.schema)
    people["outcome"] = np.array(data.schema.classes)[data.y[both]]
    people["member"] = np.repeat([1, 0], MEMBERS)
    frames.frame(released, data.schema).to_csv(folder / "cfs.csv", index=False)
    people.to_csv(folder / "people.csv", index=False)
    frames.frame(data.X[reference], data.schema).to_csv(folder / "population.csv", index=False)


def study(name: str, seeds: int) -> None:
    """Print rates with intervals for one data set."""
    data = registry.build("data", name).load()
    favourable = data.schema.classes[data.schema.favourable or 0]
    for label, model, explainer in EXPLAINERS:
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                made(data, model, explainer, seed, Path(folder))
                files = [f"{folder}/{f}.csv" for f in ("cfs", "people", "population")]
                began = time.process_time()
                found = attack_released(*files, member="member", target="outcome", favourable=favourable).results
                spent = time.process_time() - began
            for attack in ("distance", "calibrated", "partial_copy"):
                rows = {
                    (r.group, r.metric): f"{r.value:.3f} [{r.low:.3f}, {r.high:.3f}]"
                    for r in found.rows
                    if r.attack == attack and r.value is not None
                }
                shown = "  ".join(
                    f"{who} AUC {rows.get((group, 'auc'))} TPR@1% {rows.get((group, 'tpr@0.01'))}"
                    for who, group in (("all", ""), ("favourable", favourable))
                )
                print(f"{name:6} {label:25} seed {seed} {attack:13} {shown}")
            curve = ", ".join(f"{c.released}: {c.rate.value:.3f}" for c in found.coverage if c.rate.value is not None)
            print(f"       released {found.facts['released rows']}, exact {found.matches[0].exact}; by size {curve}")
            print(f"       {spent:.1f} CPU s")


def beside_domias() -> None:
    """Rank correlation of our scores with those of the domias package on the same arrays."""
    try:
        from domias.baselines import MC, GAN_leaks, GAN_leaks_cal  # type: ignore[import-not-found]
    except ImportError:
        print("domias is not on the path: ranks are not compared")
        return
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}", low=-8, high=8) for j in range(5)))
    X, G, R = (rng.normal(size=(n, 5)) for n in (501, 300, 400))
    codes = dict.fromkeys(("candidates", "released", "reference"), np.zeros((501, 5), dtype=np.int64))
    ours = scores(SquaredEuclidean(schema), X, G, R, codes)
    Z = Encoding(schema).encode(X)
    theirs = {"distance": GAN_leaks(Z, G), "calibrated": GAN_leaks_cal(Z, G, R), "density": MC(Z, G)}
    for name, score in theirs.items():
        print(f"rank correlation with domias, {name}: {spearmanr(ours[name], score)[0]:.12f}")


def main() -> None:
    """Print everything."""
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=3)
    beside_domias()
    for name in ("adult", "heloc"):
        study(name, options.parse_args().seeds)


if __name__ == "__main__":
    main()
