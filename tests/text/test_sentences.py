from __future__ import annotations

import dataclasses
import string

import numpy as np
import pytest

from jali.anonymity.measures import pureness
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Regions, values
from jali.core.values import Column, Schema
from jali.defend.explain.k_anonymous import KAnonymous
from jali.text.catalogue import ENGLISH, GERMAN, LANGUAGES
from jali.text.sentences import sentences
from tests.anonymity.tables import LISA, PEOPLE, TOY, bank, toy
from tests.explaining import explained

TOWNS = ("Aalst", "Bree", "Diest", "Eeklo", "Genk", "Halle", "Ieper", "Kortrijk", "Lier", "Mechelen", "Ninove", "Zele")


def told(columns, x, low, high=None, codes=None, pure=None, sampled=None):
    """The sentence of one record: numbers from low to high, categories among the codes of their column."""
    schema = Schema(columns, classes=("no", "yes"), favourable=1)
    allowed = np.zeros((1, len(columns), values(schema)), dtype=bool)
    for j, some in (codes or {}).items():
        allowed[0, j, list(some)] = True
    regions = Regions(np.array([low], float), np.array([low if high is None else high], float), allowed, schema)
    record = np.array([x], dtype=float)
    counterfactuals = Counterfactual(regions.nearest(record), np.ones(1), regions)
    return sentences(record, counterfactuals, schema, pure, sampled)[0]


def number(column, x, low, high=None):
    """What is said of a column beside one that is always 1 higher."""
    out = told((Column("a", "integer"), column), [0, x], [1, low], None if high is None else [1, high])
    return out.removeprefix("If a were 1 higher (1, not 0)").removesuffix(", the outcome would be yes.")


def town(x, codes, names=TOWNS):
    out = told((Column("town", "category", categories=names),), [x], [0], codes={0: codes})
    return out.removeprefix("If town were ").removesuffix(", the outcome would be yes.")


def test_a_row_and_its_generalisation_side_by_side():
    """Fiona as she is, and as one of three."""
    fiona = PEOPLE[[5]]
    plain = Counterfactual(fiona, np.ones(1, dtype=bool))
    low, high = fiona.copy(), fiona.copy()
    high[0, 0] = 27
    regions = Regions(low, high, Regions.of(fiona, TOY).allowed, TOY)
    wide = Counterfactual(regions.nearest(LISA), np.ones(1, dtype=bool), regions)
    rest = "city Antwerp (not Brussels) and salary 10 higher (60, not 50), the outcome would be accept."
    assert sentences(LISA, plain, TOY) == [f"If age were 3 higher (24, not 21), {rest}"]
    assert sentences(LISA, wide, TOY) == [f"If age were 3 to 6 higher (24 to 27, not 21), {rest}"]


def test_lower_numbers_lists_and_what_is_left_open():
    schema = Schema(
        (Column("rate"), Column("job type", "category", categories=("a", "b", "c", "d")), Column("age")),
        classes=("no", "yes", "maybe"),
    )
    allowed = np.zeros((1, 3, 4), dtype=bool)
    allowed[0, 1, [0, 2, 3]] = True
    regions = Regions(np.array([[0.25, 0, 10]]), np.array([[0.5, 0, 40]]), allowed, schema)
    x = np.array([[1.0, 1, 30]])
    out = sentences(x, Counterfactual(regions.nearest(x), np.ones(1), regions), schema)
    assert out == [
        "If rate were 0.5 to 0.75 lower (0.25 to 0.5, not 1) and job type a, c or d (not b), "
        "the outcome would be another one (with age left open)."
    ]


def test_nothing_to_say():
    schema = Schema((Column("a"),), favourable=1)
    counterfactuals = Counterfactual(np.array([[1.0], [2.0], [0.3]]), np.array([False, True, True]))
    out = sentences(np.array([[1.0], [2.0], [0.1 + 0.2]]), counterfactuals, schema)
    assert out[0] == ENGLISH.withheld
    assert out[1] == "Nothing would have to change for the outcome to be 1."
    assert out[2] == "Next to nothing would have to change for the outcome to be 1."
    with pytest.raises(JaliError, match="a record of 1 columns for each answer"):
        sentences(np.zeros((4, 1)), counterfactuals, schema)
    nobody = Counterfactual(np.zeros((0, 1)), np.zeros(0, dtype=bool))
    assert sentences(np.zeros((0, 1)), nobody, schema) == []


def test_an_answer_that_covers_the_record_is_too_wide_to_say_what_would_have_to_change():
    columns = (Column("age", "integer"), Column("sex", "category", categories=("f", "m")))
    too_wide = (
        "The answer is too wide to say what would have to change for the outcome to be yes: "
        "it covers this record as it is."
    )
    assert told(columns, [30, 1], [20, 0], [40, 0], {1: [0, 1]}) == too_wide
    assert told(columns, [20, 1], [20, 0], [40, 0], {1: [1]}) == too_wide  # the record at the lower end
    assert told(columns, [40, 1], [20, 0], [40, 0], {1: [1]}, np.array([0.5])) == too_wide
    assert told(columns, [30, 1], [30, 0], [30, 0], {1: [0, 1]}) == too_wide


def test_every_column_repaired_to_an_interval():
    """Boris, Fiona and Ingrid are 23, 24 and 26 and earn 40 to 60: of ages 23 to 26 and 40, 50 or 60, 3 of 12 pass.

    Lisa would not, were she 23 and in Antwerp and all else as it is.
    """
    out, train = (
        explained(KAnonymous(k=3, repair="interval"), bank(), LISA, TOY, toy(), np.random.default_rng(0)),
        toy(),
    )
    pure = pureness(bank(), out.shown(TOY), train, np.ones(1, np.int64), np.random.default_rng(0))
    assert bank().logits(out.rows).argmax() == 0
    assert sentences(LISA, out, TOY, pure.value, pure.low < pure.high) == [
        "If age were 2 to 5 higher (23 to 26, not 21) and city Antwerp (not Brussels), the outcome would be accept "
        "(in 25 % of the cases this covers, with gender, salary and relationship left open)."
    ]


@pytest.mark.parametrize(
    ("share", "sampled", "reserve"),
    [
        (1.0, False, ""),
        (1.0, True, " (in about 100 % of the cases this covers, with b left open)"),
        (0.94, False, " (in 94 % of the cases this covers, with b left open)"),
        (0.94, True, " (in about 94 % of the cases this covers, with b left open)"),
        (0.9999, False, " (in 99 % of the cases this covers, with b left open)"),
        (0.0001, False, " (in 1 % of the cases this covers, with b left open)"),
        (0.0, False, " (in 0 % of the cases this covers, with b left open)"),
        (np.nan, False, " (with b left open)"),
    ],
)
def test_how_often_the_promise_is_kept(share, sampled, reserve):
    out = told((Column("a"), Column("b")), [0, 0], [1, -1], [1, 1], None, np.array([share]), np.array([sampled]))
    assert out == f"If a were 1 higher (1, not 0), the outcome would be yes{reserve}."


def test_shares_that_are_none():
    with pytest.raises(JaliError, match="shares from 0 to 1"):
        told((Column("a"),), [0], [1], pure=np.array([94.0]))
    with pytest.raises(JaliError, match=r"pure must have shape \(1\)"):
        told((Column("a"),), [0], [1], pure=np.array([0.9, 0.9]))


def test_columns_left_open_are_counted_where_they_are_many():
    columns = tuple(Column(name) for name in "abcdefg")
    six = told(columns, [0] * 7, [1, *[-1] * 6], [1] * 7)
    assert six == "If a were 1 higher (1, not 0), the outcome would be yes (with 6 other columns left open)."
    five = told(columns, [0] * 7, [1, 0, *[-1] * 5], [1, 0, *[1] * 5])
    assert five == "If a were 1 higher (1, not 0), the outcome would be yes (with c, d, e, f and g left open)."


@pytest.mark.parametrize(
    ("x", "low", "high", "change"),
    [
        (10_000_000, 10_000_001, None, "1 higher (10,000,001, not 10,000,000)"),
        (50_000, 60_000, None, "10,000 higher (60,000, not 50,000)"),
        (1_234_567, 2_345_678, 3_000_000, "1,111,111 to 1,765,433 higher (2,345,678 to 3,000,000, not 1,234,567)"),
        (1998, 2001, 2003, "3 to 5 higher (2001 to 2003, not 1998)"),
        (20240131, 20240201, 20240301, "20240201 to 20240301 (not 20240131)"),
        (20240131, 20230228, None, "20230228 (not 20240131)"),
        (20240131, 20240132, None, "1 higher (20,240,132, not 20,240,131)"),  # no day of the calendar
        (2**52, 2**52 + 1, None, "1 higher (4,503,599,627,370,497, not 4,503,599,627,370,496)"),
        (-5, -20, -10, "5 to 15 lower (-20 to -10, not -5)"),
        (-5, -3, 2, "2 to 7 higher (-3 to 2, not -5)"),
        (-5, 0, None, "5 higher (0, not -5)"),
        (21, 24, np.inf, "3 or more higher (24 or more, not 21)"),
        (21, -np.inf, 18, "3 or more lower (18 or less, not 21)"),
    ],
)
def test_whole_numbers(x, low, high, change):
    assert number(Column("b", "integer"), x, low, high) == f" and b {change}"


@pytest.mark.parametrize(
    ("x", "low", "high", "change"),
    [
        (0.1, 0.3, None, "0.2 higher (0.3, not 0.1)"),
        (1 / 3, 0.5, 2 / 3, "0.166667 to 0.333334 higher (0.5 to 0.666667, not 0.333333)"),
        (1234567.5, 1234567.625, None, "0.1 higher (1,234,567.6, not 1,234,567.5)"),
        (0.70000001, 0.7, None, "0.00000001 lower (0.7, not 0.70000001)"),
        (-0.0000004, -2.5, -1.25, "1.25 to 2.5 lower (-2.5 to -1.25, not 0)"),
        (72.5, 70, 70 + 1e-12, "2.5 lower (70, not 72.5)"),
        (0.00002, 0.00003, None, "0.00001 higher (0.00003, not 0.00002)"),
    ],
)
def test_other_numbers(x, low, high, change):
    assert number(Column("b"), x, low, high) == f" and b {change}"


def test_rounding_is_no_change_and_more_is():
    rate, wide = Column("b", low=0, high=1), Column("b", low=0, high=1e6)
    assert number(rate, 0.1 + 0.2, 0.3) == ""
    assert number(rate, 1e-10, 0) == ""
    assert number(rate, 1e-8, 0) == " and b 0.00000001 lower (0, not 0.00000001)"
    assert number(wide, 0.3, 0.3001) == ""
    assert number(wide, 0.3, 0.4) == " and b 0.1 higher (0.4, not 0.3)"
    assert number(Column("b", "integer", 0, 1e12), 7, 8) == " and b 1 higher (8, not 7)"  # never of whole numbers


def test_units_stand_in_the_name():
    weight = told((Column("weight (kg)"),), [72.5], [68], [70])
    assert weight == "If weight (kg) were 2.5 to 4.5 lower (68 to 70, not 72.5), the outcome would be yes."


def test_long_lists_of_categories():
    assert town(8, range(5)) == "Aalst, Bree, Diest, Eeklo or Genk (not Lier)"
    assert town(8, range(6)) == "one of 6 values (not Lier)"
    assert town(8, range(7)) == "any but Kortrijk, Lier, Mechelen, Ninove or Zele (now Lier)"
    assert town(8, [v for v in range(12) if v != 8]) == "any but Lier"
    assert town(8, range(6), TOWNS[:9]) == "any but Ieper, Kortrijk or Lier (now Lier)"


def test_names_that_would_run_together_are_quoted():
    names = ("late, but paid", "none or unknown", "bed and board", " ", "oral", "Oregon")
    assert town(4, [0, 1, 2, 3, 5], names) == (
        '"late, but paid", "none or unknown", "bed and board", " " or Oregon (not oral)'
    )
    assert town(0, [4], names) == 'oral (not "late, but paid")'
    assert (
        told((Column("gain, net"),), [0], [1]) == 'If "gain, net" were 1 higher (1, not 0), the outcome would be yes.'
    )


@pytest.mark.parametrize(
    ("x", "problem"),
    [
        ([np.nan, 0], "'age' holds a missing or infinite value"),
        ([np.inf, 0], "'age' holds a missing or infinite value"),
        ([1, np.nan], "'sex' holds a missing or infinite value"),
        ([1, 7], "'sex' holds a category the schema does not name"),
        ([1, -1], "'sex' holds a category the schema does not name"),
        ([1, 0.5], "'sex' holds a category the schema does not name"),
    ],
)
def test_records_and_answers_with_gaps_or_unknown_categories(x, problem):
    schema = Schema((Column("age"), Column("sex", "category", categories=("f", "m"))))
    bad, good = np.array([x], dtype=float), np.zeros((1, 2))
    for record, row in ((bad, good), (good, bad)):
        with pytest.raises(JaliError, match=problem):
            sentences(record, Counterfactual(row, np.ones(1)), schema)
    assert sentences(good, Counterfactual(bad, np.zeros(1)), schema) == [ENGLISH.withheld]


def test_empty_regions():
    with pytest.raises(JaliError, match="at least one row"):
        told((Column("age"),), [30], [50], [40])
    with pytest.raises(JaliError, match="at least one row"):
        town(0, [])


@pytest.fixture
def lisa():
    city = Column("city", "category", categories=("Antwerp", "Lier", "Ghent"))
    schema = Schema((Column("age", "integer"), Column("income"), city), classes=("reject", "accept"), favourable=1)
    allowed = np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 1]]])
    regions = Regions(np.array([[24.0, 12345.5, 0]]), np.array([[27.0, 12345.5, 0]]), allowed, schema)
    X = np.array([[21.0, 30000.0, 1.0]])
    return X, Counterfactual(regions.nearest(X), np.ones(1), regions), schema


def test_the_same_answer_in_another_language(lisa):
    said = sentences(*lisa, np.array([0.94]), say=GERMAN)[0]
    assert said == (
        "Das Ergebnis wäre accept (in 94 % der Fälle, die dies einschließt), wenn sich Folgendes änderte: age um 3 bis "
        "6 höher (24 bis 27 statt 21), income um 17.654,5 niedriger (12.345,5 statt 30.000) und city Antwerp oder "
        "Ghent (statt Lier)."
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_the_same_numbers_and_names(lisa, language):
    say = LANGUAGES[language]
    said = sentences(*lisa, np.array([0.94]), say=say)[0]
    named = [
        "accept",
        "age",
        "income",
        "city",
        "Antwerp",
        "Ghent",
        "Lier",
        "24",
        "27",
        "21",
        "94",
        say.number("17,654.5"),
    ]
    assert [name for name in named if name not in said] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_has_the_places_that_english_has(language):
    for field in dataclasses.fields(ENGLISH):
        places = [
            sorted(name for _, name, _, _ in string.Formatter().parse(getattr(each, field.name)) if name)
            for each in (ENGLISH, LANGUAGES[language])
        ]
        assert places[0] == places[1], field.name
