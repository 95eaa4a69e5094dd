"""Counterfactuals by NICEx: `python run_nice.py task.npz answer.npz`, with the python of the peers' environment.

Reads a table, some of its records, a forest's seed and an autoencoder's weights as plain arrays, and asks every variant
for the counterfactual of one record after the other. Writes rows (n, D) and CPU seconds (n,) by variant, with the
labels this forest gives the table, so that the caller can see that it is the same one. Settings are the package's own,
but the variant without optimisation takes all rows of the wanted prediction for candidates, as Goethals et al. do.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from nice import NICE  # type: ignore[import-not-found]
from sklearn.ensemble import RandomForestClassifier

Array = npt.NDArray[Any]
Function = Callable[[Array], Array]


def encoder(given: dict[str, Array]) -> Function:
    """Rows of model space: numbers scaled, codes one-hot."""
    width, centre, spread = given["width"], given["centre"], given["spread"]

    def encode(X: Array) -> Array:
        blocks = [
            np.eye(w)[X[:, j].astype(int)] if w else (X[:, [j]] - centre[j]) / spread[j] for j, w in enumerate(width)
        ]
        return np.concatenate(blocks, axis=1)

    return encode


def autoencoder(given: dict[str, Array], encode: Function) -> Function:
    """Mean squared error of what the autoencoder makes of a row, softmax within the columns of each category."""
    W1, b1, W2, b2, W3, b3, W4, b4 = (given[f"layer {i}"] for i in range(8))
    starts = np.cumsum([0, *np.maximum(given["width"], 1)])

    def error(X: Array) -> Array:
        S = np.clip((encode(X) - given["mean"]) / given["deviation"], -given["reach"], given["reach"])
        code = np.split(np.logaddexp(0, S @ W1 + b1) @ W2 + b2, 2, axis=1)[0]
        out = np.logaddexp(0, code @ W3 + b3) @ W4 + b4
        for start, w in zip(starts, given["width"], strict=False):
            if w:
                mass = np.exp(out[:, start : start + w] - out[:, start : start + w].max(axis=1, keepdims=True))
                out[:, start : start + w] = mass / mass.sum(axis=1, keepdims=True)
        return np.asarray(((out - S) ** 2).mean(axis=1))

    return error


def main(task: str, answer: str) -> None:
    """All variants."""
    with np.load(task) as file:
        given = dict(file)
    encode, codes = encoder(given), np.flatnonzero(given["width"]).tolist()
    leaves = int(given["leaves"]) or None
    forest = RandomForestClassifier(int(given["trees"]), max_leaf_nodes=leaves, random_state=int(given["seed"]))
    forest.fit(encode(given["X"]), given["y"])
    out: dict[str, Array] = {"version": np.array(version("NICEx")), "labels": forest.predict(encode(given["X"]))}
    for variant in ("none", "sparsity", "proximity", "plausibility"):
        explainer = NICE(
            predict_fn=lambda X: forest.predict_proba(encode(X)),
            X_train=given["X"].copy(),
            y_train=given["y"],
            cat_feat=codes,
            optimization=variant,
            justified_cf=variant != "none",
            auto_encoder=autoencoder(given, encode),
        )
        rows, seconds = np.empty_like(given["records"]), np.zeros(len(given["records"]))
        for i, record in enumerate(given["records"]):
            began = time.process_time()
            rows[i] = explainer.explain(record[None].copy())[0]
            seconds[i] = time.process_time() - began
        out |= {f"{variant} rows": rows, f"{variant} seconds": seconds}
    np.savez(answer, **out)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
