"""Hostile configurations, papers, results, schema files and protected explainers."""

from __future__ import annotations

import contextlib
import io
import json
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from tests.security.harness import Named, Rng, Use, escapes, folder, pick
from tests.security.mutants import BYTES
from tests.security.structures import JSON_TEXTS, TOML_TEXTS, as_json, as_toml, hostile

CONFIG = {
    "data": "lending(n=60)",
    "model": "logistic(C=10.0)",
    "game": "rotate(models=4)",
    "explain": ["linear_recourse", "input_x_gradient"],
    "attack": ["lira", "threshold"],
    "knowledge": "",
    "signal": ["attribution_ranks"],
    "seed": 3,
}
OWN = {
    "data": "table.csv",
    "target": "paid",
    "favourable": "yes",
    "quasi": ["age"],
    "groups": "job",
    "kind": ["age=integer"],
    "bounds": ["income=0:10000"],
    "declare": "schema.toml",
    "model": 'sklearn(estimator="sklearn.tree:DecisionTreeClassifier", params="max_depth=3")',
    "game": "halves(targets=2, shadows=2)",
    "seed": 0,
}


def configurations(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Configurations, as `jali audit` reads them and builds their parts; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        inputs = ((f"configuration {k}", _config(k, rng)) for k in range(count))
        return escapes(inputs, use or (lambda content: built(content, where)))


def _config(k: int, rng: Rng) -> bytes:
    return hostile(CONFIG if k % 3 else OWN, as_toml, TOML_TEXTS, k, rng)


def built(content: bytes, where: Path) -> object:
    """Read a configuration that somebody sent and build its parts, without trust; write it again."""
    from jali import config
    from jali.api.audits import experiment_of
    from jali.audit.queries import by_kind

    path = where / "audit.toml"
    path.write_bytes(content)
    found = config.read(path)
    found.vet(False)
    found.toml(where)
    by_kind(found.attack)
    return experiment_of(found)


# --- papers, results, verifications --------------------------------------------------------------------------------


def papers_and_results(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Papers as TOML and results, reproductions and verifications as JSON, read and drawn; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(_documents(count, rng), use or (lambda item: drawn(item, where)))


def _documents(count: int, rng: Rng) -> Iterator[Named]:
    good = _good()
    kinds = sorted(good)
    for k in range(count):
        kind = kinds[k % len(kinds)]
        write, texts = (as_toml, TOML_TEXTS) if kind == "paper" else (as_json, JSON_TEXTS)
        yield f"{kind} {k}", (kind, hostile(good[kind], write, texts, k // len(kinds), rng))


def _good() -> dict[str, Any]:
    """A good one of each."""
    from jali.reproduce import files
    from tests.report import reproductions, sample
    from tests.report.test_verification import found

    paper = resources.files("jali.reproduce.papers") / "pawelczyk2022.toml"
    return {
        "paper": tomllib.loads(paper.read_text(encoding="utf-8")),
        "results": json.loads(sample.full().model_dump_json()),
        "answers": json.loads(sample.answered().model_dump_json()),
        "reproduction": json.loads(files.text(reproductions.full())),
        "verification": json.loads(found().model_dump_json()),
    }


def drawn(item: tuple[str, bytes], where: Path) -> object:
    """Read a document and draw its page, as the commands do."""
    from jali.cli.audit import report
    from jali.report import sheet, verification_page
    from jali.report.reproduction import page
    from jali.report.verification import text
    from jali.reproduce import files, schema
    from jali.results.verification import Verification

    kind, content = item
    path = where / ("paper.toml" if kind == "paper" else "results.json")
    path.write_bytes(content)
    if kind == "paper":
        return schema.read(str(path))
    if kind == "reproduction":
        return page.page(files.read(path))
    if kind == "verification":
        found = Verification.read(content.decode("utf-8", errors="replace"))
        return text(found), sheet.html(verification_page.sheet(found))
    with contextlib.redirect_stdout(io.StringIO()):
        report(path)
    return None


# --- schema files --------------------------------------------------------------------------------------------------

SCHEMA = {
    "target": "paid",
    "favourable": "yes",
    "classes": ["no", "yes"],
    "drop": ["nothing"],
    "columns": {
        "age": {"kind": "integer", "low": 0, "high": 120, "role": "quasi", "mutable": False},
        "income": {"kind": "number", "low": 0.0, "high": 1e5, "centre": 3000.0, "spread": 500.0, "missing": True},
        "job": {"kind": "category", "categories": ["cook", "smith"]},
    },
}


def schema_files(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Schema files beside an ordinary table; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        (where / "table.csv").write_text(
            "age,income,job,paid,nothing\n" + "30,2000,cook,no,1\n41,3000,smith,yes,1\n" * 9
        )
        inputs = ((f"schema {k}", hostile(SCHEMA, as_toml, TOML_TEXTS, k, rng)) for k in range(count))
        return escapes(inputs, use or (lambda content: declared(content, where)))


def declared(content: bytes, where: Path) -> object:
    """Read a table with a schema file that somebody sent."""
    from jali.core.encoding import Encoding
    from jali.data.table import Table

    (where / "schema.toml").write_bytes(content)
    data = Table(str(where / "table.csv"), "paid", schema=str(where / "schema.toml")).load()
    return Encoding(data.schema).encode(data.X)


# --- protected explainers ------------------------------------------------------------------------------------------


def protected_folders(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Folders of protected explainers that somebody sent, loaded and asked; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        kept = _protected(where)
        return escapes(_folders(kept, count, rng), use or (lambda item: asked(item, where)))


def _protected(where: Path) -> list[tuple[dict[str, Any], bytes]]:
    """Two good folders: groups for somebody's own model, and a private model."""
    from jali.api import protect
    from tests.security.people import MODEL, TRAIN

    kept = []
    for name, method in (("groups", "k_groups(k=3)"), ("private", "dp_logistic(epsilon=1.0, bound=2.0)")):
        protect(MODEL, TRAIN, method=method).save(where / name)
        about = json.loads((where / name / "protected.json").read_text())
        kept.append((about, (where / name / "protected.npz").read_bytes()))
    return kept


def _folders(kept: list[tuple[dict[str, Any], bytes]], count: int, rng: Rng) -> Iterator[Named]:
    from tests.security.arrays import changed_archive

    for k in range(count):
        about, arrays = kept[k % 2]
        kind = k % 3
        text = hostile(about, as_json, JSON_TEXTS, k // 3, rng) if kind == 0 else as_json(about)
        if kind == 1:
            arrays = changed_archive(arrays, rng)
        elif kind == 2:
            arrays = pick(rng, BYTES)(arrays, rng)
        yield f"protected {k}", (text, arrays)


def asked(item: tuple[bytes, bytes], where: Path) -> object:
    """Load a protected explainer and ask it."""
    from jali.api import Protected
    from tests.security.people import MODEL, ROWS

    about, arrays = item
    (where / "sent").mkdir(exist_ok=True)
    (where / "sent" / "protected.json").write_bytes(about)
    (where / "sent" / "protected.npz").write_bytes(arrays)
    return Protected.load(where / "sent", MODEL).explain(ROWS[:2])
