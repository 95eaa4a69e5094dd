"""Logistic regression: ours beside scikit-learn's newton-cholesky and beside one Newton for all models together.

Each model has half of the rows. The batched Newton multiplies all rows by all models, with weight zero outside a
model's training set, and approaches each step by conjugate gradients; it is here to show why models are fitted one by
one. CPU seconds of one thread, by turns.

python benchmarks/bench_logistic.py [--turns 3]
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from jali.core.encoding import Encoding
from jali.core.values import Column, Dataset, Schema
from jali.models.logistic import Logistic

# Rows of the table (half of them train a model), numbers, three-way categories, models.
SIZES = ((6000, 404, 0, 8), (6000, 4, 133, 8), (6000, 6, 30, 8), (4000, 20, 0, 50), (600, 10, 0, 50))


def table(n: int, numbers: int, categories: int) -> Dataset:
    """Rows of two classes."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(n, numbers)), rng.integers(0, 3, (n, categories))])
    columns = [Column(f"x{j}") for j in range(numbers)]
    columns += [Column(f"c{j}", "category", 0, 2, categories=("a", "b", "c")) for j in range(categories)]
    schema = Schema(tuple(columns), ("0", "1"))
    Z = Encoding(schema).encode(X)
    return Dataset(X, (Z @ rng.normal(size=Z.shape[1]) + rng.logistic(size=n) > 0).astype(int), schema)


def batched(A: Any, y: Any, member: Any) -> Any:
    """The unknowns (k, M) of all models at once, for rows A (N, k) that end in a one and members (N, M)."""
    weight = member.astype(float)
    penalty = np.ones((A.shape[1], 1))
    penalty[-1] = 0.0
    B = np.zeros((A.shape[1], member.shape[1]))
    first: Any = None
    while True:
        P = 1 / (1 + np.exp(-(A @ B)))
        gradient = A.T @ (weight * (P - y[:, None])) + penalty * B
        size = np.linalg.norm(gradient, axis=0)
        first = np.maximum(1.0, size) if first is None else first
        if (size <= 1e-11 * first).all():
            return B
        V = weight * P * (1 - P)
        enough = np.minimum(0.1, np.sqrt(size / first)) * size
        B = B - step(A, V, penalty, gradient, enough)


def step(A: Any, V: Any, penalty: Any, gradient: Any, enough: Any) -> Any:
    """The Newton steps (k, M) by conjugate gradients, up to this norm of what is left (M,)."""
    scale = (A * A).T @ V + penalty
    out = np.zeros_like(gradient)
    left = gradient
    towards = left / scale
    along = (left * towards).sum(axis=0)
    while (on := np.linalg.norm(left, axis=0) > enough).any():
        bent = A.T @ (V * (A @ towards)) + penalty * towards
        part = np.where(on, along / (towards * bent).sum(axis=0), 0.0)
        out = out + part * towards
        left = left - part * bent
        before = along
        along = (left * left / scale).sum(axis=0)
        towards = left / scale + np.where(on, along / before, 0.0) * towards
    return out


def peer(Z: Any, y: Any, member: Any, tolerance: float) -> Any:
    """Weights (M, P) of scikit-learn's models."""
    found = []
    for mine in member.T:
        model = LogisticRegression(solver="newton-cholesky", tol=tolerance, max_iter=1000)
        found.append(model.fit(Z[mine], y[mine]).coef_[0])
    return np.stack(found)


def compare(n: int, numbers: int, categories: int, models: int, turns: int) -> None:
    """One size: CPU milliseconds per model, medians, and the largest difference from the most exact fit."""
    data = table(n, numbers, categories)
    member = np.random.default_rng(1).random((n, models)) < 0.5
    rngs = [np.random.default_rng(j) for j in range(models)]
    Z = Encoding(data.schema).encode(data.X)
    A = np.column_stack([Z, np.ones(n)])
    ways: dict[str, Callable[[], Any]] = {
        "jali": lambda: 2 * Logistic().fit(data, member, rngs).coef[:, :, 1],
        "newton-cholesky, tol 1e-4": lambda: peer(Z, data.y, member, 1e-4),
        "newton-cholesky, tol 1e-12": lambda: peer(Z, data.y, member, 1e-12),
        "all models together": lambda: batched(A, data.y, member)[:-1].T,
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    weights = {}
    for _ in range(turns):
        for name, fit in ways.items():
            began = time.process_time()
            weights[name] = fit()
            spent[name].append((time.process_time() - began) / models)
    print(f"{n // 2:,} rows x {Z.shape[1]} columns, {models} models")
    exact = weights["newton-cholesky, tol 1e-12"]
    base = statistics.median(spent["jali"])
    for name, seconds in spent.items():
        each = statistics.median(seconds)
        far = np.abs(weights[name] - exact).max()
        print(f"  {name:28} {1e3 * each:7.1f} ms a model  {each / base:5.2f}x the time of jali  ", end="")
        print(f"largest difference {far:.0e}", flush=True)


def main() -> None:
    """All sizes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for size in SIZES:
            compare(*size, options.turns)


if __name__ == "__main__":
    main()
