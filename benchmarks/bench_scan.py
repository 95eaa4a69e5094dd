"""`jali scan` on objects, files and documents made by the real libraries: the known number of rows, and none elsewhere.

python benchmarks/bench_scan.py; needs JALI_DATA, and shap, lime, dice-ml, interpret-core, anchor-exp, NICEx, lore_sa
and mlflow-skinny where they install: what is missing is said. Each line: what, rows expected, rows found, CPU seconds.
"""

from __future__ import annotations

import importlib
import json
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import jali
from jali.core import registry
from jali.data.tables import frames

Case = tuple[str, Callable[[], Any], int]
TRAINED = 1000


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training rows and other people of Adult."""
    data = registry.build("data", "adult").load()
    order = np.random.default_rng(0).permutation(len(data))[: 3 * TRAINED]
    whole = frames.frame(data.X[order], data.schema).assign(income=data.y[order])
    return whole[:TRAINED].reset_index(drop=True), whole[TRAINED:].reset_index(drop=True)


def load(name: str) -> Any:
    """A library that may be missing."""
    return importlib.import_module(name)


def cases(train: pd.DataFrame, others: pd.DataFrame) -> Iterator[Case]:
    """Objects, with how many training rows they hold."""
    numbers = [c for c in train.columns if train[c].dtype.kind in "if" and c != "income"]
    X = np.array(train[numbers].to_numpy(float))
    y = train["income"].to_numpy()
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    yield "sklearn forest", lambda: forest, 0
    yield "sklearn neighbours", lambda: KNeighborsClassifier().fit(StandardScaler().fit_transform(X), y), TRAINED
    machine = SVC().fit(X, y)
    yield "sklearn support vectors", lambda: machine, len(machine.support_)
    yield "shap tree, 100 background rows", lambda: load("shap").TreeExplainer(forest, X[:100]), 100
    yield "shap tree, no background", lambda: load("shap").TreeExplainer(forest), 0
    yield "shap kernel, 50 rows", lambda: load("shap").KernelExplainer(forest.predict_proba, X[:50]), 50
    yield "shap kernel, others' rows", lambda: load("shap").KernelExplainer(forest.predict, others[numbers][:50]), 0
    yield "shap explanation of 30 rows", lambda: load("shap").TreeExplainer(forest)(X[:30]), 30
    lime = lambda **o: load("lime.lime_tabular").LimeTabularExplainer(X, feature_names=numbers, **o)  # noqa: E731
    yield "lime explainer", lime, 0
    frame = train[[*numbers, "income"]]
    yield "DiCE", lambda: _dice(frame, numbers, forest), TRAINED
    anchors = lambda: load("anchor.anchor_tabular").AnchorTabularExplainer(["no", "yes"], numbers, X)  # noqa: E731
    yield "anchors", anchors, TRAINED
    nice = {"X_train": X.copy(), "cat_feat": [], "num_feat": list(range(len(numbers))), "y_train": y}
    yield "NICE", lambda: load("nice").NICE(predict_fn=forest.predict_proba, **nice), TRAINED
    texts = frame.assign(income=frame["income"].map({0: "no", 1: "yes"}))
    yield "lore_sa", lambda: load("lore_sa.dataset").TabularDataset(texts, class_name="income"), TRAINED
    strangers = np.array(others[numbers].to_numpy(float))
    theirs = others[[*numbers, "income"]]
    labels = {"X_train": strangers.copy(), "y_train": others["income"].to_numpy()}
    yield "DiCE, others' rows", lambda: _dice(theirs, numbers, forest), 0
    made = lambda: load("anchor.anchor_tabular").AnchorTabularExplainer(["no", "yes"], numbers, strangers)  # noqa: E731
    yield "anchors, others' rows", made, 0
    yield "NICE, others' rows", lambda: load("nice").NICE(predict_fn=forest.predict_proba, **(nice | labels)), 0
    named = theirs.assign(income=theirs["income"].map({0: "no", 1: "yes"}))
    yield "lore_sa, others' rows", lambda: load("lore_sa.dataset").TabularDataset(named, class_name="income"), 0
    yield "EBM (counts only)", lambda: _ebm(X, y), 0
    yield "other people's table", lambda: others, 0


def _dice(frame: pd.DataFrame, numbers: list[str], forest: Any) -> Any:
    dice = load("dice_ml")
    data = dice.Data(dataframe=frame, continuous_features=numbers, outcome_name="income")
    return dice.Dice(data, dice.Model(model=forest, backend="sklearn"), method="random")


def _ebm(X: Any, y: Any) -> Any:
    model = load("interpret.glassbox").ExplainableBoostingClassifier
    return model(interactions=0, max_rounds=20, outer_bags=2, n_jobs=1).fit(X, y)


def documents(train: pd.DataFrame, others: pd.DataFrame, folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Files that the real libraries write, with how many training rows they hold."""
    numbers = [c for c in train.columns if train[c].dtype.kind in "if" and c != "income"]
    X = train[numbers].to_numpy(float)
    forest = RandomForestClassifier(20, random_state=0).fit(X, train["income"])
    for name, rows, want in (("training rows", train[:15], 15), ("other people", others[:15], 0)):
        page = folder / f"frame {want}.html"
        page.write_text(rows.to_html())
        yield f"pandas page, {name}", page, want
        cell = {"outputs": [{"data": {"text/html": rows.to_html(), "text/plain": repr(rows)}}], "source": ""}
        book = folder / f"book {want}.ipynb"
        book.write_text(json.dumps({"cells": [cell]}))
        yield f"notebook, {name}", book, want
        yield f"shap force plot, {name}", _force(rows[numbers], forest, folder / f"force {want}.html"), want
        yield f"lime page, {name}", _lime(rows[numbers].to_numpy(float), X, numbers, forest, folder), want and 1
    yield "MLflow model with an input example", _mlflow(forest, train[numbers][:5], folder / "mlflow"), 5
    yield "MLflow model, others' example", _mlflow(forest, others[numbers][:5], folder / "mlflow others"), 0
    yield "MLflow model without an example", _mlflow(forest, None, folder / "mlflow none"), 0


def _force(rows: pd.DataFrame, forest: Any, path: Path) -> Path:
    shap = load("shap")
    found = shap.TreeExplainer(forest)(rows.to_numpy(float))
    plot = shap.plots.force(float(np.ravel(found.base_values)[0]), found.values[..., 1], rows)
    shap.save_html(str(path), plot)
    return path


def _lime(rows: Any, X: Any, names: list[str], forest: Any, folder: Path) -> Path:
    explainer = load("lime.lime_tabular").LimeTabularExplainer(X, feature_names=names, random_state=0)
    path = folder / f"lime {rows[0, 0]:g}.html"
    path.write_text(explainer.explain_instance(rows[0], forest.predict_proba, num_features=len(names)).as_html())
    return path


def _mlflow(forest: Any, rows: pd.DataFrame | None, folder: Path) -> Path:
    load("mlflow.sklearn").save_model(forest, str(folder), input_example=rows, serialization_format="pickle")
    return folder


def show(label: str, want: int, what: Any, train: pd.DataFrame, others: pd.DataFrame) -> None:
    """One line."""
    began = time.process_time()
    found = jali.scan(what, train, others=others).results
    spent = time.process_time() - began
    small = sum(c.small for c in found.counts)
    where = found.leaks[0].where if found.leaks else ""
    verdict = "ok" if found.people == want else "MISS"
    print(
        f"{verdict:5}{label:40} expected {want:5} found {found.people:5} small counts {small:5} {spent:5.2f} s  {where}"
    )


def main() -> None:
    """Print a line for each fixture."""
    warnings.simplefilter("ignore")
    train, others = tables()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, make, want in cases(train, others):
            try:
                thing = make()
                show(label, want, thing, train, others)
            except ImportError as error:
                print(f"     {label:40} is not here: {error}")
                continue
            for write in ("pickle", "joblib"):
                file = folder / f"{label.replace(' ', '_').replace(',', '')}.{write}"
                try:
                    file.write_bytes(pickle.dumps(thing)) if write == "pickle" else joblib.dump(thing, file, compress=1)
                except (TypeError, AttributeError, pickle.PicklingError):
                    continue  # the library's objects hold functions that cannot be pickled
                show(f"  as {write} file", want, file, train, others)
        made = documents(train, others, folder)
        while True:
            try:
                label, path, want = next(made)
            except StopIteration:
                break
            except ImportError as error:  # of MLflow, whose models come last
                print(f"     the models of MLflow: {error}")
                break
            show(label, want, path, train, others)


if __name__ == "__main__":
    main()
