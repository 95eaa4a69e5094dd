"""10,000 protected answers on Adult, checked against the training rows by an independent count.

Counts, with pandas alone: immutable columns that moved; interval ends and values that exactly one training person has;
categories that exactly one has. A category that few people have is shown only in a list with all other rare ones. Also
how many people were answered, and for how many the model agrees. Usage: python benchmarks/bench_protect.py [method]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import jali
from jali.data.adult import Adult
from jali.data.tables.frames import frame

MEMBERS, ASKED = 20_000, 10_000
IMMUTABLE = ["age", "race", "sex", "native-country"]
QUASI = ["age", "marital-status", "relationship", "race", "sex"]


def adult() -> tuple[pd.DataFrame, Any]:
    data = Adult().load()
    table = frame(data.X, data.schema).drop(columns="fnlwgt")
    return table, np.array(data.schema.classes)[data.y]


def main(method: str) -> None:
    X, y = adult()
    words = [c for c in X if X[c].dtype.kind not in "if"]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough")
    forest = RandomForestClassifier(30, max_depth=12, random_state=0)
    train = X[:MEMBERS], y[:MEMBERS]
    model = make_pipeline(columns, forest).fit(*train)
    began = time.process_time()
    protected = jali.protect(model, train, method, favourable=">50K", immutable=IMMUTABLE, quasi=QUASI, sensitive="sex")
    made = time.process_time() - began
    asked = X[MEMBERS:].reset_index(drop=True)
    asked = asked[model.predict(asked) == "<=50K"].head(ASKED).reset_index(drop=True)
    began = time.process_time()
    answers = protected.explain(asked)
    spent = time.process_time() - began
    given = [i for i, a in enumerate(answers) if a.row]
    rows = pd.DataFrame([answers[i].row for i in given])
    print(protected.guarantee.explained())
    print(f"asked {len(asked)}, answered {len(given)} ({len(given) / len(asked):.1%})")
    print(f"valid {(model.predict(rows[X.columns]) == '>50K').mean():.4f}")
    print(f"seconds to make {made:.1f}, per answer {spent / len(asked):.5f}")
    moved = sum((rows[c].to_numpy() != asked.loc[given, c].to_numpy()).sum() for c in IMMUTABLE)
    shown = sum(c in (answers[i].region or {}) for i in given for c in IMMUTABLE)
    print(f"immutable values that moved: {moved}; immutable columns in a region: {shown}")
    _count([answers[i] for i in given], rows, asked.loc[given].reset_index(drop=True), train[0])


def _count(given: list[Any], rows: pd.DataFrame, asked: pd.DataFrame, train: pd.DataFrame) -> None:
    counts = {c: train[c].value_counts() for c in train}
    ends = lone = few = single = listed = 0
    for i, answer in enumerate(given):
        for name, shown in answer.region.items():
            if isinstance(shown, tuple):
                ends += 2
                lone += sum(counts[name].get(v, 0) == 1 for v in shown)
                few += sum(0 < counts[name].get(v, 0) < 10 for v in shown)
            elif isinstance(shown, list):
                single += len(shown) == 1 and counts[name].get(shown[0], 0) == 1
                listed += sum(counts[name].get(v, 0) == 1 for v in shown)
            value: Any = rows.at[i, name]
            own: Any = asked.at[i, name]
            lone += value != own and counts[name].get(value, 0) == 1 and not isinstance(shown, list)
    print(f"interval ends shown: {ends}; that exactly one training person has: {lone}; that 1 to 9 people have: {few}")
    print(f"categories that exactly one person has: {single} shown alone, {listed} in a list with other rare ones")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "k_groups")
