"""Places where explainers, models and tools are known to keep training rows or counts, and what they offer instead."""

from __future__ import annotations

import re
from typing import NamedTuple


class Place(NamedTuple):
    """A known place: the library, a pattern of where, what lies there, and the fix that the library offers."""

    library: str
    where: str
    what: str
    fix: str


PLACES = (
    Place(
        "shap",
        r"masker|\.data\b|background|Explanation|explanation|script",
        "the background that shap compares with, or the rows that were explained",
        "Give shap a background that is nobody's: shap.kmeans(X, 10, round_values=False), public or synthetic rows; a "
        'tree explainer needs none (feature_perturbation="tree_path_dependent"). Store values, not the explainer.',
    ),
    Place(
        "dice_ml",
        r"",
        "the table that DiCE samples from",
        "Build dice_ml.Data from feature ranges (features={...}, outcome_name=...) instead of dataframe=, and do not "
        'use method="kdtree", which answers with training rows.',
    ),
    Place(
        "nice",
        r"",
        "the training rows that NICE answers with",
        "NICE cannot work without them: do not pass the object on, and audit what it answers (k_anonymous(nice())).",
    ),
    Place(
        "anchor",
        r"",
        "the rows that anchors perturb, and the examples in an explanation",
        "Set explainer.train and explainer.d_train to None before you store it, and leave out examples "
        "(exp.exp_map['examples']).",
    ),
    Place(
        "lime",
        r"",
        "statistics, values and counts of the training table",
        "Build LimeTabularExplainer with training_data_stats, which you can round, instead of training_data.",
    ),
    Place(
        "interpret",
        r"",
        "how many people are in each bin of an explainable boosting machine",
        "Remove the counts before you store it (ebm.bin_weights_, histogram_weights_), or train "
        "DPExplainableBoostingClassifier.",
    ),
    Place(
        "lore_sa",
        r"",
        "the table that LORE was given",
        "Give TabularDataset a descriptor of the columns instead of the table.",
    ),
    Place("mlflow", r"", "the example that MLflow logs beside a model", ""),
    Place(
        "sklearn",
        r"_fit_X|\.data\b|support_vectors_|X_train_|X_fit_|_tree\b",
        "rows that the model itself predicts with",
        "This kind of model is made of training rows (neighbours, support vectors, kernels): store another kind.",
    ),
)
MLFLOW = re.compile(r"input_example|serving_input|MLmodel")
LOGGED = (
    "Log a made-up row as input_example, and no shap explainer with rows (mlflow.shap.log_explanation stores them)."
)
DOCUMENT = "Clear the output, or show summaries, before the document is passed on (jupyter nbconvert --clear-output)."
FILE = "Remove these rows, or keep the file where the training data are kept."
FIGURE = "An interactive figure carries the data it draws: save a picture, or aggregate before drawing."


def library_of(where: str, library: str) -> str:
    """The library a place belongs to: that of the object that holds it, or of the file by its name."""
    return "mlflow" if MLFLOW.search(where) and library in ("", "mlflow") else library


def advice(where: str, library: str) -> tuple[str, str]:
    """What lies at a place, and what to do about it."""
    if library_of(where, library) == "mlflow":
        return "the example that MLflow logs beside a model", LOGGED
    for place in PLACES:
        if place.library == library and re.search(place.where, where):
            return place.what, place.fix
    if any(sign in where for sign in (", script", "output.data", "output.datasets")):
        return "the data of an interactive figure", FIGURE
    if ".ipynb" in where or ".htm" in where:
        return "a document", DOCUMENT
    return "", FILE
