"""Schema files: what they declare is not taken from the rows, and what they cannot mean is one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import VoidClaim
from jali.core.values import Column
from jali.data.table import Table
from jali.defend.models.dp_logistic import DPLogistic

ROWS = "age,income,region,repaid\n" + "".join(
    f"{20 + i},{1000.5 * i},{['north', 'south'][i % 2]},{['no', 'yes'][i // 20]}\n" for i in range(40)
)
WHOLE = """
classes = ["no", "yes"]

[columns.age]
kind = "integer"
low = 18
high = 100

[columns.income]
kind = "number"
low = 0
high = 500000.0
centre = 30000
spread = 15000

[columns.region]
kind = "category"
categories = ["south", "north", "east"]
"""
PRIVATE = DPLogistic(epsilon=1.0, bound=1.0, C=0.1)


@pytest.fixture
def table(tmp_path):
    def made(schema: str | None, rows: str = ROWS) -> Table:
        (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
        if schema is None:
            return Table(str(tmp_path / "rows.csv"), "repaid")
        (tmp_path / "columns.toml").write_text(schema, encoding="utf-8")
        return Table(str(tmp_path / "rows.csv"), "repaid", schema=str(tmp_path / "columns.toml"))

    return made


def fit(data):
    return PRIVATE.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])


def test_a_whole_schema_leaves_nothing_to_the_rows(table):
    data = table(WHOLE).load()
    assert data.schema.columns == (
        Column("age", "integer", 18.0, 100.0, 59.0, 41.0),  # bounds alone: they become -1 and 1
        Column("income", "number", 0.0, 500_000.0, 30_000.0, 15_000.0),
        Column("region", "category", categories=("south", "north", "east")),
    )
    assert (data.schema.classes, data.schema.outcome) == (("no", "yes"), "declared")
    assert data.X[:2, 2].tolist() == [1.0, 0.0]
    assert not PRIVATE.guarantee(data.schema).void
    fit(data)  # and no warning, which would be an error here


def test_other_rows_have_the_same_schema(table):
    other = "age,income,region,repaid\n" + "50,7,south,yes\n51,8,south,no\n"
    assert table(WHOLE, other).load().schema == table(WHOLE).load().schema


def test_without_a_schema_everything_is_taken_from_the_rows(table):
    data = table(None).load()
    assert {c.known for c in data.schema.columns} == {"observed"}
    given = PRIVATE.guarantee(data.schema)
    assert given.void.startswith(
        "bounds and scale of 2 columns (age, income), categories of 1 column (region) and the classes of 'repaid' "
        "were taken from the rows"
    )
    assert str(given).startswith("VOID: bounds and scale of 2 columns")
    with pytest.warns(VoidClaim, match="dp_logistic is VOID: bounds and scale of 2 columns"):
        fit(data)


@pytest.mark.parametrize(
    ("cut", "void"),
    [
        ('classes = ["no", "yes"]', "the classes of 'repaid' were taken"),
        (WHOLE[WHOLE.index("[columns.region]") :], "categories of 1 column (region) were taken"),
        (WHOLE[WHOLE.index("[columns.age]") : WHOLE.index("[columns.income]")], "scale of 1 column (age) were taken"),
    ],
)
def test_what_is_left_out_voids_the_claim(table, cut, void):
    assert void in PRIVATE.guarantee(table(WHOLE.replace(cut, "")).load().schema).void


def test_a_table_with_a_schema_can_be_named_by_its_specification(table):
    part = table(WHOLE)
    assert registry.build("data", registry.spec(part)) == part


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("high = 100\n", "high = 40\n", "'age': 19 rows lie outside the declared 18 to 40"),
        ('"north", ', "", "'region': 20 rows have none of the 2 declared categories"),
        ('"no", ', '"never", ', "'repaid': 20 rows have none of the 2 declared classes"),
        ('"number"', '"integer"', "'income' is declared as integer, but 20 rows are not whole numbers"),
        ("[columns.age]", "[columns.aeg]", "no column 'aeg' among its inputs; did you mean 'age'"),
        ('kind = "integer"\n', "", "column 'age': kind must be number, integer or category, not None"),
        ("high = 100\n", "", "column 'age': give low and high, low below high"),
        ("high = 100\n", "high = 10\n", "column 'age': give low and high, low below high"),
        ("high = 100\n", "high = inf\n", "high must be a finite number"),
        ("high = 100\n", "high = true\n", "high must be a finite number"),
        ("centre = 30000\n", "", "give both centre and spread"),
        ("spread = 15000\n", "spread = 0\n", "give both centre and spread"),
        ("centre = 30000\n", "center = 30000\n", "low, high, centre, spread, not 'center'"),
        ('["south", "north", "east"]', "[]", "categories must be a list of different texts"),
        ('["south", "north", "east"]', '"south"', "categories must be a list of different texts"),
        ('"south"', '"north"', "categories must be a list of different texts"),
        ("classes =", "class =", "sensitive and columns.NAME, not 'class'"),
        ("[columns.age]", "[columns.age", "not valid TOML"),
        ('["no", "yes"]', '["yes"]', "none of the 1 declared classes"),
        ("[columns.region]", "[columns.repaid]", "is the target"),
    ],
)
def test_a_schema_that_does_not_fit_is_one_sentence(table, old, new, says):
    assert old in WHOLE
    with pytest.raises(JaliError, match=says.replace("(", r"\(")) as caught:
        table(WHOLE.replace(old, new, 1)).load()
    assert str(caught.value).endswith(".") or "?" in str(caught.value)


def test_a_category_declared_as_a_number_and_a_missing_file(table):
    as_number = WHOLE.replace(
        'kind = "category"\ncategories = ["south", "north", "east"]', 'kind = "number"\nlow = 0\nhigh = 1'
    )
    with pytest.raises(JaliError, match="'region' is declared as number, but has type"):
        table(as_number).load()
    with pytest.raises(JaliError, match=r"Cannot read the schema file nowhere\.toml"):
        Table(table(None).path, "repaid", schema="nowhere.toml").load()


def test_codes_and_truth_values_may_be_declared_as_categories(table):
    rows = "code,flag,repaid\n" + "1,True,0\n2,False,1\n" * 3
    code = "[columns.code]\nkind = 'category'\ncategories = [2, 1]\n"
    flag = "[columns.flag]\nkind = 'category'\ncategories = [true, false]\n"
    schema = f"classes = [1, 0]\n{code}{flag}"
    data = table(schema, rows).load()
    assert data.X[:2].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert data.y[:2].tolist() == [1, 0]
