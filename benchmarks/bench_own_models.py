"""Models that users bring, each in as few lines as it takes: `python benchmarks/bench_own_models.py [names …]`.

Every kind is run for real on Adult, with noisy labels (three in ten are flipped, and the model memorises them) and on a
null target, whose "training rows" it never saw. The leak must be found (interval above .55), and the null must not
(interval covers .5). The libraries are in benchmarks/peers/own_models.txt; kinds whose library is absent are skipped.
"""

from __future__ import annotations

import json
import sys
import textwrap
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pandas as pd

import jali
from jali.core.errors import JaliError
from jali.data import adult
from jali.data.tables import reading

MEMBERS = 700
FLIPPED = 0.3
SHADOWS = 8
NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
TEXTS = ["workclass", "marital-status", "occupation", "relationship", "sex"]

# What a user writes; X, y are the training rows, P, q the population, and every line counts.
KINDS: dict[str, str] = {
    "pipeline, missing and strings": """
        words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
        columns = make_column_transformer((words, TEXTS), (SimpleImputer(), NUMBERS))
        model = make_pipeline(columns, RandomForestClassifier(50, random_state=0)).fit(X, y)
        jali.audit(model, (X, y), (P, q), **SMALL)
    """,
    "forest": """
        model = RandomForestClassifier(50, random_state=0).fit(Xn, y)
        jali.audit(model, (Xn, y), (Pn, q), **SMALL)
    """,
    "HistGradientBoosting, missing": """
        model = HistGradientBoostingClassifier(min_samples_leaf=2, random_state=0).fit(X[NUMBERS], y)
        jali.audit(model, (X[NUMBERS], y), (P[NUMBERS], q), **SMALL)
    """,
    "xgboost, missing": """
        model = xgboost.XGBClassifier(n_estimators=60, max_depth=8, random_state=0).fit(X[NUMBERS], y)
        jali.audit(model, (X[NUMBERS], y), (P[NUMBERS], q), **SMALL)
    """,
    "xgboost, early_stopping_rounds": """
        model = xgboost.XGBClassifier(n_estimators=60, max_depth=8, early_stopping_rounds=20)
        model.fit(Xn, y, eval_set=[(Xn, y)], verbose=False)
        jali.audit(model, (Xn, y), (Pn, q))
    """,
    "lightgbm, categories": """
        Xc, Pc = X.astype(dict.fromkeys(TEXTS, "category")), P.astype(dict.fromkeys(TEXTS, "category"))
        model = lightgbm.LGBMClassifier(min_child_samples=2, num_leaves=63, verbose=-1, random_state=0).fit(Xc, y)
        jali.audit(model, (Xc, y), (Pc, q), **SMALL)
    """,
    "catboost, cat_features": """
        Xf, Pf = X.fillna(dict.fromkeys(TEXTS, "?")), P.fillna(dict.fromkeys(TEXTS, "?"))
        model = catboost.CatBoostClassifier(100, depth=8, learning_rate=0.3, verbose=False, cat_features=TEXTS)
        model.fit(Xf, y)
        jali.audit(model, (Xf, y), (Pf, q), **SMALL)
    """,
    "EBM": """
        model = ExplainableBoostingClassifier(outer_bags=1, validation_size=0, max_rounds=300, learning_rate=0.2)
        model.fit(X, y)
        jali.audit(model, (X, y), (P, q), **SMALL)
    """,
    "skorch": """
        Xs, Ps = ((Z / SCALE).astype(np.float32) for Z in (Xn, Pn))
        model = NeuralNetClassifier(Net, criterion=nn.CrossEntropyLoss, max_epochs=150, train_split=None, verbose=0,
            optimizer=torch.optim.Adam, lr=0.01)
        model.fit(Xs, y)
        jali.audit(model, (Xs, y), (Ps, q), **SMALL)
    """,
    "torch module, fit=": """
        model = train_network(Xn / SCALE, y, 0)
        jali.audit(model, (Xn / SCALE, y), (Pn / SCALE, q), fit=train_network, **SMALL)
    """,
    "torch module, no fit": """
        model = train_network(Xn / SCALE, y, 0)
        jali.audit(model, (Xn / SCALE, y), (Pn / SCALE, q))
    """,
    "function, fit=": """
        fit = lambda X, y, seed: RandomForestClassifier(50, random_state=seed).fit(X, y).predict_proba
        model = fit(Xn, y, 0)
        jali.audit(model, (Xn, y), (Pn, q), fit=fit, **SMALL)
    """,
    "function, shadow=mlp": """
        model = RandomForestClassifier(50, random_state=0).fit(Xn, y).predict_proba
        jali.audit(model, (Xn, y), (Pn, q), shadow="mlp", **SMALL)
    """,
    "function alone": """
        model = RandomForestClassifier(50, random_state=0).fit(Xn, y).predict_proba
        jali.audit(model, (Xn, y), (Pn, q))
    """,
    "HTTP, MLflow, fit=": """
        fit = lambda X, y, seed: RandomForestClassifier(50, random_state=seed).fit(X, y)
        model = jali.http_model(served(fit(Xn, y, 0)), protocol="mlflow", budget=100_000)
        jali.audit(model, (Xn, y), (Pn, q), fit=fit, **SMALL)
    """,
    "HTTP, KServe v2, alone": """
        model = jali.http_model(served(RandomForestClassifier(50, random_state=0).fit(Xn, y)), protocol="kserve_v2")
        jali.audit(model, (Xn, y), (Pn, q))
    """,
    "ONNX session": """
        fit = lambda X, y, seed: RandomForestClassifier(50, random_state=seed).fit(X, y)
        written = skl2onnx.to_onnx(fit(Xn, y, 0), Xn[:1].astype(np.float32))
        model = onnxruntime.InferenceSession(written.SerializeToString())
        jali.audit(model, (Xn, y), (Pn, q), fit=fit, **SMALL)
    """,
    "ONNX session alone": """
        forest = RandomForestClassifier(50, random_state=0).fit(Xn, y)
        written = skl2onnx.to_onnx(forest, Xn[:1].astype(np.float32))
        model = onnxruntime.InferenceSession(written.SerializeToString())
        jali.audit(model, (Xn, y), (Pn, q))
    """,
    "regression, forest": """
        model = RandomForestRegressor(50, random_state=0).fit(Xh, hours)
        jali.audit(model, (Xh, hours), (Ph, other_hours), threshold=40, **SMALL)
    """,
}


def table(seed: int) -> tuple[pd.DataFrame, Any, Any]:
    """Adult as it is written: texts, missing texts, and missing numbers in one column; three in ten labels flipped.

    The third are the hours that people work, without gaps, for regression.
    """
    raw = reading.read(adult.Adult().files[0], adult.COLUMNS)
    rng = np.random.default_rng(seed)
    rows = raw.sample(3 * MEMBERS, random_state=seed).reset_index(drop=True)
    y = (rows["income"] == ">50K").to_numpy().astype(int)
    y = np.where(rng.random(len(y)) < FLIPPED, 1 - y, y)
    X = rows[NUMBERS + TEXTS].copy()
    hours = rows["hours-per-week"].to_numpy(np.float64)
    X["hours-per-week"] = X["hours-per-week"].astype(float).mask(rng.random(len(X)) < 0.1)
    return X, y, hours


def names(seed: int) -> dict[str, Any]:
    """What the code of a kind may use: tables in three forms, and the libraries that are there."""
    X, y, hours = table(seed)
    codes = pd.concat([X[NUMBERS].fillna(40), X[TEXTS].apply(lambda c: c.astype("category").cat.codes)], axis=1)
    Z = codes.to_numpy(np.float64)
    W = np.delete(Z, NUMBERS.index("hours-per-week"), axis=1)
    first, second, third = (slice(k * MEMBERS, (k + 1) * MEMBERS) for k in range(3))
    out: dict[str, Any] = {"X": X[first], "y": y[first], "P": X[second], "q": y[second]}
    out |= {"Xn": Z[first], "Pn": Z[second], "hours": hours[first], "other_hours": hours[second]}
    out |= {"Xh": W[first], "Ph": W[second]}
    out["others"] = {"X": X[third], "y": y[third], "Xn": Z[third], "Xh": W[third], "hours": hours[third]}
    out["SCALE"] = Z.std(axis=0)
    return out | libraries() | {"jali": jali, "np": np, "served": served, "NUMBERS": NUMBERS, "TEXTS": TEXTS}


def libraries() -> dict[str, Any]:
    from importlib import import_module

    out: dict[str, Any] = {"train_network": train_network}
    for module, some in {
        "sklearn.base": "clone",
        "sklearn.compose": "make_column_transformer",
        "sklearn.ensemble": "RandomForestClassifier RandomForestRegressor HistGradientBoostingClassifier",
        "sklearn.impute": "SimpleImputer",
        "sklearn.pipeline": "make_pipeline",
        "sklearn.preprocessing": "OneHotEncoder",
        "interpret.glassbox": "ExplainableBoostingClassifier",
        "skorch": "NeuralNetClassifier",
    }.items():
        try:
            out |= {name: getattr(import_module(module), name) for name in some.split()}
        except ImportError:
            continue
    for module in ("xgboost", "lightgbm", "catboost", "onnxruntime", "skl2onnx", "torch"):
        try:
            out[module] = import_module(module)
        except ImportError:
            continue
    if "torch" in out:
        out |= {"nn": out["torch"].nn, "Net": network_class()}
    return out


def network_class() -> type:
    from torch import nn

    class Net(nn.Sequential):
        def __init__(self) -> None:
            super().__init__(nn.Linear(10, 256), nn.ReLU(), nn.Linear(256, 2))

    return Net


def train_network(X: Any, y: Any, seed: int) -> Any:
    import torch

    torch.manual_seed(seed)
    net = network_class()()
    rows, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    steps = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(300):
        steps.zero_grad()
        loss: Any = torch.nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        steps.step()
    return net


def served(model: Any) -> str:
    """The address of a server on this machine that answers as MLflow or KServe version 2 do."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            entry = body["inputs"][0]
            if isinstance(entry, dict):
                found = model.predict_proba(np.reshape(entry["data"], entry["shape"]))
                flat = {"name": "probabilities", "shape": list(found.shape), "data": found.ravel().tolist()}
                reply = {"outputs": [flat]}
            else:
                reply = {"predictions": model.predict_proba(np.array(body["inputs"])).tolist()}
            content = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/invocations"


def run(code: str, seed: int, null: bool) -> Any:
    """The audit that the code of a kind makes; for a null target, of a model that was fitted on other people."""
    known = names(seed)
    small = {"game": f"given_model(members={MEMBERS}, shadows={SHADOWS})", "seed": seed}
    fitting, _, auditing = textwrap.dedent(code).strip().rpartition("\n")
    scope = known | {"SMALL": small}
    exec(compile(fitting, "kind", "exec"), scope)
    if null:
        others = known | known["others"]
        exec(compile(fitting, "kind", "exec"), others)
        scope["model"] = others["model"]
    exec(compile(f"found = {auditing}", "kind", "exec"), scope)
    return scope["found"]


def judged(found: Any) -> Any:
    """The AUC of the combined attack on scores."""
    rows = [r for r in found.results.rows if r.metric == "auc" and r.channel == "score" and r.value is not None]
    combined = [r for r in rows if r.attack in ("joint", "quantile_joint") and not r.group]
    return combined[0] if combined else max(rows, key=lambda r: r.value)


def main(chosen: list[str]) -> None:
    warnings.simplefilter("ignore")
    print(f"{'kind':34s} lines  seconds  leak: AUC and interval       null: AUC and interval")
    for name, code in KINDS.items():
        if chosen and not any(word in name for word in chosen):
            continue
        began = time.process_time()
        lines = textwrap.dedent(code).strip().count("\n") + 1
        try:
            leak, null = (judged(run(code, seed=1, null=null)) for null in (False, True))
        except (JaliError, NameError) as error:
            print(f"{name:34s} {lines:5d}  {error}")
            continue
        covered = null.low <= 0.5 <= null.high
        ok = f"{'found' if leak.low > 0.55 else 'MISSED'}, {'covered' if covered else 'NOT COVERED'}"
        spans = "   ".join(f"{r.value:.3f} ({r.low:.3f} to {r.high:.3f})" for r in (leak, null))
        print(f"{name:34s} {lines:5d}  {time.process_time() - began:7.1f}  {spans}  {ok}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
