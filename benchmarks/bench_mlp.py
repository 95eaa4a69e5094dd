"""32 networks 23-1000-2 on 5,000 rows, 10 epochs, batches of 256: ours against a plain torch loop and scikit-learn.

Run `python benchmarks/bench_mlp.py`. Every contestant runs in a fresh process, in turns, and the best of the turns
counts, so that other load hurts all alike. All 32 of ours are timed, four of the sequential ones, whose time is
multiplied by eight. Imports and the start of the workers are not in the times; the latter is printed on its own.
Peak memory is that of the process and its workers together.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from jali.core.values import Bools, Column, Dataset, Floats, Schema
from jali.models.mlp import MLP

ROWS, COLUMNS, WIDTH, MODELS, EPOCHS, BATCH = 5000, 23, 1000, 32, 10, 256
TURNS = 2
FEW = 4  # networks timed of the sequential contestants


def data() -> Dataset:
    """A table whose classes depend on a curved function of its columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    score = np.tanh(X @ rng.normal(size=(COLUMNS, 5))).sum(axis=1) + rng.normal(size=ROWS)
    return Dataset(X, score > 0, Schema(tuple(Column(f"x{j}") for j in range(COLUMNS))))


def block(table: Dataset, member: Bools, columns: range) -> tuple[Floats, int, float]:
    """Our logits of some columns, and which process took how much memory."""
    part = MLP(hidden=(WIDTH,), epochs=EPOCHS, batch=BATCH)
    nets = part.fit(table, member[:, columns], [np.random.default_rng([1, j]) for j in columns])
    return nets.logits(table.X), os.getpid(), peak()


def ours() -> dict[str, float]:
    """Two processes with one thread each."""
    from joblib import Parallel, delayed

    table, member = data(), np.ones((ROWS, MODELS), dtype=bool)
    pool = Parallel(n_jobs=2, batch_size=1)

    def run(models: int, size: int) -> Any:
        return pool(delayed(block)(table, member, range(at, at + size)) for at in range(0, models, size))

    start, _ = timed(lambda: run(2, 1))
    seconds, parts = timed(lambda: run(MODELS, 4))
    workers = {pid: memory for _, pid, memory in parts}
    right = np.concatenate([logits.argmax(axis=2) for logits, _, _ in parts], axis=1) == table.y[:, None]
    return {"seconds": seconds, "start": start, "memory": peak() + sum(workers.values()), "accuracy": right.mean()}


def plain(threads: int) -> dict[str, float]:
    """The loop one would write first."""
    import torch
    from torch import nn

    torch.set_num_threads(threads or torch.get_num_threads())
    table = data()
    X, y = torch.tensor(table.X, dtype=torch.float32), torch.tensor(table.y)

    def train(seed: int) -> float:
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(COLUMNS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))
        adam, loss = torch.optim.Adam(net.parameters(), lr=1e-3), nn.CrossEntropyLoss()
        for _ in range(EPOCHS):
            order = torch.randperm(ROWS)
            for at in range(0, ROWS, BATCH):
                rows = order[at : at + BATCH]
                adam.zero_grad()
                loss(net(X[rows]), y[rows]).backward()
                adam.step()
        return float((net(X).argmax(1) == y).float().mean())

    train(0)
    seconds, right = timed(lambda: [train(seed) for seed in range(FEW)])
    return {"seconds": seconds * MODELS / FEW, "memory": peak(), "accuracy": np.mean(right)}


def peer() -> dict[str, float]:
    """The network of scikit-learn, with as many passes over the rows."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    warnings.simplefilter("ignore", ConvergenceWarning)
    table = data()

    def train(seed: int) -> float:
        net = MLPClassifier(
            (WIDTH,), max_iter=EPOCHS, batch_size=BATCH, alpha=0.0, n_iter_no_change=EPOCHS, random_state=seed
        )
        return float(net.fit(table.X.astype(np.float32), table.y).score(table.X.astype(np.float32), table.y))

    seconds, right = timed(lambda: [train(seed) for seed in range(FEW)])
    return {"seconds": seconds * MODELS / FEW, "memory": peak(), "accuracy": np.mean(right)}


CONTESTANTS = {
    "jali, 2 processes": ours,
    f"torch loop, 1 thread ({FEW} of {MODELS})": lambda: plain(1),
    f"torch loop, default threads ({FEW} of {MODELS})": lambda: plain(0),
    f"scikit-learn ({FEW} of {MODELS})": peer,
}


def timed(run: Any) -> tuple[float, Any]:
    """Wall seconds and result of a call."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def turn(name: str) -> dict[str, float]:
    """One contestant in a fresh process."""
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one line per contestant; the ratio is its time over ours."""
    turns = [{name: turn(name) for name in CONTESTANTS} for _ in range(TURNS)]
    best = {name: min((t[name] for t in turns), key=lambda r: r["seconds"]) for name in CONTESTANTS}
    base = best["jali, 2 processes"]
    print(f"{MODELS} MLPs {COLUMNS}-{WIDTH}-2, {ROWS} rows, {EPOCHS} epochs, batch {BATCH}; best of {TURNS} turns")
    for name, r in best.items():
        ratio = f"{r['seconds'] / base['seconds']:.2f}x the time of jali"
        print(f"{name:38} {r['seconds']:6.2f} s  {ratio}  {r['memory']:5.0f} MB  training accuracy {r['accuracy']:.3f}")
    print(f"{'start of the workers':38} {min(t['jali, 2 processes']['start'] for t in turns):6.2f} s, once")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({k: float(v) for k, v in CONTESTANTS[sys.argv[1]]().items()}))
    else:
        main()
