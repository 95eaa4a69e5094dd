"""Sentences about several places at once: counts and means, when they are run and when they are judged again."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from jali.reproduce.findings import DUE, judged_again
from jali.reproduce.numbers import Ran
from jali.results import Row
from jali.results.reproduction import Reproduction, Study
from tests.reproduce.test_findings import only, paper, sentence

BOTH = ["a / model", "b / model"]


def measured(name: str, value: float, half: float) -> Ran:
    """A study whose model has this test accuracy."""
    row = Row(
        kind="measure", metric="test_accuracy", value=value, low=value - half, high=value + half, units=len(name) + 4
    )
    return Ran(Study(name=name, parts={}, measures=[row]))


@pytest.fixture
def ran():
    return {"a": measured("a", 0.9, 0.03), "b": measured("b", 0.7, 0.04)}


def mean_of(published: float, tolerance: float):
    claim = sentence(kind="mean", metric="test_accuracy", among=BOTH, published=published, tolerance=tolerance)
    return paper(sentences=[claim])


@pytest.mark.parametrize(("published", "verdict"), [(0.82, "matches"), (0.9, "deviates"), (0.85, "not resolvable")])
def test_a_mean_of_independent_studies_is_known_better_than_each(ran, published, verdict):
    found = only(mean_of(published, tolerance=0.05), ran)
    half = math.hypot(0.03, 0.04) / 2
    assert found.value == pytest.approx(0.8 - published)
    assert (found.low, found.high) == pytest.approx((0.8 - published - half, 0.8 - published + half))
    assert (found.verdict, found.kind, found.units) == (verdict, "same", 5)


def test_a_mean_without_one_of_its_numbers_says_why(ran):
    ran["b"] = Ran(Study(name="b", parts={}, skipped="run at --scale paper only"))
    found = only(mean_of(0.8, 0.05), ran)
    assert (found.verdict, found.reason) == ("not resolvable", "run at --scale paper only")


def test_places_are_needed_and_a_number():
    with pytest.raises(ValidationError, match="needs `among`"):
        paper(sentences=[sentence(kind="mean", among=BOTH)])


def kept(ran) -> Reproduction:
    studies = [one.study for one in ran.values()]
    return Reproduction(paper="p", title="t", citation="c", scale="standard", command="", studies=studies)


def attacked(name: str, **values: tuple[float, float, float]) -> Ran:
    """A study with the AUC of each of its methods, and its interval, as a page keeps them."""
    return Ran(Study(name=name, parts={}, attacks={method: (*numbers, 6) for method, numbers in values.items()}))


def test_what_is_newer_than_a_run_is_judged_from_its_numbers(ran):
    assert judged_again(mean_of(0.82, 0.05), kept(ran))[0].verdict == "matches"
    counted = sentence(kind="count", among=["a / strong", "a / weak", "b / strong"], published=2)
    pages = {
        "a": attacked("a", strong=(0.7, 0.6, 0.8), weak=(0.52, 0.48, 0.56)),
        "b": attacked("b", strong=(0.6, 0.55, 0.65)),
    }
    (found,) = judged_again(paper(sentences=[counted]), kept(pages))
    assert (found.value, found.low, found.high, found.verdict) == (3.0, 2.0, 3.0, "matches")


def test_a_rate_by_chance_depends_on_non_members_whom_an_older_page_does_not_count():
    counted = sentence(kind="count", metric="tpr@0.01", among=["a / strong"], published=1)
    pages = {"a": attacked("a", strong=(0.7, 0.6, 0.8))}
    (found,) = judged_again(paper(sentences=[counted]), kept(pages))
    assert (found.verdict, found.reason) == ("not resolvable", DUE)


@pytest.mark.parametrize(("others", "count"), [(299, 1.0), (300, 0.0)])
def test_a_rate_is_counted_again_beside_the_chance_of_as_many_non_members(others, count):
    """Three of 300 exceed a threshold that 1 % of 299 pass, and four of 301 one that 1 % of 300 pass: .0100, .0133."""
    counted = sentence(kind="count", metric="tpr@0.01", among=["a / strong"], published=1)
    row = Row(kind="measure", metric="tpr@0.01", value=0.02, low=0.012, high=0.03, units=6)
    study = attacked("a", strong=(0.7, 0.6, 0.8)).study
    study = study.model_copy(update={"others": {"strong": others}, "measures": [row]})
    (found,) = judged_again(paper(sentences=[counted]), kept({"a": Ran(study)}))
    assert (found.value, found.low) == (1.0, count)


def test_a_count_that_had_no_number_is_made_anew():
    counted = sentence(kind="count", among=["a / strong"], published=1)
    pages = kept({"a": attacked("a", strong=(0.7, 0.6, 0.8))})
    (found,) = judged_again(paper(sentences=[counted]), pages)
    without = found.model_copy(update={"value": None, "low": None, "high": None, "reason": DUE})
    (again,) = judged_again(paper(sentences=[counted]), pages.model_copy(update={"findings": [without]}))
    assert (again.value, again.verdict) == (1.0, "matches")
