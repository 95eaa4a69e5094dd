"""Local rules by lore_sa: `python run_lore.py task.npz answer.npz`, with the python of its own environment.

Reads a table, some records, the weights of a network and rows around each record as plain arrays. Explains one record
after the other with the package's genetic generator and its own settings. Writes, for each record: CPU seconds, the
fidelity that the package reports, what its tree predicts for the rows that were sent (n, K), and a second neighbourhood
(n, S, D) drawn afterwards, with what the tree predicts there (n, S).
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from lore_sa.bbox import AbstractBBox  # type: ignore[import-not-found]
from lore_sa.dataset import TabularDataset  # type: ignore[import-not-found]
from lore_sa.lore import TabularGeneticGeneratorLore  # type: ignore[import-not-found]

Array = npt.NDArray[Any]


class Network(AbstractBBox):  # type: ignore[misc]
    """The black box: codes stand as texts in the package's tables, and as numbers here."""

    def __init__(self, given: dict[str, Array]) -> None:
        self.given = given
        self.layers = [(given[f"weight {i}"], given[f"bias {i}"]) for i in range(int(given["layers"]))]

    def encode(self, X: Array) -> Array:
        """Rows of model space: numbers scaled, codes one-hot."""
        width, centre, spread = self.given["width"], self.given["centre"], self.given["spread"]
        blocks = [
            np.eye(w)[X[:, j].astype(int)] if w else (X[:, [j]] - centre[j]) / spread[j] for j, w in enumerate(width)
        ]
        return np.concatenate(blocks, axis=1)

    def scores(self, rows: Any) -> Array:
        """Class scores (n, C)."""
        Z = self.encode(np.asarray(rows, dtype=object).astype(float))
        for k, (weight, bias) in enumerate(self.layers):
            Z = Z @ weight + bias
            Z = np.maximum(Z, 0) if k + 1 < len(self.layers) else Z
        return np.asarray(Z)

    def predict(self, sample_matrix: Any) -> Array:
        """Class numbers as texts."""
        return np.asarray(self.scores(sample_matrix).argmax(axis=1).astype(str))

    def predict_proba(self, sample_matrix: Any) -> Array:
        """Class probabilities."""
        scores = self.scores(sample_matrix)
        mass = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def texts(X: Array, width: Array) -> Array:
    """Rows as the package wants them: numbers, and codes as texts."""
    out = X.astype(object)
    for j in np.flatnonzero(width):
        out[:, j] = X[:, j].astype(int).astype(str)
    return out


def main(task: str, answer: str) -> None:
    """Explain all records."""
    warnings.simplefilter("ignore")
    with np.load(task) as file:
        given = dict(file)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (the package draws from the global stream)
    width, samples, box = given["width"], int(given["samples"]), Network(given)
    table = pd.DataFrame({f"x{j}": column for j, column in enumerate(texts(given["X"], width).T)})
    for j in np.flatnonzero(width == 0):
        table[f"x{j}"] = table[f"x{j}"].astype(float)
    table["y"] = box.predict(given["X"])
    explainer = TabularGeneticGeneratorLore(box, TabularDataset(table, class_name="y"))
    explainer.generator.ngen = int(given["generations"])
    kept: dict[str, list[Any]] = {name: [] for name in ("seconds", "fidelity", "sent", "rows", "own")}
    for record, around in zip(texts(given["records"], width), given["around"], strict=True):
        began = time.process_time()
        told = explainer.explain(record, num_instances=samples)
        kept["seconds"].append(time.process_time() - began)
        kept["fidelity"].append(told["fidelity"])
        encoder, tree = explainer.encoder, explainer.surrogate.dt
        kept["sent"].append(tree.predict(encoder.encode(texts(around, width))))
        again = explainer.generator.generate(encoder.encode([record])[0].copy(), samples, explainer.descriptor, encoder)
        kept["rows"].append(np.asarray(encoder.decode(again), dtype=object).astype(float)[:samples])
        kept["own"].append(tree.predict(again)[:samples])
    arrays: dict[str, Any] = {name: np.array(value) for name, value in kept.items()}
    np.savez(answer, version=version("LORE_sa"), **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
