"""Every method of `jali.protect` on Adult for several kinds of model: the sentence, the guarantee and the price.

Models: a forest, boosted trees, a torch network (numbers alone) and a pipeline that reads texts. What a user writes is
what stands in `six_lines`. Methods that pay for each answer need a model with a stability bound, so they are shown for
`clipped_logistic`. Every answer is checked with pandas alone: no immutable column moves, and values and ends of
intervals that exactly one training person has are counted; methods that promise it must show none. (Private models and
synthetic rows can meet such a value by chance.) Bounds: `frontier/adult-columns.toml`.
Usage: bench_protect_methods.py [training rows] [people] [model or method …]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import jali
from jali.core.errors import JaliError
from jali.data.adult import Adult
from jali.data.tables.frames import frame

IMMUTABLE = ["age", "race", "sex", "native-country"]
QUASI = ["age", "marital-status", "relationship", "race", "sex"]
DECLARED = tomllib.loads((Path(__file__).parent / "frontier" / "adult-columns.toml").read_text())
STABLE = "clipped_logistic(C=0.1, bound=2.0)"
FREE = (
    "k_groups",
    "k_anonymous",
    "mutual",
    "dp_logistic(epsilon=4.0, bound=2.0)",
    "dp_sgd(mlp(hidden=[8], epochs=3), epsilon=4.0, rate=0.1)",
    "dp_ebm(epsilon=1.0)",
    "dp_weights_recourse",
    'private_background(nice("sparsity"), epsilon=1.0)',
    'hardened(nice("sparsity"), snap=0.5)',
    "hardened(lime(samples=100), round=2, top=3, normalise=true)",
    "k_rules(tree_surrogate(), k=10)",
)
PROMISED = ("k_groups", "k_anonymous", "mutual")
KINDS = ("forest", "boosted trees", "torch", "pipeline with strings", STABLE)
PAID = ("public_direction(epsilon=0.5)", "above_threshold(epsilon=0.5, reach=6.0)")


def six_lines(model: Any, train: Any, method: Any, asked: Any, others: Any, **more: Any) -> Any:
    protected = jali.protect(
        model,
        train=train,
        method=method,
        favourable=">50K",
        immutable=[c for c in IMMUTABLE if c in train[0]],
        quasi=[c for c in QUASI if c in train[0]],
        sensitive="sex" if "sex" in train[0] else "",
        **more,
    )
    answers = protected.explain(asked)
    price = None if protected.claim else protected.price(others)
    return protected, answers, price


def adult() -> tuple[pd.DataFrame, Any]:
    data = Adult().load()
    return frame(data.X, data.schema).drop(columns="fnlwgt"), np.array(data.schema.classes)[data.y]


def network(X: pd.DataFrame, y: Any) -> Any:
    """A small torch network on numbers."""
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(X.shape[1]), torch.nn.Linear(X.shape[1], 8), torch.nn.ReLU())
    net.append(torch.nn.Linear(8, 2))
    rows = torch.tensor(X.to_numpy(dtype=np.float32))
    labels = torch.tensor((y == ">50K").astype(np.int64))
    steps = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        steps.zero_grad()
        loss: Any = torch.nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        steps.step()
    return net.eval()


def fitted(label: str, X: pd.DataFrame, y: Any) -> tuple[Any, list[str]]:
    """A model of this kind, and the columns that it reads."""
    every = [str(c) for c in X]
    numbers = [c for c in every if X[c].dtype.kind in "if"]
    words = [c for c in every if c not in numbers]
    coded = OneHotEncoder(handle_unknown="ignore")
    if label == "forest":
        columns = make_column_transformer((coded, words), remainder="passthrough")
        return make_pipeline(columns, RandomForestClassifier(30, max_depth=12, random_state=0)).fit(X, y), every
    if label == "boosted trees":
        return HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(X[numbers], y), numbers
    if label == "torch":
        return network(X[numbers], y), numbers
    if label == "pipeline with strings":
        columns = make_column_transformer((coded, words), (StandardScaler(), numbers))
        return make_pipeline(columns, LogisticRegression(max_iter=500)).fit(X, y), every
    return label, every


def declared(columns: list[str]) -> dict[str, Any]:
    """What is known of these columns without the rows."""
    known = {name: DECLARED["columns"][name] for name in columns}
    return {"schema": {"classes": DECLARED["classes"], "columns": known}}


def method_of(text: str, folder: Path) -> str:
    if text != "dp_weights_recourse":
        return text
    key = folder / "recourse.key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(32))
    return f'dp_weights_recourse(weights=dp_logistic(epsilon=8.0, bound=2.0, C=0.1), beta=1.0, key="{key}")'


def moved(answers: Any, asked: pd.DataFrame, columns: list[str]) -> int:
    """Immutable values that moved, or stand in a region."""
    fixed = [c for c in IMMUTABLE if c in columns]
    out = 0
    for (_, person), answer in zip(asked.iterrows(), answers, strict=True):
        out += sum((answer.row or {}).get(c, person[c]) != person[c] for c in fixed)
        out += sum(c in (answer.region or {}) for c in fixed)
    return out


def lone(answers: Any, asked: pd.DataFrame, train: pd.DataFrame) -> int:
    """Values that are not the applicant's own, and ends of intervals, that exactly one training person has."""
    counts = {c: train[c].value_counts() for c in train}
    out = 0
    for (_, person), answer in zip(asked.iterrows(), answers, strict=True):
        row = answer.row or {}
        region = answer.region or {}
        shown = [(c, v) for c, v in row.items() if v != person[c] and not isinstance(region.get(c), list)]
        shown += [(c, end) for c, ends in region.items() if isinstance(ends, tuple) for end in ends]
        shown += [(c, listed[0]) for c, listed in region.items() if isinstance(listed, list) and len(listed) == 1]
        out += sum(counts[c].get(v, 0) == 1 for c, v in shown)
    return out


def shown(
    label: str, method: str, found: Any, asked: pd.DataFrame, columns: list[str], spent: float, train: pd.DataFrame
) -> int:
    protected, answers, price = found
    told = next((a for a in answers if a.row or a.attribution), answers[0])
    print(f"\n== {label}, {method} ({spent:.1f} CPU s)")
    print(f"   {told.sentence}")
    print(f"   guarantee: {protected.guarantee}")
    lines = [] if price is None else [n for n in price.lines if n.group == "all" and n.measure != "withheld"]
    said = ", ".join(f"{n.measure} {n.value:.3g}" + ("" if n.plain is None else f" ({n.plain:.3g})") for n in lines)
    print(f"   price, unprotected in brackets: {said}" if said else f"   price: {protected.budget.sentence(0.5)}")
    wrong = moved(answers, asked, columns)
    single = lone(answers, asked, train)
    given = sum(not a.withheld for a in answers)
    print(
        f"   answered {given} of {len(answers)}; immutable values that moved: {wrong}; values of one person: {single}"
    )
    sys.stdout.flush()
    return wrong + single * (method in PROMISED)


def main(rows: int, people: int, only: list[str]) -> bool:
    X, y = adult()
    train = X[:rows], y[:rows]
    outside = X[rows : rows + people].reset_index(drop=True), y[rows : rows + people]
    folder = Path(tempfile.mkdtemp())
    wrong = failed = 0
    for label in [kind for kind in KINDS if kind in only or not set(KINDS) & set(only)]:
        model, columns = fitted(label, *train)
        methods = [m for m in (PAID if label == STABLE else FREE) if _named(m, only)]
        for method in methods:
            began = time.process_time()
            given = declared(columns)
            others = outside[0][columns], outside[1]
            asked = others[0].head(3 if label == STABLE else 100)
            if label == STABLE:
                given |= {"population": others, "budget": jali.Budget(2.0, folder / f"{method[:5]}.ledger")}
            mine = train[0][columns], train[1]
            try:
                found = six_lines(model, mine, method_of(method, folder), asked, others, **given)
            except JaliError as error:
                failed += 1
                print(f"\n== {label}, {method}: {error}", flush=True)
                continue
            wrong += shown(label, method, found, asked, columns, time.process_time() - began, mine[0])
    print(f"\nimmutable values that moved, and values of one person where none is promised: {wrong}; refused: {failed}")
    return not wrong


def _named(method: str, only: list[str]) -> bool:
    chosen = set(only) - set(KINDS)
    return not chosen or method.partition("(")[0] in chosen


if __name__ == "__main__":
    given = sys.argv[1:]
    many = int(given[0]) if given else 4000
    asking = int(given[1]) if len(given) > 1 else 300
    sys.exit(0 if main(many, asking, given[2:]) else 1)
