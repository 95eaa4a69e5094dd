"""Gradient recourse on a 23-1000-2 network: whole tiles against one record at a time, same model, same records.

Run `python benchmarks/bench_recourse.py`. Beside each of our searches stand others that go row by row, on a sample of
the records: our own code called with one row, and the method as a person writes it in torch, with autograd and Adam per
record. For `scfe` that is Wachter's text (minimise for one weight of the cost until nothing moves, halve the weight
until the outcome flips) and two of one pass (the weight falls at every step, the first flip is taken): a quick one, and
a patient one that comes within 1 % of our cost. For `scfe_released` it is the same algorithm step by step: no cost, the
first crossing. CPU time of one thread each, the shortest of some turns. Cost is the l2 distance in model space, over
the same sample.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from jali.audit.one_tile import TILE
from jali.core.explanation import Explainer
from jali.core.registry import name_of
from jali.core.values import Column, Dataset, Floats, Schema
from jali.explain.scfe import SCFE
from jali.explain.scfe_released import SCFEReleased
from jali.models.fitted.network import Network
from jali.models.mlp import MLP

ROWS, COLUMNS, WIDTH, SAMPLE = 1000, 23, 1000, 20
STEPS, PATIENCE, STILL = 5000, 25, 1e-3  # of the torch searches: budget per weight, steps, and a cost that has settled
Weight = Callable[[int], float]
Ends = Callable[[bool, list[float]], bool]
RowSearch = Callable[[Network, Any, float], Any]


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
    made = [
        part.prepare(net, schema, None, np.random.default_rng(0)).explain(rows, np.random.default_rng(0))
        for rows in calls
    ]
    return np.concatenate([out.rows for out in made])  # type: ignore[union-attr]


def gradient_search(net: Network, row: Any, lr: float, weight: Weight, ends: Ends) -> Any:
    """One record by autograd until `ends` says so, given the outcome and the losses so far; its nearest valid place."""
    import torch

    (W, V), (b, c) = (tuple(torch.tensor(a) for a in arrays) for arrays in (net.weights, net.biases))
    z, best, losses = row.clone().requires_grad_(), None, [np.inf]
    adam, hoped = torch.optim.Adam([z], lr=lr), torch.ones(1, dtype=torch.long)
    for k in range(STEPS):
        logits = (z @ W + b).relu() @ V + c
        flipped = bool(logits[1] > logits[0])
        if flipped and (best is None or (z - row).norm() < (best - row).norm()):
            best = z.detach().clone()
        if ends(flipped, losses):
            break
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits[None], hoped)
        loss = loss + weight(k) * ((z - row).square().sum() + 1e-12).sqrt() if weight(k) else loss
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return best


def flips(flipped: bool, losses: list[float]) -> bool:  # noqa: ARG001
    """End at the first valid place."""
    return flipped


def settled(flipped: bool, losses: list[float]) -> bool:  # noqa: ARG001
    """End where the loss stands still."""
    return len(losses) > PATIENCE and abs(losses[-PATIENCE] - losses[-1]) < STILL * losses[-1]


def crossed(net: Network, row: Any, lr: float) -> Any:
    """First crossing without any cost."""
    return gradient_search(net, row, lr, lambda _: 0.0, flips)


def quick(net: Network, row: Any, lr: float) -> Any:
    """First crossing, while the weight of the cost falls as in ours."""
    return gradient_search(net, row, lr, lambda k: 2.0 * 0.5 ** (k / 50), flips)


def patient(net: Network, row: Any, lr: float) -> Any:
    """First crossing, while a larger weight falls four times as slowly."""
    return gradient_search(net, row, lr, lambda k: 4.0 * 0.5 ** (k / 200), flips)


def converged(net: Network, row: Any, lr: float) -> Any:
    """Wachter's search."""
    weight, best = 8.0, None
    while best is None:
        best, weight = gradient_search(net, row, lr, partial(_constant, weight), settled), weight / 2
    return best


def _constant(weight: float, step: int) -> float:  # noqa: ARG001
    return weight


def one_by_one(search: RowSearch, net: Network, X: Floats, lr: float) -> Floats:
    """What a torch search finds, one record at a time."""
    import torch

    return np.array([search(net, row, lr).numpy() for row in torch.tensor(X, dtype=torch.float32)], dtype=np.float64)


def best(run: Callable[[], Floats], turns: int) -> tuple[float, Floats]:
    """Shortest of a few runs in CPU seconds, and what was made."""
    seconds = []
    for _ in range(turns):
        began = time.process_time()
        made = run()
        seconds.append(time.process_time() - began)
    return min(seconds), made


def report(part: SCFE | SCFEReleased, searches: dict[str, RowSearch]) -> None:
    """Time one of our searches in tiles, row by row, and others in torch; print ratios and costs."""
    net, X, schema = setting()
    few = X[:SAMPLE]
    with threadpool_limits(1):
        ours, rows = best(lambda: tiles(part, net, X, schema, TILE), 3)
        single, alone = best(lambda: tiles(part, net, few, schema, 1), 3)
        others = {name: best(partial(one_by_one, search, net, few, part.lr), 2) for name, search in searches.items()}
    each = ours / len(X)
    lines = [("tiles", each, rows[:SAMPLE]), ("own code, one row", single / SAMPLE, alone)]
    lines += [(name, seconds / SAMPLE, made) for name, (seconds, made) in others.items()]
    print(f"{name_of(part)}, {len(X):,} records, a {COLUMNS}-{WIDTH}-2 network (row by row: {SAMPLE} records)")
    for name, seconds, made in lines:
        cost = float(np.linalg.norm(made - few, axis=1).mean())
        valid = float((net.logits(made).argmax(axis=1) == 1).mean())
        speed = f"{1e3 * seconds:8.2f} ms a record   x{seconds / each:6.1f}"
        print(f"  {name:32s} {speed}   cost {cost:.4f}   valid {valid:.0%}")
    print(f"  one row alone differs from the same row in its tile by {np.abs(rows[:SAMPLE] - alone).max():.0e} at most")


def main() -> None:
    """Both searches."""
    import torch

    torch.set_num_threads(1)
    ways = {"Wachter's text": converged, "one quick pass": quick, "one patient pass": patient}
    report(SCFE(), {f"torch, one row, {name}": search for name, search in ways.items()})
    report(SCFEReleased(), {"torch, one row, first crossing": crossed})
    print(
        f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, of which torch holds most"
    )


if __name__ == "__main__":
    main()
