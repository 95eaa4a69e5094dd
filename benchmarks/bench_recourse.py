"""Gradient recourse on a 23-1000-2 network: whole tiles against one record at a time, same model, same records.

Run `python benchmarks/bench_recourse.py`. Beside each of our searches stand two that go row by row, on a sample of the
records and scaled: our own code called with one row, and the same method as a person writes it first in torch, with
autograd and Adam per record. For `scfe_released` that is the same algorithm step by step: the first crossing. For
`scfe` it is Wachter's text: minimise for one weight of the cost until nothing moves, halve the weight until the outcome
flips. One thread each. Cost is the l2 distance in model space, over the same sample.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from jali.columns import TILE
from jali.core import Column, Dataset, Explainer, Floats, Schema
from jali.explain.scfe import SCFE
from jali.explain.scfe_released import SCFEReleased
from jali.models._network import Network
from jali.models.mlp import MLP
from jali.parts import name_of

ROWS, COLUMNS, WIDTH, SAMPLE = 1000, 23, 1000, 20
STEPS, PATIENCE, STILL = 1000, 25, 1e-3  # of the torch searches: budget per weight, steps, and a cost that has settled


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


def tiles(part: Explainer, net: Network, X: Floats, schema: Schema, size: int) -> Floats:
    """Our counterfactual rows, so many records in a call."""
    calls = (X[at : at + size] for at in range(0, len(X), size))
    made = [part.explain(net, rows, schema, None, np.random.default_rng(0)) for rows in calls]
    return np.concatenate([out.rows for out in made])  # type: ignore[union-attr]


def gradient_search(net: Network, row: Any, lr: float, weight: float, ends: Callable[[bool, list[float]], bool]) -> Any:
    """One record by autograd until `ends` says so, given the outcome and the losses so far; its nearest valid place."""
    import torch

    (W, V), (b, c) = (tuple(torch.tensor(a) for a in arrays) for arrays in (net.weights, net.biases))
    z, best, losses = row.clone().requires_grad_(), None, [np.inf]
    adam, hoped = torch.optim.Adam([z], lr=lr), torch.ones(1, dtype=torch.long)
    for _ in range(STEPS):
        logits = (z @ W + b).relu() @ V + c
        flipped = bool(logits[1] > logits[0])
        if flipped and (best is None or (z - row).norm() < (best - row).norm()):
            best = z.detach().clone()
        if ends(flipped, losses):
            break
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits[None], hoped)
        loss = loss + weight * ((z - row).square().sum() + 1e-12).sqrt() if weight else loss
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return best


def crossed(net: Network, X: Floats, lr: float) -> Floats:
    """First crossing without any cost, one record at a time."""
    import torch

    rows = torch.tensor(X, dtype=torch.float32)
    out = [gradient_search(net, row, lr, 0.0, lambda flipped, _: flipped).numpy() for row in rows]
    return np.array(out, dtype=np.float64)


def converged(net: Network, X: Floats, lr: float) -> Floats:
    """Wachter's search, one record at a time."""
    import torch

    def settled(_: bool, losses: list[float]) -> bool:
        return len(losses) > PATIENCE and abs(losses[-PATIENCE] - losses[-1]) < STILL * losses[-1]

    out = []
    for row in torch.tensor(X, dtype=torch.float32):
        weight, best = 8.0, None
        while best is None:
            best, weight = gradient_search(net, row, lr, weight, settled), weight / 2
        out.append(best.numpy())
    return np.array(out, dtype=np.float64)


def best(run: Callable[[], Floats], turns: int) -> tuple[float, Floats]:
    """Shortest of a few runs in seconds, and what was made."""
    seconds = []
    for _ in range(turns):
        began = time.perf_counter()
        made = run()
        seconds.append(time.perf_counter() - began)
    return min(seconds), made


def report(part: SCFE | SCFEReleased, torch_search: Callable[[Network, Floats, float], Floats]) -> None:
    """Time one of our searches in tiles, row by row, and in torch; print ratios and costs."""
    net, X, schema = setting()
    few = X[:SAMPLE]
    with threadpool_limits(1):
        ours, rows = best(lambda: tiles(part, net, X, schema, TILE), 3)
        single, alone = best(lambda: tiles(part, net, few, schema, 1), 2)
        looped, other = best(lambda: torch_search(net, few, part.lr), 1)
    each = ours / len(X)
    print(f"{name_of(part)}, {len(X):,} records, a {COLUMNS}-{WIDTH}-2 network (row by row: {SAMPLE} records)")
    lines = (("tiles", each, rows[:SAMPLE]), ("own code, one row", single / SAMPLE, alone))
    for name, seconds, made in (*lines, ("torch, one row", looped / SAMPLE, other)):
        cost = float(np.linalg.norm(made - few, axis=1).mean())
        valid = float((net.logits(made).argmax(axis=1) == 1).mean())
        speed = f"{1e3 * seconds:8.2f} ms a record   x{seconds / each:6.1f}"
        print(f"  {name:18s} {speed}   cost {cost:.4f}   valid {valid:.0%}")
    print(f"  one row alone differs from the same row in its tile by {np.abs(rows[:SAMPLE] - alone).max():.0e} at most")


def main() -> None:
    """Both searches."""
    import torch

    torch.set_num_threads(1)
    report(SCFE(), converged)
    report(SCFEReleased(), crossed)
    print(
        f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, of which torch holds most"
    )


if __name__ == "__main__":
    main()
