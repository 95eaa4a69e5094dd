"""The page of a test of a privacy claim: the verdict first, then what it rests on and what was not looked at."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import pytest

from jali.report import sheet, verification_page
from tests.report.scripts import check_script
from tests.report.test_verification import found

REFUTED = {
    "verdict": "REFUTED",
    "lower": 2.5,
    "bounds": {"its length": 0.25, "the whole answer": 2.5},
    "leaking_variables": ["weights"],
    "assumes": ["bounds are public", "The seed stays secret."],
    "known_flaws": "The direction is not noised.",
    "tables": "47 to 511 rows",
    "rarest": 0.01,
    "jali": "9.9.9",
}


def made(**fields):
    return verification_page.sheet(found(**fields))


def cells(page, title):
    (block,) = [block for block in page.blocks if block.title == title]
    return [list(row) for row in block.rows]


def test_a_refuted_claim_says_so_first_with_both_numbers_and_the_confidence():
    page = made(**REFUTED)
    assert page.answer.replace("\N{NO-BREAK SPACE}", " ") == (
        "REFUTED: noise claims epsilon = 1, and its answers show an epsilon of 2.50 or more (95 % confidence)."
    )
    assert page.points[0].startswith("Do not state this claim.")
    assert any("through weights" in point for point in page.points)
    assert page.notes == ["Known about this mechanism: The direction is not noised."]
    assert cells(page, "Shown epsilon, by what is looked at") == [
        ["the whole answer", "2.50", "1", "yes"],
        ["its length", "0.25", "1", "no"],
    ]
    assert cells(page, "What the claim rests on, assumed and not tested") == [
        ["Bounds are public."],
        ["The seed stays secret."],
    ]
    assert ["Tables other than these: 47 to 511 rows."] in cells(page, "What was not looked at")


def test_a_claim_that_stands_is_never_called_true():
    page = made()
    assert page.answer.startswith("NOT REFUTED: ")
    assert page.answer.endswith("could have shown up to 3.30. This is no proof of the claim.")
    assert verification_page.NO_PROOF in page.notes
    assert not any("Do not state" in point for point in page.points)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"pairs_changed": 0, "pairs": 7}, "in none of the 7 pairs"),
        ({"pairs_changed": None, "lower": 0.0}, "none can be ruled out"),
        ({"ceiling": 0.9}, "raise --draws"),
    ],
)
def test_what_could_not_be_tested_says_why(fields, why):
    page = made(verdict="NOT TESTABLE", **fields)
    assert page.answer.startswith("NOT TESTABLE: ")
    assert why in page.answer


def test_a_bound_is_held_against_what_is_allowed_in_its_own_pair():
    """Under add-remove adjacency 2 epsilon are allowed where a record is replaced."""
    shown = found(bounds={"removed": 0.5, "replaced": 1.5}, allowed={"replaced": 2.0})
    assert not shown.exceeds("replaced")
    assert cells(verification_page.sheet(shown), "Shown epsilon, by what is looked at")[0] == [
        "replaced", "1.50", "2", "no",
    ]  # fmt: skip


class Outline(HTMLParser):
    """Headings, heads of tables and figures' names, as a screen reader meets them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.labels = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        if tag == "svg" and given.get("role") == "img":
            self.labels.append(given["aria-label"])


def test_the_page_has_one_heading_its_figure_a_name_and_one_script():
    text = sheet.html(made(**REFUTED))
    outline = Outline(text)
    assert outline.tags.count("h1") == 1
    assert outline.labels == ["Claimed epsilon 1; the largest that is shown is 2.50"]
    assert outline.tags.count("table") == outline.tags.count("thead") == 4
    assert not {"iframe", "link", "form"} & set(outline.tags)
    check_script(text)
    assert '<th scope="col"></th>' not in text
    assert "9.9.9" in text


@pytest.mark.parametrize(
    "odd", [{"bounds": {}}, {"epsilon": 1e308}, {"ceiling": math.inf}, {"bounds": {"x": math.nan}}]
)
def test_what_has_no_place_on_an_axis_has_no_figure(odd):
    assert made(**odd).drawings == []


def test_somebody_elses_settings_of_matplotlib_change_no_figure():
    import matplotlib as mpl

    before = made(**REFUTED).drawings[0].figure
    with mpl.rc_context({"path.sketch": (5, 50, 5), "axes.linewidth": 9, "font.size": 40, "patch.linewidth": 9}):
        assert made(**REFUTED).drawings[0].figure == before
