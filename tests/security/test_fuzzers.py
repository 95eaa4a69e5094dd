"""Every fuzzer finds nothing in our readers, and finds the defect that is planted in another one."""

from __future__ import annotations

import io
import json
import pickle
import tomllib

import numpy as np
import pandas as pd
import pytest

from jali.core.errors import JaliError
from tests.security import arrays, documents, fuzz, ledgers, scans, tables
from tests.security.harness import CANARY, SENTINEL, code, escapes, pickled

SHARE = {"fields of parts": 0.3, "evidence files": 0.2, "entries of a store": 0.3, "ledger damages": 0.2}


@pytest.mark.parametrize("name", fuzz.FUZZERS)
def test_nothing_escapes(name):
    run, inputs = fuzz.FUZZERS[name]
    assert run(int(inputs * SHARE.get(name, 0.06)), 1) == []


def careless_table(item):
    """Quotes the first row, as an error of a parser would."""
    frame = pd.read_csv(io.BytesIO(item[1]))
    raise JaliError(f"cannot read {frame.iloc[0].tolist()}")


def careless_parquet(item):
    return pd.read_parquet(io.BytesIO(item[1]))


def careless_npz(path):
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=True) as file:
        return {name: file[name] for name in file.files}


def careless_toml(content):
    settings = tomllib.loads(content.decode())
    return eval(str(settings["data"]), {})


def careless_document(item):
    return json.loads(item[1])["schema_version"]


def careless_field(item):
    return eval(f"dict{item[1][item[1].index('(') :]}", {})


def careless_weights(item):
    with np.load(io.BytesIO(item[1]), allow_pickle=True) as file:
        return [file[name] for name in file.files]


def careless_store(store):
    with np.load(io.BytesIO(store.path("abc").read_bytes()), allow_pickle=False) as file:
        return dict(file)


def careless_folder(item):
    return json.loads(item[0])["schema"]["columns"]


def careless_scan(item):
    return pickle.loads(item[1])


PLANTED = {
    "tables": (tables.text_tables, careless_table),
    "Parquet files": (tables.parquet_tables, careless_parquet),
    "evidence files": (arrays.evidence_files, careless_npz),
    "configurations": (documents.configurations, careless_toml),
    "fields of parts": (fuzz.fields_of_parts, careless_field),
    "results and papers": (documents.papers_and_results, careless_document),
    "weight files": (arrays.weight_files, careless_weights),
    "entries of a store": (arrays.store_entries, careless_store),
    "schema files": (documents.schema_files, careless_toml),
    "protected explainers": (documents.protected_folders, careless_folder),
    "files for a scan": (scans.scanned_files, careless_scan),
    "logs, releases, dumps": (scans.logs_and_dumps, careless_document),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_is_found(name):
    run, careless = PLANTED[name]
    assert run(60, 0, careless)


def test_a_ledger_that_believes_its_totals_is_found(monkeypatch):
    """Without the chain, an edit of what was spent grants more than the budget."""
    from jali.privacy import ledger_chain as chain

    monkeypatch.setattr(chain, "check_entries", lambda *_: None)
    monkeypatch.setattr(chain.hmac, "compare_digest", lambda *_: True)
    assert any("more was granted" in line for line in ledgers.ledger_damages(30))


def test_code_that_runs_is_found():
    found = escapes(
        [("pickle", pickled()), ("text", code())],
        lambda item: pickle.loads(item) if isinstance(item, bytes) else eval(item),
    )
    assert found == ["pickle: its code ran", "text: its code ran"]
    assert not CANARY.exists()


def test_what_is_no_sentence_is_found():
    def shown(text):
        raise JaliError(text)

    assert (
        len(escapes([("value", f"not {SENTINEL}"), ("fine", "one sentence."), ("trace", "Traceback (most)")], shown))
        == 2
    )


def test_types_that_pyarrow_does_not_read_are_one_sentence():
    assert tables.parquet_tables(61, 888) == []  # the last one declares integers of less than 8 bits
