"""Sentences on what came out say what findings say."""

from __future__ import annotations

from jali.report.reproduction.outcomes import gap, outcomes
from jali.report.reproduction.page import markdown, page
from jali.results.reproduction import Finding, Verdict
from tests.report.reproductions import full


def finding(value: float, verdict: Verdict, **more: object) -> Finding:
    told = {"quantity": "AUC, CFD", "section": "Table 2: heloc", "source": "Table 2", "kind": "value", "published": 0.5}
    ends = {"tolerance": 0.02, "value": value, "low": value - 0.01, "high": value + 0.01}
    return Finding.model_validate({**told, **ends, "verdict": verdict, **more})


def test_counts_and_the_largest_deviation_of_a_table():
    some = [finding(0.5, "matches"), finding(0.6, "deviates"), finding(0.3, "deviates", section="Table 2: adult")]
    assert outcomes(some) == [
        "Table 2: of 3 claims, 1 matches and 2 deviate. Largest deviation: AUC, CFD (adult), 0.300 [0.290, 0.310] "
        "where 0.50 was published."
    ]


def test_sentences_of_the_paper_and_of_ours_stand_apart():
    said = {"kind": "order", "published": None, "tolerance": 0.0, "quantity": "LRT wins"}
    theirs = finding(-0.1, "deviates", section="Sentences", source="Section 6; AUC", **said)
    own = finding(0.1, "matches", section="Sentences of ours", source="ours; AUC", **said)
    assert outcomes([theirs, own]) == [
        "Sentences: the only claim deviates. Largest deviation: “LRT wins” (difference −0.100 [−0.110, −0.090]).",
        "Sentences of ours: the only claim matches.",
    ]
    assert outcomes([own, theirs]) == outcomes([theirs, own])  # what the paper claims comes first


def test_a_number_beyond_a_bound_and_numbers_beyond_one_are_comparable():
    assert gap(finding(0.6, "deviates", bound="most")) == gap(finding(0.6, "deviates"))
    assert gap(finding(600.0, "deviates", published=500.0)) < 1
    assert gap(finding(0.5, "matches")) == 0.0


def test_pages_show_them():
    sentences = outcomes(full().findings)
    assert sentences
    text = markdown(full())["pawelczyk2022.md"]
    assert all(f"- {sentence.partition(':')[0]}" in text for sentence in sentences)
    assert '<ul class="notes">\n<li>' in page(full())
