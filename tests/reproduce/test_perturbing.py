"""Verdicts that can fail: a moved published number is seen to deviate, and tolerances only narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from jali.reproduce import files, schema
from jali.reproduce.findings import judged_again
from jali.reproduce.perturbing import STEP, WANTED, perturbed, step_of, widest
from jali.results.reproduction import Finding, published
from tests.reproduce.tolerances import FROZEN

PAGES = Path(__file__).parents[2] / "docs" / "reproduction"
LOOSE = 0.05  # a wider sentence about shares, beside chance, cannot fail and must say so


def finding(**more: object) -> Finding:
    fields = {"quantity": "AUC", "section": "", "source": "Table 1", "kind": "value", "verdict": "matches", "units": 5}
    return Finding(**{**fields, "published": 0.6, "tolerance": 0.02, "value": 0.61, "low": 0.60, "high": 0.62, **more})


def test_a_narrow_match_deviates_both_ways_and_a_wide_one_neither():
    assert perturbed([finding()]).deviate == 2
    wide = finding(tolerance=0.2, low=0.5, high=0.7)
    assert (perturbed([wide]).moved, perturbed([wide]).deviate) == (2, 0)


def test_only_published_numbers_that_match_are_moved():
    others = [finding(verdict="deviates"), finding(source="ours"), finding(kind="order"), finding(bound="most")]
    assert perturbed(others).moved == 0
    assert perturbed(others).share == 1.0


@pytest.mark.parametrize("value", [0.58, 0.6, 0.62])
def test_with_half_the_step_every_match_deviates(value):
    tolerance = widest(0.6) - 1e-9
    ours = {"value": value, "low": max(value - 0.003, 0.6 - tolerance), "high": min(value + 0.003, 0.6 + tolerance)}
    assert perturbed([finding(tolerance=tolerance, **ours)]).deviate == 2


def test_small_numbers_are_moved_by_a_fifth_and_differences_by_the_step():
    assert step_of(0.05) == pytest.approx(0.01)
    assert step_of(-0.5) == STEP
    assert step_of(0.0, "Δ recall, MIA") == STEP


@pytest.mark.parametrize("name", schema.papers())
def test_four_of_five_matches_on_a_page_could_have_failed(name):
    paper = schema.read(name)
    found = judged_again(paper, files.read(PAGES / f"{name}.json", paper))
    assert perturbed(published(found)).share >= WANTED


@pytest.mark.parametrize("name", schema.papers())
def test_tolerances_only_narrow(name):
    frozen = FROZEN[name]
    for table in schema.read(name).tables:
        for metric, tolerance in table.tolerance.items():
            was = frozen.get(table.source, {}).get(metric)
            least = min(
                (widest(n[metric]) for m in table.published.values() for n in m.values() if metric in n), default=1
            )
            limit = was if was is not None else max(least, STEP / 2)  # a new table begins where a match can fail
            assert tolerance <= limit, (table.source, metric)


@pytest.mark.parametrize("name", schema.papers())
def test_a_sentence_that_cannot_fail_says_so(name):
    for sentence in schema.read(name).sentences:
        share = sentence.metric.startswith(("auc", "balanced", "tpr", "recall", "f1"))
        if sentence.kind == "same" and share and sentence.less == schema.CHANCE and sentence.tolerance > LOOSE:
            assert sentence.weak, sentence.says
