"""A small table of applicants with texts, and models of it, for the tests of protect."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

NUMBERS = ["age", "income", "late"]
SETTINGS = {"favourable": "yes", "immutable": ["age", "sex"], "sensitive": "sex"}
BOUNDS = {
    "age": (18, 80),
    "sex": ["f", "m"],
    "job": ["clerk", "nurse", "none", "smith"],
    "income": (0, 300),
    "late": (0, 20),
}
DECLARED = SETTINGS | {"bounds": BOUNDS, "schema": {"classes": ["no", "yes"]}}


def applicants(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["clerk", "smith", "nurse", "none"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "income": np.round(rng.lognormal(3.4, 0.5, n), 1),
            "late": rng.poisson(1.0, n),
        }
    )
    score = table["income"] / 12 - table["late"] - 2 * (table["job"] == "none") + rng.normal(0, 0.5, n)
    return table, pd.Series(np.where(score > 1.6, "yes", "no"))


@functools.cache
def trained(n: int = 400):
    """Training people, others, and a pipeline that reads texts."""
    train = applicants(n, 0)
    columns = make_column_transformer((OneHotEncoder(), ["sex", "job"]), (StandardScaler(), NUMBERS))
    return train, applicants(300, 1), make_pipeline(columns, LogisticRegression()).fit(*train)
