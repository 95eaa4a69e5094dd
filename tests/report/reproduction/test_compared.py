from __future__ import annotations

import pytest

from jali.report.reproduction import compared
from jali.results.reproduction import Finding
from tests.report import reproductions


def finding(**told: object) -> Finding:
    base: dict[str, object] = {"quantity": "AUC", "section": "s", "source": "t", "kind": "value", "verdict": "matches"}
    return Finding.model_validate(base | told)


@pytest.mark.parametrize(
    ("kind", "published", "tolerance", "claimed", "tolerated"),
    [
        ("value", 0.5887, 0.02, "0.5887", "±\u202f0.02"),
        ("value", 1.0, 0.02, "1.00", "±\u202f0.02"),
        ("value", -0.5, 0.1, "−0.50", "±\u202f0.1"),
        ("value", 15230.0, 100.0, "15,230", "±\u202f100"),
        ("value", 0.00001, 1e-6, "0.00001", "±\u202f0.000001"),
        ("count", 6.0, 0.0, "≥ 6", ""),
        ("order", None, 0.0, "difference above 0", ""),
        ("same", None, 0.02, "difference of 0", "±\u202f0.02"),
        ("value", None, 0.02, "no number", ""),
    ],
)
def test_what_was_claimed(
    kind: str, published: float | None, tolerance: float, claimed: str, tolerated: str
) -> None:  # fmt: skip
    f = finding(kind=kind, published=published, tolerance=tolerance)
    assert (compared.claimed(f), compared.tolerated(f)) == (claimed, tolerated)


@pytest.mark.parametrize(
    ("told", "ours", "span"),
    [
        ({"value": 0.5931, "low": 0.586, "high": 0.6}, "0.593", "[0.586, 0.600]"),
        ({"value": 0.01501, "low": 0.0115, "high": 0.0186, "tolerance": 0.005}, "0.0150", "[0.0115, 0.0186]"),
        ({"value": 0.50001, "low": 0.49996, "high": 0.50006}, "0.50001", "[0.49996, 0.50006]"),
        ({"value": 0.004, "low": -0.01, "high": 0.018, "kind": "order"}, "+0.004", "[−0.010, +0.018]"),
        ({"value": -0.0001, "low": -0.2, "high": 0.0, "kind": "same"}, "0.000", "[−0.200, 0.000]"),
        ({"value": 5.0, "low": 4.0, "high": 5.0, "kind": "count"}, "5", "[4, 5]"),
        ({"value": 1234.5, "low": 1200.0, "high": 1270.0}, "1,234", "[1,200, 1,270]"),
        ({"value": 0.5}, "0.500", ""),
        ({"low": 0.1, "high": 0.2}, "–", ""),
    ],
)
def test_what_we_found(told: dict[str, object], ours: str, span: str) -> None:
    assert (compared.ours(finding(**told)), compared.span(finding(**told))) == (ours, span)


def test_models_are_counted_in_words() -> None:
    assert [compared.rests(finding(value=0.5, units=n)) for n in (0, 1, 1200)] == [
        "",
        "one target model",
        "over 1,200 target models",
    ]


def test_groups_hold_what_begins_alike_and_leave_nobody_out() -> None:
    found = reproductions.full().findings
    for section in compared.sections(found):
        parts = compared.groups(section.findings)
        assert sorted(f.quantity for g in parts for f in g.findings) == sorted(f.quantity for f in section.findings)
    first = compared.groups(compared.sections(found)[0].findings)
    assert [g.title for g in first] == list(reproductions.METRICS)
    assert first[0].label(first[0].findings[0]) == "CFD on scfe"
    last = compared.groups(compared.sections(found)[-1].findings)
    assert [(g.title, g.kind, len(g.findings)) for g in last] == [("", "difference", 4), ("", "number", 1)]


def test_a_single_claim_keeps_its_whole_name() -> None:
    (group,) = compared.groups([finding(quantity="AUC, CFD on scfe", value=0.5)])
    assert group.label(group.findings[0]) == "AUC, CFD on scfe"


def test_rules_are_those_of_the_claims_at_hand() -> None:
    assert compared.rules([]) == []
    assert compared.rules([finding()]) == [compared.RULES["value"], compared.HELD]


def test_source_is_left_out_where_the_title_says_it() -> None:
    def source(title: str, *sources: str) -> str:
        return compared.Section(title, tuple(finding(source=s) for s in sources)).source

    assert source("Table 2: heloc", "Table 2", "Table 2") == ""
    assert source("Sentences", "Section 5", "Section 5") == "Section 5"
    assert source("Sentences", "Section 5", "Section 6") == ""


def test_a_column_of_our_own_claims_is_not_called_published() -> None:
    own, theirs = finding(source="ours: check of the leak"), finding(source="Table 2")
    assert compared.Section("ours", (own, own)).claimant == "expected"
    assert compared.Section("Table 2", (theirs,)).claimant == "published"
