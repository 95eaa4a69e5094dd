"""Gradient recourse on a 23-1000-2 network: whole tiles against one record at a time, same model, same records.

Run `python benchmarks/bench_recourse.py`. Two row-by-row searches stand beside ours, on a sample of the records and
scaled: our own code called with one row, and what a person writes first in torch (Adam per record, the weight of the
cost lowered until the outcome flips). One thread each. Cost is the l2 distance in model space.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from jali.columns import TILE
from jali.core import Column, Dataset, Floats, Schema
from jali.explain.scfe import SCFE
from jali.models._network import Network
from jali.models.mlp import MLP

ROWS, COLUMNS, WIDTH, SAMPLE = 1000, 23, 1000, 20
STEPS, LR = 1000, 0.01


def setting() -> tuple[Network, Floats, Schema]:
    """A network that fits a curved function of its columns with noise, and records it denies the favourable class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, COLUMNS))
    score = np.tanh(X @ rng.normal(size=(COLUMNS, 5))).sum(axis=1) + rng.normal(size=len(X))
    data = Dataset(X, score > 0, Schema(tuple(Column(f"x{j}") for j in range(COLUMNS)), favourable=1))
    member = (np.arange(len(X)) < 3000)[:, None]
    net = MLP(hidden=(WIDTH,), epochs=30, batch=128).fit(data, member, [np.random.default_rng(1)])[0]
    denied = X[net.logits(X).argmax(axis=1) == 0][:ROWS]
    return net, denied, data.schema


def tiles(part: SCFE, net: Network, X: Floats, schema: Schema, size: int) -> Floats:
    """Our counterfactual rows, so many records in a call."""
    calls = (X[at : at + size] for at in range(0, len(X), size))
    return np.concatenate([part.explain(net, rows, schema, None, np.random.default_rng(0)).rows for rows in calls])


def plain(net: Network, X: Floats) -> Floats:
    """What a person writes first: one record at a time, autograd, first crossing at the largest weight that flips."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    (W, V), (b, c) = (tuple(torch.tensor(a) for a in arrays) for arrays in (net.weights, net.biases))
    out = []
    for row in torch.tensor(X, dtype=torch.float32):
        weight, found = 1.0, False
        while not found and weight > 1e-3:
            z = row.clone().requires_grad_()
            adam = torch.optim.Adam([z], lr=LR)
            for _ in range(STEPS // 4):
                logits = (z @ W + b).relu() @ V + c
                found = bool(logits.argmax() == 1)
                if found:
                    break
                adam.zero_grad()
                target = torch.ones(1, dtype=torch.long)
                (nn.functional.cross_entropy(logits[None], target) + weight * (z - row).norm()).backward()
                torch.nan_to_num_(z.grad)
                adam.step()
            weight /= 2
        out.append(z.detach().numpy())
    return np.array(out, dtype=np.float64)


def timed(run: Callable[[], Floats]) -> tuple[float, Floats]:
    """Seconds, and what was made."""
    began = time.perf_counter()
    made = run()
    return time.perf_counter() - began, made


def main() -> None:
    """Time all three, print ratios and costs."""
    net, X, schema = setting()
    part, few = SCFE(steps=STEPS, lr=LR), X[:SAMPLE]
    with threadpool_limits(1):
        tiles(part, net, X[:2], schema, 1)  # the first call makes what the model keeps
        ours, rows = timed(lambda: tiles(part, net, X, schema, TILE))
        single, alone = timed(lambda: tiles(part, net, few, schema, 1))
        plain(net, few[:1])
        looped, first = timed(lambda: plain(net, few))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cost = [float(np.median(np.linalg.norm(made - few, axis=1))) for made in (rows[:SAMPLE], alone, first)]
    flipped = [float((net.logits(made).argmax(axis=1) == 1).mean()) for made in (rows, alone, first)]
    print(f"scfe, {len(X):,} records, a {COLUMNS}-{WIDTH}-2 network (row by row: {SAMPLE} records, scaled)")
    for name, seconds, i in (("tiles", ours, 0), ("own code, one row", single, 1), ("plain torch, one row", looped, 2)):
        each = seconds / (len(X) if i == 0 else SAMPLE)
        ratio = each / (ours / len(X))
        print(f"  {name:22s} {1e3 * each:8.2f} ms a record  x{ratio:6.1f}  cost {cost[i]:.4f}  valid {flipped[i]:.1%}")
    print(f"  largest difference of one row alone and in its tile {np.abs(rows[:SAMPLE] - alone).max():.1e}")
    print(f"  peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
