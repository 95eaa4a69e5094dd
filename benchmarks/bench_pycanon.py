"""Released answers held against pycanon: k-anonymity and l-diversity as an independent library counts them.

Run `python benchmarks/bench_pycanon.py` after `make bench` has made .venv-canon; without it this says so and ends. For
each table a forest is trained on 60 % of the rows, everybody else whom it denies gets the nearest training row with the
outcome, and each solver generalises it. An answer becomes a class of the released table: the training rows that match
it, with the answer in the place of their quasi-identifiers. The package says how large the smallest class is, and how
few values of the first private category one has; both must be what we say.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from jali.anonymity.disclosure import diversity
from jali.anonymity.frequency_table import quasi_columns
from jali.anonymity.measures import matching
from jali.core import registry
from jali.core.explanation import Counterfactual, Regions
from jali.core.values import Dataset
from jali.data.tables import files
from jali.data.tables.frames import frame

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-canon" / "bin" / "python"
TABLES = ("heart", "cmc", "german", "adult")
FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", params="n_estimators=50, max_leaf_nodes=100")'
PARTS = (
    *(f'k_anonymous(nice(immutable="free"), solver="{s}")' for s in ("grasp", "optimal", "mutual", "as_released")),
    'mondrian(nice(immutable="free"))',
)
MOST = 500


def released(train: Dataset, shown: Regions) -> pd.DataFrame:
    """The rows that match each answer, with the answer's number in the place of their quasi-identifiers."""
    quasi = quasi_columns(train.schema)
    answer, row = shown.covers(train.X, quasi).nonzero()
    table = frame(train.X, train.schema).iloc[row].reset_index(drop=True).astype(str)
    for j in quasi:
        table[train.schema.columns[j].name] = answer
    return table


def made(name: str) -> dict[str, Any]:
    """Of each solver what is sent to the package, and what we say."""
    data = registry.build("data", name).load()
    order, size = np.random.default_rng(0).permutation(len(data)), int(0.6 * len(data))
    train, X = data.rows(order[:size]), data.X[order[size:]]
    model = registry.build("model", FOREST).fit(train, np.ones((size, 1), dtype=bool), [np.random.default_rng(0)])[0]
    X = X[model.logits(X).argmax(axis=1) != data.schema.favourable][:MOST]
    columns = train.schema.columns
    private = next(c.name for c in columns if c.role == "private" and c.kind == "category")
    out = {}
    for text in PARTS:
        counterfactuals = (
            registry.build("explain", text)
            .prepare(model, data.schema, train, np.random.default_rng(0))
            .explain(X, np.random.default_rng(0))
        )
        assert isinstance(counterfactuals, Counterfactual)
        shown = counterfactuals.shown(data.schema).pick(counterfactuals.found)
        shown = shown.pick(np.unique(shown.kinds(), return_index=True)[1])
        ours = (int(matching(shown, train).min()), int(diversity(shown, train, private).distinct.min()))
        quasi = [c.name for c in columns if c.role == "quasi"]
        table = released(train, shown)[[*quasi, private]].to_dict("list")
        out[f"{name}, {text}"] = {
            "table": table,
            "quasi": quasi,
            "private": private,
            "ours": ours,
            "answers": len(shown),
        }
    return out


def main() -> None:
    if not PYTHON.exists():
        print("pycanon is not there: run `make .venv-canon/.done`.")
        return
    sent: dict[str, Any] = {}
    for name in TABLES:
        if files.present(registry.build("data", name)):
            sent |= made(name)
    with tempfile.TemporaryDirectory() as folder:
        tables, answers = Path(folder) / "tables.json", Path(folder) / "answers.json"
        tables.write_text(json.dumps(sent), encoding="utf-8")
        subprocess.run([PYTHON, ROOT / "benchmarks" / "peers" / "run_pycanon.py", tables, answers], check=True)
        theirs = json.loads(answers.read_text(encoding="utf-8"))
    print(f"smallest k and least l (one private column), ours and by pycanon {theirs['version']}")
    wrong = 0
    for name, one in sent.items():
        same = one["ours"] == tuple(theirs[name])
        wrong += not same
        print(
            f"  {'same' if same else 'NOT THE SAME'}  k {one['ours'][0]}, {theirs[name][0]}  l {one['ours'][1]}, "
            f"{theirs[name][1]}  {one['answers']} different answers  {name}"
        )
    if wrong:
        raise SystemExit(f"{wrong} of {len(sent)} tables differ.")


if __name__ == "__main__":
    main()
