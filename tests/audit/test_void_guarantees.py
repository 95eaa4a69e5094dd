"""Privacy claims that are void, from the table to the report: in words, held against nothing, never as a claim."""

from __future__ import annotations

import json

import numpy as np
import pytest

import jali
from jali.audit.setup import Resources
from jali.report.reproduction import studies
from jali.results.reproduction import Capped, Reproduction, Study
from jali.store import Store

SCHEMA = """
classes = ["no", "yes"]
[columns.age]
kind = "integer"
low = 18
high = 99
[columns.income]
kind = "number"
low = 0
high = 1e6
[columns.job]
kind = "category"
categories = ["chef", "clerk", "nurse", "other"]
"""
QUICK = {"game": "rotate(models=4)", "attack": ["threshold", "calibrated"], "favourable": None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, its schema file and a key."""
    path = tmp_path_factory.mktemp("void")
    rng = np.random.default_rng(0)
    age, income = rng.integers(18, 90, 400), rng.lognormal(10, 0.4, 400).round()
    job = rng.choice(["chef", "clerk", "nurse"], 400)
    paid = np.where(age / 20 + income / 20000 + rng.normal(0, 1.5, 400) > 4, "yes", "no")
    lines = [f"{a},{i},{j},{p}" for a, i, j, p in zip(age, income, job, paid, strict=True)]
    (path / "loans.csv").write_text("age,income,job,paid\n" + "\n".join(lines) + "\n")
    (path / "columns.toml").write_text(SCHEMA)
    (path / "recourse.key").write_bytes(rng.bytes(32))
    (path / "recourse.key").chmod(0o600)
    return path


def audited(folder, model, explain, schema=False):
    declared = f', schema="{folder / "columns.toml"}"' if schema else ""
    data = f'table(path="{folder / "loans.csv"}", target="paid", favourable="yes"{declared})'
    resources = Resources(store=Store(folder / f"store-{schema}"))
    return jali.audit(model, data=data, explain=[explain], resources=resources, **QUICK)


@pytest.fixture(scope="module")
def observed(folder):
    return audited(folder, "dp_logistic(epsilon=0.01, bound=1.0)", "linear_recourse")


@pytest.fixture(scope="module")
def declared(folder):
    return audited(folder, "dp_logistic(epsilon=1.0, bound=1.0, C=0.1)", "linear_recourse", schema=True)


def test_a_report_on_an_undeclared_table_says_in_red_that_the_claim_is_void(observed, tmp_path):
    page = observed.save(tmp_path).read_text(encoding="utf-8")
    alarm = page.split('<p class="shout">A privacy claim is void</p>')[1]
    assert "bounds and scale of 2 columns (age, income), categories of 1 column (job)" in alarm.partition("</aside>")[0]
    assert "A privacy claim is contradicted" not in page
    assert "What is not guaranteed for" in page
    assert "What is guaranteed for" not in page


def test_rows_of_a_void_claim_keep_their_numbers_and_carry_no_claim(observed):
    rows = [row for row in observed.results.rows if row.kind == "attack" and row.guarantee]
    assert rows
    assert all(row.guarantee.startswith("VOID: bounds and scale") for row in rows)
    assert any(row.value is not None for row in rows)
    assert observed.results.contradicted == []
    assert {bool(promise.void) for promise in observed.results.guarantees} == {True}


def test_the_summary_of_a_void_claim_warns(observed):
    (said,) = (text for text in observed.results.warnings if text.startswith("VOID"))
    assert said.startswith("VOID: the privacy claim of predictions and of linear_recourse: bounds and scale")


def test_with_a_schema_file_the_claim_is_made(declared, tmp_path):
    page = declared.save(tmp_path).read_text(encoding="utf-8")
    assert "VOID" not in page
    assert "A privacy claim is void" not in page
    assert [bool(promise.void) for promise in declared.results.guarantees] == [False, False]
    stamped = {row.guarantee for row in declared.results.rows if row.kind == "attack"}
    assert {text.partition(" in")[0] for text in stamped} == {"epsilon = 1"}


@pytest.mark.parametrize("with_key", [True, False])
def test_recourse_from_private_weights_claims_something_with_a_key_alone(folder, with_key, tmp_path):
    key = f', key="{folder / "recourse.key"}"' if with_key else ""
    explain = f"dp_weights_recourse(dp_logistic(epsilon=1.0, bound=1.0, C=0.1){key})"
    found = audited(folder, "logistic", explain, schema=True)
    (promise,) = found.results.guarantees
    assert bool(promise.void) is not with_key
    page = found.save(tmp_path).read_text(encoding="utf-8")
    assert ("VOID: no key was given" in page) is not with_key
    secret = (folder / "recourse.key").read_bytes()
    for path in [*tmp_path.rglob("*"), *(folder / "store-True").rglob("*")]:
        if path.is_file():
            content = path.read_bytes()
            assert secret not in content
            assert secret.hex().encode() not in content
    assert secret.hex() not in json.dumps(found.results.model_dump(mode="json"))


@pytest.mark.parametrize("schema", [True, False])
def test_a_model_and_tables_in_memory_take_a_schema_file_too(folder, schema):
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(folder / "loans.csv").drop(columns="job")
    (folder / "two.toml").write_text(SCHEMA[: SCHEMA.index("[columns.job]")])
    X, y = table[["age", "income"]], table["paid"]
    key = folder / "recourse.key"
    found = jali.audit(
        LogisticRegression().fit(X[:100], y[:100]),
        train=(X[:100], y[:100]),
        population=(X[100:], y[100:]),
        explain=[f'dp_weights_recourse(dp_logistic(epsilon=5.0, bound=1.0, C=0.1), key="{key}")'],
        game="given_model(members=100, shadows=2)",
        attack=["threshold"],
        favourable="yes",
        schema=str(folder / "two.toml") if schema else "",
    )
    (promise,) = found.results.guarantees
    assert bool(promise.void) is not schema


# --- studies of a paper --------------------------------------------------------------------------------------------


def beside(low, **fields):
    return Capped(what="CFD", metric="auc", value=low + 0.01, low=low, high=low + 0.02, cap=0.7, **fields)


def reproduced(*capped):
    made = Study(name="heloc", parts={}, capped=list(capped))
    return Reproduction(paper="p", title="", citation="", scale="smoke", command="", studies=[made])


def test_results_beside_void_claims_are_counted_apart_and_alarm_nobody():
    found = reproduced(beside(0.6), beside(0.8, void="no key"), beside(0.6, void="no key"), beside(0.9, refuted=True))
    said, above = studies.caps(found)
    assert said.startswith("1 results of attacks on claims that stand")
    assert "none of them lie wholly above it. Of 1 on claims that are refuted, 1 does." in said
    assert "2 more are about claims that are void here" in said
    assert "1 of them lies wholly above it, and that neither supports nor contradicts a promise" in said
    assert len(above) == 2
    assert studies.cautions(found) == []


def test_a_standing_claim_that_is_exceeded_still_alarms():
    assert studies.cautions(reproduced(beside(0.8))) == ["Study heloc: CFD exceeds its cap."]
    assert "void" not in studies.caps(reproduced(beside(0.8)))[0]
