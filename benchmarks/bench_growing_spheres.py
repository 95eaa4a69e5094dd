"""Growing spheres on a 23-1000-2 network and on a forest: all records at once against smaller calls of the model.

Run `python benchmarks/bench_growing_spheres.py`. Sample by sample is what a person writes first: the published search
with one call of the model per sample. Row by row is our own code called with one record, so one call per record and
shell, with the same answers. Both run on some of the records, chosen evenly from near to far. All at once is the same
search as sample by sample with the same number of samples; refined, fewer samples give nearer rows than either. CPU
time of one thread each; of our own two turns the faster counts. Cost is the mean l2 distance in model space of the
records that all answer.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from jali.core.protocols import Model
from jali.core.values import Column, Dataset, Floats, Ints, Rng, Schema
from jali.explain.growing_spheres import GrowingSpheres
from jali.models.mlp import MLP
from jali.models.sklearn import Sklearn

ROWS, COLUMNS, WIDTH, RECORDS = 4000, 23, 1000, 128
Search = Callable[[Floats], Floats]


def table() -> Dataset:
    """Classes that depend on a curved function of the columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    score = np.tanh(X @ rng.normal(size=(COLUMNS, 5))).sum(axis=1) + rng.normal(size=ROWS)
    return Dataset(X, score > 0, Schema(tuple(Column(f"x{j}") for j in range(COLUMNS)), favourable=1))


def nearest(model: Model, x: Floats, low: float, high: float, samples: int, rng: Rng) -> Floats | None:
    """The nearest valid of some rows of a shell, asked for one by one."""
    best = None
    for _ in range(samples):
        move = rng.normal(size=len(x))
        radius = (low ** len(x) + rng.random() * (high ** len(x) - low ** len(x))) ** (1 / len(x))
        row = x + radius * move / np.linalg.norm(move)
        valid = model.logits(row[None]).argmax() == 1
        if valid and (best is None or np.linalg.norm(row - x) < np.linalg.norm(best - x)):
            best = row
    return best


def sample_by_sample(model: Model, part: GrowingSpheres, X: Floats) -> Floats:
    """The published search, one record and one sample after the other."""
    rows, rng = [], np.random.default_rng(0)
    for x in X:
        width, row = part.step, None
        while nearest(model, x, 0.0, width, part.samples, rng) is not None:
            width /= 2
        low = width
        while row is None:
            row = nearest(model, x, low, low + width, part.samples, rng)
            low += width
        rows.append(row)
    return np.array(rows)


def batched(model: Model, part: GrowingSpheres, schema: Schema, X: Floats) -> Floats:
    """Ours, all records in one call."""
    out = part.prepare(model, schema, None, np.random.default_rng(0)).explain(X, np.random.default_rng(0))
    assert out.found.all()
    return out.rows


def timed(search: Search, X: Floats) -> tuple[float, Floats]:
    """CPU seconds per record, and the distance of each (n,)."""
    began = time.process_time()
    rows = search(X)
    return (time.process_time() - began) / len(X), np.linalg.norm(rows - X, axis=1)


def best(search: Search, X: Floats) -> tuple[float, Floats]:
    """The faster of two turns."""
    return min((timed(search, X) for _ in range(2)), key=lambda turn: turn[0])


def spread(cost: Floats, few: int) -> Ints:
    """Some records (few,) at even ranks of cost (n,), because the search takes longer the farther it has to go."""
    return np.argsort(cost)[((np.arange(few) + 0.5) * len(cost) / few).astype(np.int64)]


def compare(name: str, model: Model, data: Dataset, samples: int, few: int) -> None:
    """Print one line per contestant, with its cost on the records that all of them answer."""
    denied = data.X[model.logits(data.X).argmax(axis=1) == 0][:RECORDS]
    part = GrowingSpheres(samples=samples, finish="plain")
    quick = [GrowingSpheres(samples=samples // share, finish="refined") for share in (5, 20)]
    ours, *refined = (best(partial(batched, model, p, data.schema), denied) for p in (part, *quick))
    chosen, more = spread(ours[1], few), spread(ours[1], 4 * few)
    naive = timed(partial(sample_by_sample, model, part), denied[chosen])
    row = timed(lambda X: np.concatenate([batched(model, part, data.schema, x[None]) for x in X]), denied[more])
    print(f"{name}, {len(denied)} records, {samples} samples a shell")
    for label, seconds, cost in (
        (f"sample by sample ({few} records)", naive[0], naive[1]),
        (f"row by row ({4 * few} records)", row[0], ours[1][chosen]),
        ("all at once", ours[0], ours[1][chosen]),
        *(
            (f"all at once, refined, {p.samples} samples", s, cost[chosen])
            for p, (s, cost) in zip(quick, refined, strict=True)
        ),
    ):
        ratio = f"{naive[0] / seconds:6.1f}x sample by sample, {row[0] / seconds:5.2f}x row by row"
        print(f"  {label:37} {seconds * 1e3:8.2f} ms a record, {ratio}, cost {np.mean(cost):.3f}")


def main() -> None:
    """Both models, one thread."""
    data, everyone = table(), np.ones((ROWS, 1), dtype=bool)
    with threadpool_limits(1):
        rngs = [np.random.default_rng(1)]
        network = MLP(hidden=(WIDTH,), epochs=10).fit(data, everyone, rngs)[0]
        compare(f"network {COLUMNS}-{WIDTH}-2", network, data, 1000, 6)
        forest = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=20").fit(data, everyone, rngs)[0]
        compare("forest of 20 trees", forest, data, 200, 2)
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
