"""Columns of any data set are declared, so that a privacy claim about it can hold."""

from __future__ import annotations

import numpy as np
import pytest

import jali
from jali.audit.guarantees import guarantees, voided
from jali.config import Config, checked, read
from jali.core import registry
from jali.core.errors import JaliError
from jali.data.declared import DeclaredColumns
from jali.data.tables.in_memory import OwnTables

ROWS = "age,city,repaid\n30,Ghent,yes\n50,Antwerp,no\n41,Ghent,no\n28,Ghent,yes\n"
SCHEMA = """
classes = ["no", "yes", "late"]

[columns.age]
kind = "integer"
low = 18
high = 90

[columns.city]
kind = "category"
categories = ["Ghent", "Antwerp", "Lier"]
"""
MAPPING = {
    "classes": ["no", "yes", "late"],
    "columns": {
        "age": {"kind": "integer", "low": 18, "high": 90, "centre": 40, "spread": 10},
        "city": {"kind": "category", "categories": ["Ghent", "Antwerp", "Lier"]},
    },
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "columns.toml").write_text(SCHEMA)
    return tmp_path


def part(folder, favourable="yes"):
    rows = registry.build("data", f'table("{folder / "rows.csv"}", "repaid", favourable="{favourable}")')
    return DeclaredColumns(rows, str(folder / "columns.toml"))


def test_values_stay_and_names_get_their_declared_places(folder):
    before, after = part(folder).source.load(), part(folder).load()
    assert before.schema.columns[1].categories == ("Antwerp", "Ghent")
    assert after.X[:, 1].tolist() == [0, 1, 0, 0]
    assert after.schema.classes == ("no", "yes", "late")
    assert after.y.tolist() == [1, 0, 0, 1]
    assert after.schema.favourable == 1
    age = after.schema.columns[0]
    assert (age.low, age.high, age.centre, age.spread, age.known) == (18, 90, 54, 36, "declared")
    assert after.schema.outcome == "declared"


def test_a_claim_that_was_void_holds():
    """Everything is taken from the rows, and the claim is void, until all of it is declared."""
    private = registry.build("model", "dp_logistic(epsilon=1.0, bound=1.0)")
    rows = OwnTables((np.array([[30.0], [50.0]]), ["no", "yes"]), (np.array([[28.0]]), ["no"]), "yes").load()
    assert voided(guarantees(private, [], rows))
    mapping = {"classes": ["no", "yes"], "columns": {"x0": {"kind": "number", "low": 0, "high": 99}}}
    given = (np.array([[30.0], [50.0]]), ["no", "yes"]), (np.array([[28.0]]), ["no"])
    assert not voided(guarantees(private, [], OwnTables(*given, "yes", schema=mapping).load()))


def test_a_mapping_declares_centre_and_spread_too():
    import pandas as pd

    frame = pd.DataFrame({"age": [30, 50], "city": ["Ghent", "Lier"]})
    age = OwnTables((frame, ["yes", "no"]), (frame, ["no", "late"]), None, schema=MAPPING).load().schema.columns[0]
    assert (age.centre, age.spread) == (40, 10)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (SCHEMA.replace("90", "45"), "1 rows lie outside the declared 18 to 45"),
        (SCHEMA.replace('"Antwerp", ', ""), "1 rows have none of the 2 declared names"),
        (SCHEMA.replace('"yes", ', ""), "The favourable class 'yes' is none of the declared"),
        (SCHEMA.replace("columns.city", "columns.town"), "there is no column 'town'"),
        (SCHEMA.replace('"integer"', '"category"').replace("low = 18\nhigh = 90", 'categories = ["1"]'), "as integer"),
    ],
)
def test_what_does_not_fit_is_refused(folder, wrong, words):
    (folder / "columns.toml").write_text(wrong)
    with pytest.raises(JaliError, match=words):
        part(folder).load()


def test_a_setting_declares_columns_of_a_file_and_of_a_named_data_set(folder):
    own = checked({"data": str(folder / "rows.csv"), "target": "repaid", "declare": str(folder / "columns.toml")})
    assert registry.build("data", own.source()).load().schema.classes == ("no", "yes", "late")
    named = Config(data="lending(n=50)", declare="columns.toml", base="/some/where")
    assert named.source() == 'declared(lending(n=50), schema="/some/where/columns.toml")'


def test_the_setting_is_written_and_found_again_from_another_folder(folder):
    own = checked({"data": str(folder / "rows.csv"), "target": "repaid", "declare": str(folder / "columns.toml")})
    (folder / "out").mkdir()
    (folder / "out" / "audit.toml").write_text(own.toml(folder / "out"))
    again = read(folder / "out" / "audit.toml")
    assert again.declare == "../columns.toml"
    assert registry.build("data", again.source()).load().schema.outcome == "declared"


def test_the_command_line_has_it_too(folder):
    from typer.testing import CliRunner

    from jali.cli import app

    options = ["--target", "repaid", "--model", "logistic", "--dry-run"]
    wrong = ["audit", "--data", str(folder / "rows.csv"), "--declare", str(folder / "none.toml"), *options]
    found = CliRunner().invoke(app, wrong)
    assert found.exit_code != 0
    assert "none.toml" in f"{found.output} {found.exception}"


def test_python_takes_a_mapping():
    with pytest.raises(JaliError, match="The schema, column 'age': kind must be"):
        jali.audit(
            train=(np.zeros((2, 1)), [0, 1]), population=(np.zeros((2, 1)), [0, 1]), schema={"columns": {"age": 1}}
        )
