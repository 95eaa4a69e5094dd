"""Our private logistic regression beside diffprivlib's, on the same rows with the same bound, penalty and epsilon.

Run `python benchmarks/bench_private.py` after `make bench` has made .venv-private; without it this says so and ends.
The peer works in a process of its own environment, because it does not import beside current scikit-learn. Printed for
each epsilon: mean test accuracy over the draws with twice its standard error, and how far weights lie from those that
are trained without noise, relative to the length of those. CPU time of one fit, one thread each.
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

from jali.core.values import Column, Dataset, Floats, Schema
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.fitted.linear import LinearEnsemble

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-private" / "bin" / "python"
ROWS, COLUMNS, BOUND, C, DRAWS = 2000, 20, 1.0, 1.0, 25
EPSILONS = (0.1, 0.5, 1.0, 5.0, 20.0)


def table(seed: int) -> Dataset:
    """Rows within a ball of radius one, labels by a line with noise."""
    law, rng = np.random.default_rng(0), np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS)) / np.sqrt(COLUMNS)
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    score = 8 * X @ law.normal(size=COLUMNS) / np.sqrt(COLUMNS) + 0.5 * rng.normal(size=ROWS)
    columns = tuple(Column(f"x{j}", low=-1.0, high=1.0) for j in range(COLUMNS))
    return Dataset(X, score > 0, Schema(columns))


def flat(ensemble: LinearEnsemble) -> Floats:
    """Weights of class 1 over class 0 (M, D + 1), the intercept last."""
    intercept = ensemble.intercept[:, 1] - ensemble.intercept[:, 0]
    return np.column_stack([ensemble.coef[:, :, 1] - ensemble.coef[:, :, 0], intercept])


def theirs(data: Dataset) -> dict[str, npt.NDArray[Any]]:
    """Weights that diffprivlib draws."""
    script, threads = ROOT / "benchmarks" / "peers" / "run_diffprivlib.py", ("OMP", "OPENBLAS", "MKL")
    with tempfile.TemporaryDirectory() as folder:
        sent, back = Path(folder) / "task.npz", Path(folder) / "answer.npz"
        np.savez(sent, X=data.X, y=data.y, epsilons=EPSILONS, draws=DRAWS, bound=BOUND, C=C)
        alone = os.environ | {f"{name}_NUM_THREADS": "1" for name in threads}
        run = subprocess.run([PYTHON, script, sent, back], env=alone, capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(f"diffprivlib failed: {run.stderr.strip().splitlines()[-1]}")
        with np.load(back) as file:
            return dict(file)


def line(name: str, weights: Floats, plain: Floats, test: Dataset) -> str:
    """Accuracy with its error, and distance from the weights without noise."""
    Z = np.column_stack([test.X, np.ones(len(test))])
    right = ((Z @ weights.T > 0) == (test.y[:, None] == 1)).mean(axis=0)
    far = np.linalg.norm(weights - plain, axis=1) / np.linalg.norm(plain)
    error = 2 * right.std(ddof=1) / np.sqrt(len(right))
    return f"  {name:20s} accuracy {right.mean():.3f} +- {error:.3f}   distance {np.median(far):7.2f}"


def main() -> None:
    """The same five epsilons."""
    if not PYTHON.exists():
        print("diffprivlib: not compared, because .venv-private is missing; `make bench` makes it, with network")
        return
    data, test, everyone = table(1), table(2), np.ones((ROWS, 1), dtype=bool)
    model = ClippedLogistic(BOUND, C, "declared").fit(data, everyone, [np.random.default_rng(0)])[0]
    plain = flat(LinearEnsemble(model.encoding, model.coef[None], model.intercept[None]))[0]
    peer = theirs(data)
    print(f"{ROWS:,} rows of length up to {BOUND:g}, {COLUMNS} columns, C = {C:g}; {DRAWS} draws of each")
    with threadpool_limits(1):
        for k, epsilon in enumerate(EPSILONS):
            began = time.process_time()
            ours = flat(DPLogistic(epsilon, BOUND, C, scaling="declared").draws(data, DRAWS, np.random.default_rng(k)))
            seconds = (time.process_time() - began) / DRAWS
            output = DPLogistic(epsilon, BOUND, C, method="output", scaling="declared")
            print(f"epsilon = {epsilon:g}; ours {1e3 * seconds:.1f} ms a fit, theirs {1e3 * peer['seconds']:.1f} ms")
            print(line("ours, objective", ours, plain, test))
            print(line("ours, output", flat(output.draws(data, DRAWS, np.random.default_rng(k))), plain, test))
            print(line(f"diffprivlib {peer['version']}", peer["weights"][k], plain, test))


if __name__ == "__main__":
    main()
