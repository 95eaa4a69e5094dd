"""Our recourse beside that of a library people install: dice-ml, on the same models and the same records.

Run `python benchmarks/bench_peers.py` after `make bench` has made .venv-peers; without it this says so and ends.
The peer works in a process of its own environment, on the same weights (the network) or from the same seed (the
forest); records and answers travel as plain arrays. CPU time of one thread each. Ours answer a tile of records in one
call, dice-ml the first of them one after the other, which is how it works. Over those first records validity is judged
by our model, and costs are mean l2 and l1 distances in model space and the number of columns changed: some methods aim
for few of these, not for a short way. Ratios are times of the first line.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from jali.audit.one_tile import TILE
from jali.core.explanation import Explainer
from jali.core.protocols import Model
from jali.core.values import Column, Dataset, Floats, Schema
from jali.explain.growing_spheres import GrowingSpheres
from jali.explain.scfe import SCFE
from jali.models.mlp import MLP
from jali.models.sklearn import Sklearn

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
ROWS, COLUMNS, WIDTH, RECORDS = 3000, 23, 1000, 6
TREES = 21  # an odd number, because dice-ml takes a draw for a success and argmax does not
Arrays = dict[str, npt.NDArray[Any]]
Line = tuple[str, float, Floats]


def table() -> Dataset:
    """Classes that depend on a curved function of the columns, with noise; three decimals, as dice-ml keeps them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)).round(3)
    score = np.tanh(X @ rng.normal(size=(COLUMNS, 5))).sum(axis=1) + rng.normal(size=ROWS)
    return Dataset(X, score > 0, Schema(tuple(Column(f"x{j}") for j in range(COLUMNS)), favourable=1))


def ours(name: str, part: Explainer, model: Model, X: Floats, schema: Schema) -> Line:
    """Name, CPU seconds per record as the shorter of two turns, and the first rows, missing where none was found."""
    turns = []
    for _ in range(2):
        began = time.process_time()
        out = part.prepare(model, schema, None, np.random.default_rng(0)).explain(X, np.random.default_rng(0))
        turns.append(time.process_time() - began)
    rows: Floats = np.where(out.found[:, None], out.rows, np.nan)  # type: ignore[union-attr]
    return name, min(turns) / len(X), rows[:RECORDS]


def theirs(task: Arrays) -> Arrays:
    """What dice-ml answers."""
    script, single = ROOT / "benchmarks" / "peers" / "run_dice.py", ("OMP", "OPENBLAS", "MKL")
    threads = {f"{name}_NUM_THREADS": "1" for name in single}
    with tempfile.TemporaryDirectory() as folder:
        sent, back = Path(folder) / "task.npz", Path(folder) / "answer.npz"
        np.savez(sent, **task)  # type: ignore[arg-type]
        run = subprocess.run(
            [PYTHON, script, sent, back], env=os.environ | threads, capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise SystemExit(f"dice-ml failed: {run.stderr.strip().splitlines()[-1]}")
        with np.load(back) as file:
            return dict(file)


def compare(name: str, model: Model, data: Dataset, parts: dict[str, Explainer], task: Arrays) -> None:
    """Print one line per contestant."""
    label = model.logits(data.X).argmax(axis=1)
    tile = data.X[label == 0][:TILE]
    records = tile[:RECORDS]
    lines = [ours(what, part, model, tile, data.schema) for what, part in parts.items()]
    made = theirs(task | {"X": data.X, "y": data.y, "records": records})
    for what in sorted(key.removesuffix(" rows") for key in made if key.endswith(" rows")):
        each, rows = float(made[f"{what} seconds"].mean()), made[f"{what} rows"]
        lines.append((f"dice-ml {made['version']}, {what}", each, rows))
    print(f"{name}, {len(records)} records; {np.mean(label == made['labels']):.2%} of {len(data):,} labels agree")
    for what, seconds, rows in lines:
        found = np.isfinite(rows).all(axis=1)
        valid = (model.logits(rows[found]).argmax(axis=1) == 1).sum() / len(rows)
        l2, l1, l0 = (float(np.linalg.norm((rows - records)[found], ord=p, axis=1).mean()) for p in (2, 1, 0))
        speed = f"{1e3 * seconds:9.2f} ms a record   x{seconds / lines[0][1]:8.1f}"
        print(f"  {what:38s} {speed}   valid {valid:4.0%}   l2 {l2:5.2f}   l1 {l1:5.2f}   columns {l0:4.1f}")


def main() -> None:
    """A network and a forest, one thread."""
    if not (PYTHON.parent.parent / ".done").exists():
        print(
            "peers: not compared, because .venv-peers is missing or not complete; `make bench` makes it, with network"
        )
        return
    data, everyone, rngs = table(), np.ones((ROWS, 1), dtype=bool), [np.random.default_rng(1)]
    spheres: dict[str, Explainer] = {
        "growing_spheres": GrowingSpheres(),
        "growing_spheres, refined, 200 samples": GrowingSpheres(samples=200, finish="refined"),
    }
    with threadpool_limits(1):
        net = MLP(hidden=(WIDTH,), epochs=30, batch=128).fit(data, everyone, rngs)[0]
        weights = dict(zip("WbVc", (net.weights[0], net.biases[0], net.weights[1], net.biases[1]), strict=True))
        compare(f"network {COLUMNS}-{WIDTH}-2", net, data, {"scfe": SCFE()} | spheres, weights)
        estimator = Sklearn("sklearn.ensemble:RandomForestClassifier", f"n_estimators={TREES}")
        forest = estimator.fit(data, everyone, rngs)[0]
        seed = forest.estimator.get_params()["random_state"]  # type: ignore[attr-defined]
        compare(f"forest of {TREES} trees", forest, data, spheres, {"trees": np.array(TREES), "seed": np.array(seed)})


if __name__ == "__main__":
    main()
