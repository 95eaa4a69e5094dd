"""Tables over a grid of variables, and names for long texts."""

import pytest

from jali.core.errors import JaliError
from jali.reproduce import grids
from jali.reproduce.grids import expanded


def test_a_list_has_one_table_per_point_the_last_variable_fastest():
    found = expanded({"sentences": [{"over": {"x": ["a", "b"], "y": [1, 2]}, "says": "{x} at {y}"}]})
    assert [s["says"] for s in found["sentences"]] == ["a at 1", "a at 2", "b at 1", "b at 2"]


def test_points_can_be_left_out():
    block = {"over": {"x": ["a", "b"], "y": [1, 2]}, "without": [{"x": "a", "y": 2}], "says": "{x} at {y}"}
    assert [s["says"] for s in expanded({"s": [block]})["s"]] == ["a at 1", "b at 1", "b at 2"]


def test_variables_that_go_together_are_not_crossed():
    block = {"over": {"x, n": [["a", 1], ["b", 2]]}, "says": "{x}{n}"}
    assert [s["says"] for s in expanded({"s": [block]})["s"]] == ["a1", "b2"]


def test_a_value_has_words():
    tables = {"variables": {"data": {"d1": "Adult", "d2": {"title": "Heloc", "rows": "9"}}}}
    block = {"over": {"s": "data"}, "says": "{s}: {s:title}"}
    assert [s["says"] for s in expanded(tables | {"t": [block]})["t"]] == ["d1: Adult", "d2: Heloc"]
    with pytest.raises(JaliError, match="'d1' of 's' has no 'rows'"):
        expanded(tables | {"t": [{"over": {"s": "data"}, "says": "{s:rows}"}]})


def test_words_of_a_value_come_from_every_table_that_has_it():
    tables = {"variables": {"data": {"d1": "Adult"}, "groups": {"d1": {"few": "women"}}}}
    assert expanded(tables | {"t": [{"over": {"s": ["d1"]}, "says": "{s:title}, {s:few}"}]})["t"] == [
        {"says": "Adult, women"}
    ]


def test_entries_of_one_name_are_one():
    tables = {"studies": {"{x}-k": {"over": {"x": ["a", "b"]}, "data": "d({x})"}, "a-k": {"game": "g"}}}
    assert expanded(tables)["studies"] == {"a-k": {"data": "d(a)", "game": "g"}, "b-k": {"data": "d(b)"}}
    with pytest.raises(JaliError, match="'data' stands twice"):
        expanded({"studies": {"{x}": {"over": {"x": ["a"]}, "data": "1"}, "a": {"data": "2"}}})


def test_an_alias_is_a_text_or_a_list():
    tables = {"aliases": {"near": "nice({how})", "how": "free=1", "both": ["CFD", "{near}"]}}
    assert expanded(tables | {"m": ["{both}", "LRT"], "t": "k({near})"}) == {
        "m": ["CFD", "nice(free=1)", "LRT"],
        "t": "k(nice(free=1))",
    }


def test_braces_that_name_nothing_are_refused_and_others_kept():
    with pytest.raises(JaliError, match="neither a variable nor an alias"):
        expanded({"t": "{unknown}"})
    assert expanded({"t": "a set {1, 2} and {}"}) == {"t": "a set {1, 2} and {}"}


def test_a_file_cannot_exhaust_the_machine():
    many = {"over": {name: list(range(100)) for name in ("a", "b", "c", "d")}, "says": "x"}
    with pytest.raises(JaliError, match=f"more than {grids.MOST:,} points"):
        expanded({"s": [many]})
    with pytest.raises(JaliError, match="names itself"):
        expanded({"aliases": {"a": "{a}"}, "t": "{a}"})


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"over": ["x"]}, "over must be a table"),
        ({"over": {"x": "nowhere"}}, "no variable 'nowhere'"),
        ({"over": {"x": 3}}, "needs a list"),
        ({"over": {"x, y": [["a"]]}}, "need 2 values"),
        ({"over": {"x": [{"over": {}}]}}, "a text or a number"),
        ({"over": {"x": ["a"]}, "without": ["a"]}, "without must be a list of points"),
    ],
)
def test_a_grid_that_is_none_is_refused(block, said):
    with pytest.raises(JaliError, match=said):
        expanded({"sentences": [block]})
