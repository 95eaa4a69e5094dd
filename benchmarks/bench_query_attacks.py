"""1,000 changed copies of each of 10,000 records put to a forest and a network: in blocks, and row by row.

Run `python benchmarks/bench_query_attacks.py`. The copies are those of `label_only` (noise on 8 numbers, redrawn values
of 4 categories); all 10 million are asked about in blocks, some hundred row by row, whose time is multiplied. CPU time
of one thread, so that other load hurts neither. "Inference" is the model's own share of the time in blocks, which is
the limit: the rest makes the copies. Memory is the peak of a fresh process above what it took once the model
was trained; one block of copies is printed beside it. `boundary_distance` is timed on the same records.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from jali.core import registry
from jali.core.protocols import Model
from jali.core.values import Column, Dataset, Floats, Ints, Schema
from jali.query_attacks import _perturb
from jali.query_attacks._boundary import Ground, distance
from jali.query_attacks._perturb import Moves, additive, deviations, legal, robustness

RECORDS, COPIES, KNOWN, NAIVE = 10_000, 1000, 3000, 300
PROBES, STEPS, FEW = 64, 5, 2000  # of boundary_distance, and the records it is timed on
MODELS = {
    "forest, 50 trees": 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=50")',
    "network 24-64-2": "mlp(hidden=[64], epochs=5)",
}


def table(n: int) -> Dataset:
    """Eight numbers, four categories of four codes, a noisy curved rule."""
    rng = np.random.default_rng(0)
    numbers = [Column(f"x{j}", low=-6.0, high=6.0) for j in range(8)]
    codes = [Column(f"c{j}", "category", categories=tuple("abcd")) for j in range(4)]
    X = np.concatenate([rng.normal(size=(n, 8)).clip(-6, 6), rng.integers(0, 4, (n, 4)).astype(float)], axis=1)
    score = X[:, :3].sum(axis=1) + (X[:, 8] == 1) - X[:, 3] ** 2 + rng.normal(size=n)
    return Dataset(X, score > 0, Schema((*numbers, *codes)))


class Timed:
    """Labels of a model, and the seconds and rows they took."""

    def __init__(self, model: Model) -> None:
        self.model, self.seconds, self.rows = model, 0.0, 0

    def __call__(self, X: Floats) -> Ints:
        began = time.process_time()
        told: Ints = self.model.logits(X).argmax(axis=1)
        self.seconds += time.process_time() - began
        self.rows += len(X)
        return told


def row_by_row(model: Model, records: Dataset, moves: Moves) -> float:
    """Seconds for one copy when each is made and asked about on its own."""
    began = time.process_time()
    for k in range(NAIVE):
        changed = records.X[k] * moves.factor[k] + moves.shift[k]
        model.logits(legal(changed[None], records.schema)).argmax(axis=1)
    return (time.process_time() - began) / NAIVE


def contest(name: str) -> dict[str, float]:
    """Everything about one model."""
    data, rng = table(RECORDS + KNOWN), np.random.default_rng(1)
    at = np.arange(len(data))
    records, known = data.rows(at < RECORDS), data.rows(at >= RECORDS)
    model = registry.build("model", MODELS[name]).fit(data, (at < KNOWN)[:, None], [rng])[0]
    moves = additive(known, COPIES, 0.1, 0.1, rng)
    ask, before = Timed(model), peak()
    wanted = ask(records.X)
    began = time.process_time()
    robustness(ask, records.X, wanted, moves, data.schema)
    seconds, inference, memory = time.process_time() - began, ask.seconds, peak() - before
    naive = row_by_row(model, records, moves) * RECORDS * COPIES
    ground, walk = Ground.of(known, deviations(known), STEPS, PROBES, rng), Timed(model)
    began = time.process_time()
    distance(walk, records.X[:FEW], wanted[:FEW], ground)
    found = {"seconds": seconds, "inference": inference / seconds, "naive": naive, "memory": memory}
    walked = time.process_time() - began
    return found | {"walk": walked, "asked": walk.rows / FEW, "within": walk.seconds / walked}


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def turn(name: str) -> dict[str, float]:
    """One model in a fresh process of one thread."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, __file__, name]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print how each model fared."""
    width = len(table(1).schema.columns)
    block = _perturb.at_once(width) * width * 8 / 2**20
    print(f"{COPIES:,} copies of {RECORDS:,} records, {width} columns; a block of copies is {block:.0f} MB")
    for name in MODELS:
        r = turn(name)
        rate = RECORDS * COPIES / r["seconds"] / 1e6
        print(
            f"{name:18} {r['seconds']:6.1f} s, {rate:.2f} M copies/s, inference {r['inference']:.0%}; row by row "
            f"{r['naive'] / 3600:.2f} h, x{r['naive'] / r['seconds']:.0f}; peak {r['memory']:.0f} MB above the model"
        )
        print(
            f"{'':18} boundary_distance: {r['walk'] / FEW * 1e3:.2f} ms and {r['asked']:.0f} questions per record, "
            f"inference {r['within']:.0%}"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with threadpool_limits(1):
            print(json.dumps({k: float(v) for k, v in contest(sys.argv[1]).items()}))
    else:
        main()
