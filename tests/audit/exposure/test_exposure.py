"""A planted log whose answer is known by hand."""

from __future__ import annotations

import pandas as pd
import pytest

import jali
from jali.core.errors import JaliError
from jali.report import exposure as page

# Anna is alone at 30; Ben and Cem share age and city; Dora and Eve share the city.
TRAIN = pd.DataFrame(
    {
        "id": ["anna", "ben", "cem", "dora", "eve"],
        "age": [30, 40, 40, 51, 58],
        "city": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn"],
        "income": [11.5, 22.5, 33.5, 44.5, 55.5],
    }
)
# Dora's row is sent as two ranges: each leaves two people, both together leave her.
LOG = pd.DataFrame(
    [
        ("2026-01-01", "bank", "40", "Ulm", 22.5),  # Ben's row, two candidates
        ("2026-01-02", "bank", "30", "Ulm", 11.5),  # Anna, alone
        ("2026-01-03", "bank", "45..60", "Bonn", 44.5),  # Dora or Eve
        ("2026-01-04", "shop", "[30, 51]", "*", 44.5),  # everybody but Eve
        ("2026-01-05", "shop", "30", "Ulm", 99.0),  # Anna's columns with nobody's income: misleads
        ("2026-01-06", "shop", "30", "Ulm|Bonn", 11.5),  # Anna again
    ],
    columns=["when", "whom", "answer_age", "answer_city", "answer_income"],
)
OPTIONS = {"quasi": ["age", "city"], "time": "when", "recipient": "whom", "groups": "id"}


def found(**more):
    return jali.exposure(LOG, TRAIN, **(OPTIONS | more)).results


def test_counts_are_those_by_hand():
    result = found()
    assert (result.answers, result.people, result.shown) == (6, 5, 3)
    assert (result.alone, result.together, result.wrong) == (1, 2, 1)
    assert [(r.name, r.answers, r.people) for r in result.recipients] == [("recipient 1", 3, 1), ("recipient 2", 3, 1)]
    assert [(m.answers, m.until, m.alone, m.together) for m in result.timeline] == [(6, "2026-01-06", 1, 2)]
    assert page.answer(result).startswith(
        "2 of 5 training people can be singled out from the 6 answers that were sent, 1"
    )


def test_the_order_is_that_of_time_and_not_of_the_file():
    shuffled = jali.exposure(LOG[::-1], TRAIN, **OPTIONS).results
    assert shuffled.model_dump() == found().model_dump()


@pytest.mark.parametrize(
    ("person", "answers", "by", "together", "since"),
    [
        ("anna", 2, 2, True, "2026-01-02"),
        ("ben", 1, 0, False, ""),
        ("dora", 2, 0, True, "2026-01-04"),
        ("eve", 0, 0, False, ""),
    ],
)
def test_one_persons_status(person, answers, by, together, since):
    status = found(person=person).person
    assert (status.answers, status.singled_out_by, status.together, status.since) == (answers, by, together, since)


def test_a_person_whom_only_all_recipients_together_find_is_told_so():
    sentence = page.answer(found(person="dora"))
    assert "no recipient alone can single the person out, but all together can, since 2026-01-04" in sentence


def test_a_larger_register_hides_people():
    """With another person of 30 in Ulm outside the training data, nobody can tell whether Anna is meant."""
    register = pd.concat([TRAIN[["age", "city"]], pd.DataFrame({"age": [30], "city": ["Ulm"]})])
    result = jali.exposure(LOG, TRAIN, register, **OPTIONS).results
    assert (result.alone, result.together) == (0, 1)


def test_names_of_recipients_only_where_asked_for():
    assert [r.name for r in found(show_values=True).recipients] == ["bank", "shop"]
    assert "bank" not in found().model_dump_json()
    assert "anna" not in repr(jali.exposure(LOG, TRAIN, **OPTIONS))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"quasi": []}, "Name the columns that recipients know"),
        ({"quasi": ["postcode"]}, "quasi: there is no column 'postcode'"),
        ({"time": "date"}, "time: the log has no column 'date'"),
        ({"person": "zoe"}, "nobody in column 'id' of the training table is called 'zoe'"),
        ({"groups": "", "person": "zoe"}, "person must be a row number from 0 to 4"),
    ],
)
def test_a_mistake_is_one_sentence(change, sentence):
    with pytest.raises(JaliError, match=sentence):
        found(**change)


LONG = pd.concat([LOG.assign(answer_age="30", answer_city="Ulm", answer_income=11.5)] * 2, ignore_index=True)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (LOG.head(0), "The log has 0 entries, and none of them holds an answer"),
        (LONG.assign(answer_city="ULM"), "'answer_city' of the log has no value in common with 'city'"),
        (LONG.assign(answer_income=11_500), "'answer_income' of the log has no value in common with 'income'"),
    ],
)
def test_a_log_that_fits_nobody_is_no_reassurance(log, words):
    with pytest.raises(JaliError, match=words):
        jali.exposure(log, TRAIN, **OPTIONS)


def test_some_answers_that_fit_nobody_are_counted():
    log = LONG.assign(answer_city=["ULM"] * 3 + ["Ulm"] * 9)
    notes = jali.exposure(log, TRAIN, **OPTIONS).results.notes
    assert any("3 answers have a value of 'city' that nobody has" in note for note in notes)


def test_truth_values_may_be_spelt_differently():
    train = TRAIN.assign(owner=[True, False, True, False, True])
    log = LONG.assign(answer_owner=1)
    results = [jali.exposure(log.assign(answer_owner=yes), train, **OPTIONS).results for yes in (True, "yes", 1)]
    assert [r.together for r in results] == [1, 1, 1]


def test_times_that_do_not_sort_are_said():
    assert not any("Times are texts" in note for note in found().notes)
    for times in ([f"{day}/1/2026" for day in range(1, 13)], [1, "2026-01-01"] * 6):
        notes = jali.exposure(LONG.assign(when=times), TRAIN, **OPTIONS).results.notes
        assert any("Times are texts" in note for note in notes)


def test_people_without_a_name_are_refused_and_numbers_are_found():
    with pytest.raises(JaliError, match="does not say whose row it is in 1 rows"):
        jali.exposure(LOG, TRAIN.assign(id=["anna", None, "cem", "dora", "eve"]), **OPTIONS)
    numbers = TRAIN.assign(id=[7.0, 8.0, 9.0, 10.0, 11.0])
    assert jali.exposure(LOG, numbers, **OPTIONS, person="7").results.person == found(person="anna").person


def test_a_register_that_is_written_in_another_way_is_refused():
    with pytest.raises(JaliError, match="quasi: Column 'city' of the train table"):
        jali.exposure(LOG, TRAIN, TRAIN.assign(city=TRAIN["city"].str.upper()), **OPTIONS)
