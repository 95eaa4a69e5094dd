from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from jali.report.audit import text
from tests.report import sample

MAKERS = sample.MAKERS


@pytest.mark.parametrize("make", MAKERS)
def test_summary_is_a_few_sentences_that_promise_nothing(make: sample.Maker) -> None:
    summary = text.summary(make())
    assert 2 <= len(re.findall(r"[.](?= [A-Z]|$)", summary)) <= 10
    assert not re.search(r"at most|adds? nothing|measurabl|hinder", summary, re.IGNORECASE)
    assert not re.search(r"compliant|anonymous|\bsafe\b", summary, re.IGNORECASE)


def test_summary_of_an_invalid_audit_makes_no_statement() -> None:
    summary = text.summary(sample.invalid())
    assert summary.startswith("This audit is invalid: blind baseline")
    assert "1,000" not in summary


@pytest.mark.parametrize("make", MAKERS)
def test_plain_holds_no_control_character(make: sample.Maker) -> None:
    plain = text.plain(make())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", plain)
    assert max(map(len, plain.splitlines())) <= 120


def test_plain_shows_values_intervals_and_why_there_are_none() -> None:
    plain = text.plain(sample.full())
    for part in (
        "0.541",
        "0.487–0.606",
        "adds over score",
        "−0.013 to −0.001",
        "–¹",
        f"¹ {sample.REASON}.",
    ):
        assert part in plain


def test_names_are_never_read_as_markup() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system="truecolor", record=True)
    console.print(text.table(sample.hostile()))
    shown = console.export_text()
    assert "[bold]b[/bold]" in shown
    assert "\x1b" not in shown


def test_table_fits_a_narrow_terminal() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    console.print(text.table(sample.full()))
    shown = console.export_text()
    assert "…" not in shown
    assert "+0.005 to +0.019" in shown


def test_signals_are_named_where_lines_would_read_the_same() -> None:
    results = sample.full()
    first = results.rows[0]
    twin = first.model_copy(update={"signal": "entropy", "value": 0.777})
    plain = text.plain(results.model_copy(update={"rows": [first, twin]}))
    assert "score: lira on confidence" in plain
    assert "score: lira on entropy" in plain


def test_table_is_short_and_says_what_it_leaves_out() -> None:
    plain = text.plain(sample.many_attacks())
    assert "score: threshold" not in plain
    assert "score: ratio2 on loss" in plain
    assert "only in the report: 13 other attacks on single signals" in plain
    assert "only in the report: 16 lines on single target models" in text.plain(sample.released())
    assert "only in the report" not in text.plain(sample.full())


def test_summary_of_a_released_convention_claims_nothing_about_additions() -> None:
    summary = text.summary(sample.released())
    assert summary.startswith("Mean AUC over 8 target models")
    assert "sanity" not in summary
    assert "No attack" not in summary


def test_title_of_an_invalid_audit_says_so() -> None:
    assert "INVALID AUDIT" in text.plain(sample.invalid())


def test_a_difference_stands_below_both_of_its_sides() -> None:
    plain = text.plain(sample.compared())
    lines = [line.strip() for line in plain.splitlines()]
    start = next(k for k, line in enumerate(lines) if line == "partly")
    shown = [line for line in lines[start:] if line and not line[0].isdigit() and line[0] not in "−+"]
    assert [re.split(r"  +", line)[:2] for line in shown[1:4]] == [
        ["score alone, same people", "0.678"],
        ["score+explanation: joint", "0.684"],
        ["adds over score (left out in 3 of 16 models)", "+0.006"],
    ]
    assert "0.000 to 0.000" not in plain
    assert "not used: the combined attack judged everybody the same with and without" in plain


def test_a_side_that_repeats_an_attack_takes_its_place() -> None:
    results = sample.compared()
    side = results.find(kind="paired", channel="score+explanation", explainer="partly")
    twins = [row.model_copy(update={"kind": "attack", "against": None}) for row in side]
    plain = text.plain(results.model_copy(update={"rows": [*results.rows, *twins]}))
    assert plain.split("  partly")[1].split("  unused")[0].count("score+explanation: joint") == 1


def test_the_positive_control_has_one_line() -> None:
    flat = re.sub(r"\s+", " ", text.plain(sample.full()))
    assert (
        "positive control: additions in AUC that 8 of 10 audits like this find: over the score 0.007 "
        "(linear_recourse), 0.007 (gradient_times_input), 0.031 (nice(k=5)); over the decision 0.010 "
        "(linear_recourse), 0.010 (gradient_times_input), more than was planted (nice(k=5))"
    ) in flat
    assert "over the score not known; over the decision not known" in re.sub(
        r"\s+", " ", text.plain(sample.single_target())
    )
    assert "positive control" not in text.plain(sample.older())
