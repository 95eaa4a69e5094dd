"""Text columns: audits of an own pipeline at 4,000 to 100,000 rows; the CPU time per row must stay flat.

The table has four text columns and four numbers; the model is a pipeline of one-hot columns and a tree, with 32 shadow
models, and is audited without an explanation. An explainer asks about 256 rows at a time, so what such a call costs is
measured, too: it must not depend on how many rows the table has.

python benchmarks/bench_text.py [--rows 4000 20000 100000] [--shadows 32]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.audit.setup import Resources
from jali.data.tables.frames import Like, dataset
from jali.models.given import Given
from measure import exponent

TEXTS = ("town", "job", "plan", "channel")
TILE = 256


def people(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """n rows with text columns of 6 to 40 values, and a class that depends on two of them."""
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, many, n) for name, many in zip(TEXTS, (40, 20, 6, 12), strict=True)}
    columns = {name: [f"{name} number {code}" for code in code_of] for name, code_of in codes.items()}
    numbers = {f"x{j}": rng.normal(size=n) for j in range(4)}
    score = codes["plan"] - 2.5 + numbers["x0"] + rng.logistic(size=n)
    return pd.DataFrame({**columns, **numbers}), (score > 0).astype(int)


def pipeline() -> Pipeline:
    """One-hot texts and numbers, then a tree."""
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), list(TEXTS)), remainder="passthrough")
    return make_pipeline(encode, DecisionTreeClassifier(max_depth=6, random_state=0))


def audited(rows: int, shadows: int) -> tuple[float, float]:
    """CPU seconds of an audit, and of one call about 256 rows."""
    X, y = people(rows)
    half = rows // 2
    model = pipeline().fit(X[:half], y[:half])
    began = time.process_time()
    members = X[:half], y[:half]
    others = X[half:], y[half:]
    game = f"given_model(members={half}, shadows={shadows})"
    jali.audit(model, members, others, game=game, attack=["lira"], resources=Resources(workers=1))
    spent = time.process_time() - began
    return spent, one_tile(model, X, y)


def one_tile(model: Pipeline, X: pd.DataFrame, y: np.ndarray) -> float:
    """CPU seconds of one call about 256 rows, as an explainer makes it; the best of ten."""
    data = dataset(X.assign(y=y), "y")
    asked = Given(model, like=Like.of(X)).existing(data)
    found = []
    for _ in range(10):
        began = time.process_time()
        asked.logits(data.X[:TILE])
        found.append(time.process_time() - began)
    return min(found)


def main() -> None:
    """Each size once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[4_000, 20_000, 100_000])
    parser.add_argument("--shadows", type=int, default=32)
    options = parser.parse_args()
    found = []
    for rows in options.rows:
        spent, tile = audited(rows, options.shadows)
        found.append(spent)
        each = 1e6 * spent / rows / (options.shadows + 1)
        print(f"{rows:,} rows x {options.shadows + 1} models: {spent:.1f} s CPU, {each:.1f} microseconds ", end="")
        print(f"per row and model; a call about {TILE} rows {1e3 * tile:.1f} ms", flush=True)
    print(f"exponent in rows {exponent(options.rows, found):.2f}: 1 is flat per row, 2 would be quadratic")


if __name__ == "__main__":
    main()
