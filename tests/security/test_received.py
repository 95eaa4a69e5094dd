"""A protected explainer that somebody sent: nothing that it names is imported."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from jali import config, results
from jali.api import Protected, protect
from jali.audit import evidence, guarantees
from jali.core.errors import JaliError
from jali.data.tables import schema_files
from jali.reproduce import files
from jali.reproduce import schema as claims
from tests.security.people import MODEL, TRAIN


@pytest.mark.parametrize(
    "method", ["planted_module:Part", "k_groups(planted_module:Part())", "sklearn(estimator='planted_module:C')"]
)
def test_no_module_that_a_received_folder_names_is_imported(tmp_path, monkeypatch, method):
    (tmp_path / "planted_module.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Part:\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)  # as in a Python session that was started in the folder
    protect(MODEL, TRAIN, method="k_groups(k=3)").save(tmp_path / "sent")
    file = tmp_path / "sent" / "protected.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"method": method}))
    with pytest.raises(JaliError):
        Protected.load(tmp_path / "sent", MODEL)
    assert "planted_module" not in sys.modules


@pytest.mark.parametrize("field", ["low", "high", "centre"])
def test_whole_numbers_that_floats_cannot_hold_are_no_scale(tmp_path, field):
    protect(MODEL, TRAIN, method="k_groups(k=3)").save(tmp_path)
    file = tmp_path / "protected.json"
    about = json.loads(file.read_text())
    about["schema"]["columns"][0] |= {"kind": "integer", "high": 1e30, field: -1e30 if field == "low" else 1e30}
    file.write_text(json.dumps(about))
    with pytest.raises(JaliError, match="whole numbers beyond"):
        Protected.load(tmp_path, MODEL)


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    explainer = protect(MODEL, TRAIN, method="k_groups(k=3)")
    explainer.save(tmp_path)
    before = (tmp_path / "protected.npz").read_bytes()
    (tmp_path / "protected.json").unlink()
    (tmp_path / "protected.json").mkdir()
    with pytest.raises(JaliError, match="in the way"):
        protect(MODEL, TRAIN, method="k_groups(k=4)").save(tmp_path)
    assert (tmp_path / "protected.npz").read_bytes() == before


def test_no_module_that_an_earlier_run_names_is_imported(tmp_path, monkeypatch):
    (tmp_path / "planted_module.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Part:\n    learns = 'x'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    row = {"kind": "measure", "metric": "singled_out", "value": 0.5, "attack": "planted_module:Part"}
    study = {"name": "s", "parts": {}, "measures": [row]}
    head = {"schema_version": files.FIRST, "paper": "mine", "title": "T", "citation": "C", "scale": "standard"}
    (tmp_path / "mine.json").write_text(json.dumps(head | {"findings": [], "studies": [study]}))
    with pytest.raises(JaliError, match="not trusted"):
        files.read(tmp_path / "mine.json")
    assert "planted_module" not in sys.modules


def test_no_module_that_a_signal_of_an_evidence_file_names_is_imported(tmp_path, monkeypatch):
    (tmp_path / "planted_module.py").write_text("class Part: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert guarantees._reads_more("planted_module:Part")
    assert "planted_module" not in sys.modules


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin", "pipe"])
def test_what_never_ends_is_not_read(tmp_path, device):
    """A configuration, a schema file, results, evidence: a device or a pipe is a sentence."""
    path = Path(device)
    if device == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
    if not path.exists() or path.is_file():
        pytest.skip("there is no such device here")
    for read in (
        config.read,
        schema_files.read,
        results.read,
        evidence.read,
        files.read,
        lambda p: claims.read(f"{p}.toml"),
    ):
        with pytest.raises(JaliError):
            read(path)


def test_a_saved_explainer_does_not_say_where_columns_begin_and_end(tmp_path):
    """The largest income is somebody's income."""
    explainer = protect(MODEL, TRAIN, method="k_groups(k=3)")
    explainer.save(tmp_path)
    text = (tmp_path / "protected.json").read_text()
    rows = TRAIN[0]["income"]
    assert not any(json.dumps(float(end)) in text for end in (rows.min(), rows.max()))
    again = Protected.load(tmp_path, MODEL)
    assert again.explain(TRAIN[0][:9]).to_json() == explainer.explain(TRAIN[0][:9]).to_json()
