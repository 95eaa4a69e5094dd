"""Every kind of model with every kind of explainer, run for real: `python benchmarks/bench_own_table.py FOLDER`.

Each cell audits one model on Adult (a few hundred people, few shadow models), once with noisy labels that the model
memorised, once as a null target: a model that was fitted on other people than its "training rows". The leak must be
found (AUC interval above .55) and the null must not (the interval covers .5), for the combined attack on decision and
explanation. A cell that does not work must say why in a sentence. Finished cells are kept in FOLDER/cells.json, and not
run again while their code is the same; the table is written to FOLDER/table.md. Names of models or explainers after
FOLDER choose some of the cells. Packages: benchmarks/peers/own_models.txt.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import textwrap
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench_own_models import served
from own_table_cells import EXPLAINERS, MODELS, NUMBERS, TEXTS, lines_of

MEMBERS = 80
MORE_MEMBERS = {"LIME": 160}  # its answers are random samples, which hide small leaks from 80 people
FLIPPED = 0.3
SHADOWS = 3
COMBINED = "decision+explanation"
NAMES = {
    "sklearn.compose": "make_column_transformer",
    "sklearn.ensemble": "RandomForestClassifier HistGradientBoostingClassifier",
    "sklearn.impute": "SimpleImputer",
    "sklearn.pipeline": "make_pipeline",
    "sklearn.preprocessing": "OrdinalEncoder",
    "interpret.glassbox": "ExplainableBoostingClassifier",
    "lime.lime_tabular": "LimeTabularExplainer",
}
MODULES = ("shap", "xgboost", "lightgbm", "catboost", "dice_ml", "captum.attr", "torch", "onnxruntime", "skl2onnx")


def members_of(explainer: str) -> int:
    """How many people the model of a cell is trained on; as many others are its population."""
    return MORE_MEMBERS.get(explainer, MEMBERS)


def people(count: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Adult as it is written: texts, missing texts, and missing numbers in one column; three in ten labels flipped.

    seed: each kind of model has people of its own, so that chance does not strike all of them at once.
    """
    from jali.data import adult
    from jali.data.tables import reading

    rng = np.random.default_rng(seed)
    raw = reading.read(adult.Adult().files[0], adult.COLUMNS)
    rows = raw.sample(count, random_state=seed).reset_index(drop=True)
    y = (rows["income"] == ">50K").to_numpy().astype(int)
    y = np.where(rng.random(len(y)) < FLIPPED, 1 - y, y)
    table = rows[NUMBERS + TEXTS].copy()
    table["hours-per-week"] = table["hours-per-week"].astype(float).mask(rng.random(len(table)) < 0.1)
    return table, y


def forms(table: pd.DataFrame) -> dict[str, Any]:
    """The people in the forms that users have, by the letter of its name."""
    whole = table.fillna({"hours-per-week": 40.0, **dict.fromkeys(TEXTS, "?")})
    codes = whole[TEXTS].apply(lambda c: c.astype("category").cat.codes)
    numbers = pd.concat([whole[NUMBERS], codes], axis=1).astype(float)
    array = numbers.to_numpy()
    return {"": table, "f": whole, "n": numbers, "a": array, "s": array / array.std(axis=0)}


def scope(members: int, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the lines of a cell may use, and the other people, on whom a null target is fitted."""
    import jali

    table, y = people(3 * members, seed)
    first, second, third = (slice(k * members, (k + 1) * members) for k in range(3))
    known: dict[str, Any] = {"y": y[first], "q": y[second]}
    others: dict[str, Any] = {"y": y[third]}
    for letter, rows in forms(table).items():
        known |= {f"T{letter}": rows[first], f"P{letter}": rows[second]}
        others |= {f"T{letter}": rows[third]}
    known |= {"NUMBERS": NUMBERS, "TEXTS": TEXTS, "FILL": dict.fromkeys(NUMBERS, 0) | dict.fromkeys(TEXTS, "?")}
    known["FILL"] = {name: known["Tf"][name].mode()[0] for name in known["Tf"]}
    known |= {"SMALL": {"game": f"given_model(members={members}, shadows={SHADOWS})", "attack": ["joint"]}}
    known |= {"CONTINUOUS": {"continuous_features": NUMBERS + TEXTS}, "np": np, "pd": pd, "jali": jali}
    known |= {"served": served, "session": session, "train_network": train_network}
    return known | libraries(), others


def libraries() -> dict[str, Any]:
    """The libraries that are installed, by the names that users give them."""
    out: dict[str, Any] = {}
    for module in MODULES:
        try:
            import_module(module)
        except ImportError:
            continue
        name = module.partition(".")[0]
        out[name] = import_module(name)
    for module, names in NAMES.items():
        try:
            out |= {name: getattr(import_module(module), name) for name in names.split()}
        except ImportError:
            continue
    return out


def train_network(X: Any, y: Any, seed: int) -> Any:
    """A small network that memorises its people."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(X.shape[1], 128), nn.ReLU(), nn.Linear(128, 2))
    rows = torch.tensor(X, dtype=torch.float32)
    labels = torch.tensor(y)
    steps = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(300):
        steps.zero_grad()
        loss: Any = nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        steps.step()
    return net


def session(forest: Any) -> Any:
    """A forest as a session of ONNX Runtime."""
    import onnxruntime
    import skl2onnx

    some = np.zeros((1, forest.n_features_in_), dtype=np.float32)
    written = skl2onnx.to_onnx(forest, some, options={"zipmap": False})
    return onnxruntime.InferenceSession(written.SerializeToString())


def code(model: str, explainer: str) -> list[str]:
    """What a user writes for a cell: the model, the explainer, the audit."""
    kind = MODELS[model]
    train, population = kind.rows
    whose = "explain" if lines_of(model, explainer).startswith("explain = [") else "[explain]"
    call = f"jali.audit(model, ({train}, y), ({population}, q), explain={whose}, {kind.more}**SMALL)"
    return [textwrap.dedent(part).strip() for part in (kind.lines, lines_of(model, explainer), call)]


def run(model: str, explainer: str, null: bool, draw: int = 0) -> Any:
    """The audit of one cell; for a null target, of a model that was fitted on other people. draw: which people."""
    known, others = scope(members_of(explainer), list(MODELS).index(model) + 100 * draw)
    fitting, explaining, auditing = code(model, explainer)
    exec(compile(fitting, "cell", "exec"), known)
    if null:
        elsewhere = known | others
        exec(compile(fitting, "cell", "exec"), elsewhere)
        known["model"] = elsewhere["model"]
    exec(compile(explaining, "cell", "exec"), known)
    exec(compile(f"found = {auditing}", "cell", "exec"), known)
    return known["found"]


def judged(found: Any) -> list[dict[str, Any]]:
    """The AUC of the combined attack on decision and explanation, for each explainer."""
    rows = [r for r in found.results.rows if r.metric == "auc" and r.channel == COMBINED and r.kind == "attack"]
    return [
        {"explainer": r.explainer, "auc": r.value, "low": r.low, "high": r.high, "coverage": r.coverage}
        for r in rows
        if r.combined and not r.group
    ]


def cell(model: str, explainer: str) -> dict[str, Any]:
    """What happens in one cell: the numbers, the sentence it gives, or a failure that is none."""
    from jali.core.errors import JaliError

    began = time.process_time()
    out: dict[str, Any] = {"lines": sum(part.count("\n") + 1 for part in code(model, explainer))}
    try:
        out |= {"leak": judged(run(model, explainer, null=False)), "null": judged(run(model, explainer, null=True))}
    except JaliError as error:
        out["sentence"] = str(error)
    except Exception as error:  # what no user should see
        out["broken"] = f"{type(error).__name__}: {error}"
    return out | {"seconds": round(time.process_time() - began, 1)}


def key(model: str, explainer: str) -> str:
    """A digest of the code of a cell and of the settings of all."""
    text = json.dumps([code(model, explainer), members_of(explainer), FLIPPED, SHADOWS, list(MODELS).index(model)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def row(folder: Path, model: str, explainers: list[str]) -> None:
    """Run the cells of one model that are not finished, and keep each as it ends."""
    warnings.simplefilter("ignore")
    for explainer in explainers:
        name = f"{model} × {explainer}"
        found = stored(folder).get(name, {})
        if found.get("key") == key(model, explainer) and ("again" in found or covers(found.get("null", []))):
            continue
        if found.get("key") != key(model, explainer):
            found = cell(model, explainer) | {"key": key(model, explainer)}
        if not covers(found.get("null", [])):  # one interval in twenty misses by chance: other people, once
            found["again"] = judged(run(model, explainer, null=True, draw=1))
        kept = stored(folder) | {name: found}
        (folder / "cells.json").write_text(json.dumps(kept, indent=1))
        print(f"{name}: {verdict(found)} ({found['seconds']} CPU s)", flush=True)


def covers(rows: list[dict[str, Any]]) -> bool:
    """Whether all intervals of null targets cover one half."""
    return all(r["low"] <= 0.5 <= r["high"] for r in rows)


def stored(folder: Path) -> dict[str, Any]:
    """The finished cells by name."""
    path = folder / "cells.json"
    return json.loads(path.read_text()) if path.exists() else {}


def verdict(found: dict[str, Any]) -> str:
    """One cell in a few words."""
    if "broken" in found:
        return f"BROKEN: {found['broken']}"
    if "sentence" in found:
        return f"says: {found['sentence']}"
    missed = [r for r in found["leak"] if r["low"] <= 0.55]
    rows = found["leak"] + found["null"] + found.get("again", [])
    spans = ", ".join(f"{r['auc']:.2f} ({r['low']:.2f} to {r['high']:.2f})" for r in rows)
    return f"{'MISSED' if missed else 'found'}, {'covered' if covers(found['null']) else 'NOT COVERED'}: {spans}"


def span(rows: list[dict[str, Any]]) -> str:
    """The interval of the explainer that shows least, or of the one whose null is furthest off."""
    r = min(rows, key=lambda r: r["low"])
    return f"{r['low']:.2f} to {r['high']:.2f}"


def markdown(folder: Path) -> str:
    """The table, and the sentences of the cells that refuse."""
    kept = stored(folder)
    lines = ["| model | " + " | ".join(EXPLAINERS) + " |", "|---" * (1 + len(EXPLAINERS)) + "|"]
    said: dict[str, list[str]] = {}
    for model in MODELS:
        texts = [_text(kept.get(f"{model} × {explainer}"), f"{model} × {explainer}", said) for explainer in EXPLAINERS]
        lines.append(f"| {model} | " + " | ".join(texts) + " |")
    works = [c for c in kept.values() if "leak" in c]
    found = sum(all(r["low"] > 0.55 for r in c["leak"]) for c in works)
    covered = sum(covers(c["null"]) for c in works)
    later = sum(not covers(c["null"]) and "again" in c and covers(c["again"]) for c in works)
    lines += ["", f"{len(works)} of {len(kept)} cells work: leak found in {found}, null covered in {covered}"]
    lines[-1] += f", and in {later} more with other people." if later else "."
    lines += ["", *(f"- {', '.join(cells)}: {sentence}" for sentence, cells in said.items())]
    return "\n".join(lines) + "\n"


def _text(found: dict[str, Any] | None, name: str, said: dict[str, list[str]]) -> str:
    if found is None:
        return "not run"
    if "leak" not in found:
        said.setdefault(found.get("sentence") or found["broken"], []).append(name)
        return "BROKEN" if "broken" in found else "says why"
    again = f", then {span(found['again'])}" if "again" in found else ""
    return f"{span(found['leak'])}; {span(found['null'])}{again}; {found['lines']}"


def main(folder: Path, chosen: list[str]) -> None:
    """Run each model in a process of its own, because the libraries bring thread pools that do not go together."""
    folder.mkdir(parents=True, exist_ok=True)
    models = [m for m in MODELS if not set(chosen) & set(MODELS) or m in chosen]
    explainers = [e for e in EXPLAINERS if not set(chosen) & set(EXPLAINERS) or e in chosen]
    for model in models:
        subprocess.run([sys.executable, __file__, str(folder), "--row", model, *explainers], check=False)
    (folder / "table.md").write_text(markdown(folder))
    print(markdown(folder))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    place = Path(sys.argv[1])
    if sys.argv[2:3] == ["--row"]:
        row(place, sys.argv[3], sys.argv[4:])
    else:
        main(place, sys.argv[2:])
