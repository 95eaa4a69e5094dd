from __future__ import annotations

import pytest

from jali.report import words
from jali.results import Results, Row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("a\r\nb\tc", "a b c"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("nul\x00bell\x07", "nulbell"),
        ("\ud800", "\ufffd"),
        ("café 日本 👩‍👧", "café 日本 👩‍👧"),
    ],
)
def test_clean_keeps_text_and_drops_what_steers_a_terminal(text: str, expected: str) -> None:
    assert words.clean(text) == expected


def test_cleaned_reaches_keys_and_nested_values() -> None:
    dirty = Results(facts={"a\nb": [{"c": "\x1b[1md"}]}, not_tested=["e\x00"])
    clean = words.cleaned(dirty)
    assert clean.facts == {"a b": [{"c": "d"}]}
    assert clean.not_tested == ["e"]
    assert dirty.not_tested == ["e\x00"]


@pytest.mark.parametrize(
    ("metric", "kind", "value", "low", "high", "shown", "span"),
    [
        ("auc", "attack", 0.5634, 0.551, 0.5749, "0.563", "0.551–0.575"),
        ("tpr@0.01", "attack", 0.0312, 0.0201, 0.0423, "3.1\u202f%", "2.0–4.2"),
        ("tpr@0.001", "attack", 0.0042, 0.0, 0.0091, "0.42\u202f%", "0.00–0.91"),
        ("auc", "contrast", -0.012, -0.02, -0.004, "−0.012", "−0.020 to −0.004"),
        ("tpr@0.01", "contrast", 0.021, -0.003, 0.045, "+2.1", "−0.3 to +4.5"),
        ("auc", "contrast", -7e-6, -5.4e-5, 4e-5, "−0.00001", "−0.00005 to +0.00004"),
        ("auc", "contrast", -0.0001, -0.004, 0.003, "0.000", "−0.004 to +0.003"),
        ("auc", "contrast", 0.0, 0.0, 0.0, "not used", ""),
        ("tpr@0.01", "contrast", 0.00005, -0.00002, 0.00013, "+0.005", "−0.002 to +0.013"),
        ("cost_l2", "measure", 1234.6, 1200.0, 1300.0, "1,235", "1,200–1,300"),
    ],
)
def test_values_and_intervals(
    metric: str, kind: str, value: float, low: float, high: float, shown: str, span: str
) -> None:
    row = Row(kind=kind, metric=metric, value=value, low=low, high=high)  # type: ignore[arg-type]
    assert words.value_of(row) == shown
    assert words.span_of(row) == span


def test_what_is_not_resolvable_has_no_interval() -> None:
    row = Row(kind="attack", metric="auc", value=None, reason="too few")
    assert words.value_of(row) == "–"
    assert words.span_of(row) == ""
