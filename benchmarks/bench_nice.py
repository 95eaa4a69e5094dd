"""Our `nice` beside the published package, NICEx: the same counterfactuals, row by row, and in what time.

Run `python benchmarks/bench_nice.py` after `make bench` has made .venv-peers; without it this says so and ends. Forests
on `german` and `adult`, grown whole and with few leaves, trained again in the peer's process from the same seed;
records are the first denied ones of a held-out 40 %. "none" takes all rows of the wanted prediction for candidates
(Goethals et al.), the others only rows predicted right (the package's default); plausibility has our autoencoder on
both sides, as the package brings none. Immutable columns are free and ranges are those of the training rows, because
the package knows nothing else. CPU time of one thread each, per record; ours answers all records in one call.

A different answer is "tied" if the package's row is as near as ours to within 1e-9 ("none"), or if its walk took at
every step a column whose reward is within 1e-9 of the largest, relative to it; anything else is "unexplained". Left
out because the package is not well defined there: more than two classes, where proximity and plausibility take a place
in a table of rows and classes for the number of a row; and columns constant in training, which it scales by 1e-11.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from jali.core import registry
from jali.core.distance import paired, ranges
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats
from jali.explain import nice
from jali.explain._recourse import vae as _vae
from jali.explain.native.rows import Pool, predictions
from jali.models.sklearn import Sklearn

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
TREES, CLOSE = 50, 1e-9
SETTINGS = (("german", 0, 400), ("german", 20, 400), ("adult", 0, 100), ("adult", 100, 150))  # leaves (0: any), records
VARIANTS = ("none", "sparsity", "proximity", "plausibility")
Arrays = dict[str, npt.NDArray[Any]]


def task(train: Dataset, records: Floats, leaves: int, seed: int) -> Arrays:
    """All that the peer needs to make the same forest and the same autoencoder."""
    columns = train.schema.columns
    whole = replace(train.schema, columns=tuple(replace(c, mutable=True) for c in columns))
    vae = _vae.trained(train, whole, nice.LATENT, nice.HIDDEN)
    made: dict[str, Any] = {
        "X": train.X,
        "y": train.y,
        "records": records,
        "trees": TREES,
        "leaves": leaves,
        "seed": seed,
        "width": [len(c.categories) for c in columns],
        "centre": [c.centre for c in columns],
        "spread": [c.spread for c in columns],
        "mean": vae.centre,
        "deviation": vae.spread,
        "reach": _vae.REACH,
    }
    layers = [part for layer in vae.layers for part in layer]
    return {name: np.asarray(a) for name, a in (made | {f"layer {i}": a for i, a in enumerate(layers)}).items()}


def theirs(given: Arrays) -> Arrays:
    """What NICEx answers."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    with tempfile.TemporaryDirectory() as folder:
        sent, back = Path(folder) / "task.npz", Path(folder) / "answer.npz"
        np.savez(sent, **given)  # type: ignore[arg-type]
        script = ROOT / "benchmarks" / "peers" / "run_nice.py"
        run = subprocess.run(
            [PYTHON, script, sent, back], env=os.environ | threads, capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise SystemExit(f"NICEx failed: {run.stderr.strip().splitlines()[-1]}")
        with np.load(back) as file:
            return dict(file)


def reachable(row: Floats, goal: Floats, answer: Floats, step: Callable[[Floats, Floats], Floats]) -> bool:
    """Whether an answer (D,) is the end of a walk from row to goal that takes a nearly best column at every step."""
    columns = np.flatnonzero(row != goal)
    if not len(columns) or (row == answer).all():
        return bool((row == answer).all())
    tried = np.repeat(row[None], len(columns), axis=0)
    tried[np.arange(len(columns)), columns] = goal[columns]
    reward = step(np.repeat(row[None], len(columns), axis=0), tried)
    near = reward >= reward.max() - CLOSE * np.abs(reward).max()
    fitting = near & (answer[columns] == goal[columns])
    return any(reachable(some, goal, answer, step) for some in tried[fitting])


def tied(part: nice.NICE, model: Model, train: Dataset, record: Floats, answer: Floats) -> bool:
    """Whether the package's answer (D,) differs from ours by rounding only."""
    schema, rng = train.schema, np.random.default_rng(0)
    goal = replace(part, optimise="none").prepare(model, schema, train, rng).explain(record[None], rng).rows
    if part.optimise == "none":
        both = np.stack([goal[0], answer])
        return bool(
            np.ptp(paired(record[None].repeat(2, axis=0), both, schema, ranges(schema, train.X, "train"))) < CLOSE
        )
    pool = Pool.of("nice", train, schema, "train", "free")[0]
    reward, wanted = part._reward(train, pool), schema.favourable
    assert reward is not None  # the part walks

    def step(before: Floats, after: Floats) -> Floats:
        gain = (predictions(model, after)[0] - predictions(model, before)[0])[:, wanted]
        return reward(gain, before, after)

    return reachable(record, goal[0], answer, step)


def compare(name: str, leaves: int, most: int) -> None:
    """Print one line per variant."""
    data = registry.build("data", name).load()
    order, cut = np.random.default_rng(0).permutation(len(data)), int(0.6 * len(data))
    train, rest = data.rows(np.sort(order[:cut])), data.X[np.sort(order[cut:])]
    estimator = Sklearn(
        "sklearn.ensemble:RandomForestClassifier", f"n_estimators={TREES}, max_leaf_nodes={leaves or None}"
    )
    model = estimator.fit(train, np.ones((cut, 1), dtype=bool), [np.random.default_rng(1)])[0]
    records = rest[predictions(model, rest)[1] != data.schema.favourable][:most]
    made = theirs(task(train, records, leaves, model.estimator.get_params()["random_state"]))  # type: ignore[attr-defined]
    agree = np.mean(predictions(model, train.X)[1] == made["labels"])
    print(
        f"{name}, {TREES} trees of {leaves or 'any number of'} leaves, {cut:,} training rows, {len(records)} records, "
        f"NICEx {made['version']}; {agree:.2%} of labels agree"
    )
    for variant in VARIANTS:
        line(variant, model, train, records, made)


def line(variant: Any, model: Model, train: Dataset, records: Floats, made: Arrays) -> None:
    """Print how one variant fared."""
    part = nice.NICE(variant, "predicted" if variant == "none" else "justified", "free", "train")
    began = time.process_time()
    out = part.prepare(model, train.schema, train, np.random.default_rng(0)).explain(records, np.random.default_rng(0))
    mine, other = (1e3 * (time.process_time() - began) / len(records), 1e3 * float(made[f"{variant} seconds"].mean()))
    answers = made[f"{variant} rows"]
    same = (out.rows == answers).all(axis=1)
    even = sum(tied(part, model, train, records[i], answers[i]) for i in np.flatnonzero(~same))
    whole = np.mean(np.asarray(out.origin) >= 0)
    print(
        f"  {variant:13s} identical {same.mean():7.2%}   tied {even:3d}   unexplained {(~same).sum() - even:3d}   "
        f"{mine:6.2f} ms against {other:7.2f}, x{other / mine:6.1f}   whole training rows {whole:4.0%}"
    )


def main() -> None:
    """Every table and forest, one thread."""
    if not (PYTHON.parent.parent / ".done").exists():
        print("nice: not compared, because .venv-peers is missing or not complete; `make bench` makes it, with network")
        return
    with threadpool_limits(1):
        for name, leaves, most in SETTINGS:
            try:
                compare(name, leaves, most)
            except JaliError as error:
                print(f"{name}: not compared, {error}")


if __name__ == "__main__":
    main()
