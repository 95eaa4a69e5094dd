"""Counterfactuals by dice-ml: `python run_dice.py task.npz answer.npz`, with the python of the peers' environment.

Reads a table, some of its records and a model as plain arrays, and asks every method for one counterfactual of one
record after the other. Writes rows (n, D), missing values where there is none, and CPU seconds (n,) by method, with the
labels this model gives the table, so that the caller can see that it is the same one. Settings are dice-ml's own, but
one counterfactual is asked for instead of several, and the gradient search goes without the linear search afterwards,
which takes five times as long as the search itself.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import dice_ml
import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from raiutils.exceptions import UserConfigValidationException  # type: ignore[import-not-found]
from sklearn.ensemble import RandomForestClassifier

Array = npt.NDArray[Any]


class Probabilities:
    """A model as dice-ml asks it, for any function from rows to the probability of class 1."""

    classes_ = np.array([0, 1])

    def __init__(self, favourable: Callable[[Array], Array]) -> None:
        self.favourable = favourable

    def predict_proba(self, rows: Any) -> Array:
        p = self.favourable(np.asarray(rows, dtype=np.float64))
        return np.stack([1 - p, p], axis=1)

    def predict(self, rows: Any) -> Array:
        return np.asarray(self.predict_proba(rows).argmax(axis=1))


class Network(torch.nn.Module):
    """The network in torch, on columns that dice-ml has scaled from their range in the table to 0 .. 1."""

    def __init__(self, given: dict[str, Array]) -> None:
        super().__init__()
        self.W, self.b, self.V, self.c = (torch.tensor(given[name]) for name in ("W", "b", "V", "c"))
        low, high = given["X"].min(axis=0), given["X"].max(axis=0)
        self.low, self.span = (torch.tensor(a, dtype=torch.float32) for a in (low, high - low))

    def forward(self, scaled: torch.Tensor) -> torch.Tensor:
        logits = ((self.low + scaled * self.span) @ self.W + self.b).relu() @ self.V + self.c
        return torch.sigmoid(logits[..., 1:] - logits[..., :1])


def network(given: dict[str, Array]) -> Probabilities:
    """The network in numpy, for methods that ask for labels only: quicker than through torch."""

    def favourable(rows: Array) -> Array:
        logits = np.maximum(rows.astype(np.float32) @ given["W"] + given["b"], 0) @ given["V"] + given["c"]
        return np.asarray(1 / (1 + np.exp(logits[:, 0] - logits[:, 1])))

    return Probabilities(favourable)


def forest(given: dict[str, Array]) -> Probabilities:
    """The forest, trained again from the same seed."""
    trees = RandomForestClassifier(int(given["trees"]), random_state=int(given["seed"])).fit(given["X"], given["y"])
    return Probabilities(lambda rows: np.asarray(trees.predict_proba(rows))[:, 1])


def answers(explainer: Any, records: pd.DataFrame, settings: dict[str, Any]) -> tuple[Array, Array]:
    """Rows (n, D) and CPU seconds (n,), one record after the other."""
    rows, seconds = np.full(records.shape, np.nan), np.zeros(len(records))
    for i in range(len(records)):
        began = time.process_time()
        try:
            made = explainer.generate_counterfactuals(records[i : i + 1], total_CFs=1, desired_class=1, **settings)
        except UserConfigValidationException:  # nothing was found
            made = None
        seconds[i] = time.process_time() - began
        if made is not None:
            one = made.cf_examples_list[0]
            found = one.final_cfs_df if one.final_cfs_df_sparse is None else one.final_cfs_df_sparse
            rows[i] = found[list(records)].to_numpy(dtype=np.float64)[0]
    return rows, seconds


def main(task: str, answer: str) -> None:
    """All methods that fit the model."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # dice-ml draws from the global generators
    with np.load(task) as file:
        given = dict(file)
    names = [f"x{j}" for j in range(given["X"].shape[1])]
    table = pd.DataFrame(given["X"], columns=names).assign(y=given["y"])
    data = dice_ml.Data(dataframe=table, continuous_features=names, outcome_name="y")
    asked = network(given) if "W" in given else forest(given)
    labels = dice_ml.Model(model=asked, backend="sklearn")
    methods: dict[str, tuple[Any, dict[str, Any]]] = {"random": (labels, {"random_seed": 0}), "genetic": (labels, {})}
    if "W" in given:
        slopes = dice_ml.Model(model=Network(given), backend="PYT", func="ohe-min-max")
        methods["gradient"] = slopes, {"posthoc_sparsity_param": None}
    out: dict[str, Array] = {"version": np.array(version("dice-ml")), "labels": asked.predict(given["X"])}
    for method, (model, settings) in methods.items():
        explainer = dice_ml.Dice(data, model, method=method)
        records = pd.DataFrame(given["records"], columns=names)
        out[f"{method} rows"], out[f"{method} seconds"] = answers(explainer, records, settings)
    np.savez(answer, **out)  # type: ignore[arg-type]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
