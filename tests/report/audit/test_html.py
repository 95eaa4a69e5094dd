from __future__ import annotations

import functools
import html
import re
from html.parser import HTMLParser

import pytest

from jali.core import metrics
from jali.report import views, words
from jali.report.audit import controls
from jali.report.audit.html import render, sections
from jali.results import Results
from tests.report import sample
from tests.report.scripts import check_script

MAKERS = [*sample.MAKERS, Results]
LINKS = {"href", "src", "srcset", "action", "data", "poster", "background", "formaction", "ping"}


class Reader(HTMLParser):
    """Collects what a browser would see: tags, attributes, text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in LINKS]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


@functools.cache
def page_of(make: sample.Maker) -> str:
    return render(make())


@pytest.mark.parametrize("make", MAKERS)
def test_page_is_self_contained_and_runs_its_one_script_alone(make: sample.Maker) -> None:
    page = page_of(make)
    reader = read(page)
    assert not {"iframe", "object", "embed", "link", "base"} & set(reader.tags)
    assert reader.tags.count("script") == 1
    check_script(page)
    assert reader.handlers == []
    drawn = [link for link in reader.links if link.startswith("data:image/png;base64,")]
    assert all(link.startswith("#") for link in reader.links if link not in drawn)
    assert len(drawn) == reader.tags.count("img") > 0 if make in sample.PICTURES else "img" not in reader.tags
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < 400_000


@pytest.mark.parametrize("make", MAKERS)
def test_sections_stand_in_order(make: sample.Maker) -> None:
    found = re.findall(r'<section id="(\w+)"', page_of(make))
    assert found == [name for name, _ in sections(make())]
    assert ("queries" in found) == (make is sample.queried)
    assert ("answers" in found) == (make in sample.ANSWERS)


@pytest.mark.parametrize("make", [m for m in MAKERS if m is not sample.hostile])
def test_every_number_of_every_row_is_on_the_page(make: sample.Maker) -> None:
    results = make()
    page = page_of(make)
    for row in results.rows:
        assert f">{words.value_of(row)}<" in page
        assert f">{words.span_of(row)}<" in page or row.low is None


def test_the_first_screen_comes_before_the_long_sentences() -> None:
    text = "".join(read(page_of(sample.full)).text)
    first, _, rest = text.partition("How to read this")
    assert "Without any explanation" in first
    assert "helps to infer membership" in first
    assert "Whom does it hit?" in first
    assert "Compared with the score alone" not in first
    said = "Compared with the score alone, 1 of 3 explanations adds: linear_recourse, between 3.6 and 13 in 1,000"
    assert said in rest
    assert "Compared with the bare decision" in rest


def test_without_an_explanation_the_strongest_attack_leads() -> None:
    first = "".join(read(page_of(sample.prediction_only)).text).partition("How to read this")[0]
    assert "would identify" in first
    assert "by chance alone it would be" in first


def test_unresolvable_cells_show_a_dash_and_the_reason_as_footnote_and_tooltip() -> None:
    page = page_of(sample.full)
    results = sample.full()
    (block,) = views.contrasts(results)
    beside = [r for line in block.lines for x in views.sides(results, line) for r in x.cells.values()]
    gone = [r for r in [*results.rows, *beside] if r.value is None and r.reason == sample.REASON]
    cell = f'title="{sample.REASON}"><span class="value">–<sup>1</sup></span>'
    assert gone
    assert page.count(cell) == len(gone)
    tables = [part.partition("</section>")[0] for part in re.split(r'<table class="matrix[^"]*">', page)[1:]]
    noted = [f"<li>{sample.REASON}.</li>" in part.partition("</ol>")[0] for part in tables if cell in part]
    assert noted
    assert all(noted)


def test_the_glossary_defines_each_metric_of_the_report_once_and_no_other() -> None:
    page = page_of(sample.queried)
    section = page.partition('<section id="glossary"')[2].partition("</section>")[0]
    terms = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html.unescape(section))
    present = {metrics.metric(row.metric).name for row in sample.queried().rows}
    assert [says for _, says in terms[:-1]] == [m.says for m in metrics.TABLE.values() if m.name in present]
    assert terms[-1] == (controls.TERM, controls.SAYS)
    assert controls.TERM not in page_of(sample.older)
    assert terms[2][0] == "TPR at 1 % FPR, TPR at 0.1 % FPR"
    assert "glossary" not in page_of(Results).partition("</style>")[2]


def test_invalid_audit_says_so_before_anything_else() -> None:
    page = page_of(sample.invalid)
    body = page[page.index("<body>") :]
    assert body.index("This audit is invalid") < body.index("<main>")
    assert "AUC without the model 0.71, must cover 0.5" in body
    assert "Out of 1,000 people" not in body
    assert 'class="alarm"' not in page_of(sample.full)


@pytest.mark.parametrize("make", [sample.hostile, sample.hostile_pictures, sample.hostile_answers])
def test_hostile_names_appear_as_text(make: sample.Maker) -> None:
    page = page_of(make)
    shown = "".join(read(page).text)
    assert words.clean(sample.HOSTILE) in shown
    assert "{{ 7*7 }}" in shown
    assert "<script>window" not in page
    assert not {"\x1b", "\u202e"} & set(page)


@pytest.mark.parametrize("make", MAKERS)
def test_words_that_no_audit_can_earn_are_not_used(make: sample.Maker) -> None:
    assert not re.search(r"complian|(?<!k_)anonym(?!ity set)|\bsafe", "".join(read(page_of(make)).text), re.IGNORECASE)


def test_nothing_recorded_is_said_in_each_section() -> None:
    text = "".join(read(page_of(Results)).text)
    for part in (
        "No ROC curve",
        "No attack was",
        "No record is",
        "No sanity check",
        "No threat model",
        "gap in the record",
    ):
        assert part in text


def test_values_of_records_come_with_a_warning() -> None:
    assert "keep the file accordingly" in page_of(sample.hostile)
    assert "keep the file accordingly" not in page_of(sample.full)


def test_pictures_of_records_are_values_and_come_with_a_warning() -> None:
    shown, kept = page_of(sample.pictured), page_of(sample.withheld)
    assert "keep the file accordingly" in shown
    assert "keep the file accordingly" not in kept
    assert "drawn here only on request: <code>--show-values</code>" in kept
    assert "only on request" not in shown + page_of(sample.full)


def test_maps_say_in_words_what_they_show() -> None:
    page = page_of(sample.pictured)
    images = re.findall(r'<img [^>]*alt="([^"]*)"', page)
    assert len(images) == 3 * (1 + 2 * 2)
    assert images[0] == "Row 4711, labelled naïve &lt;b&gt;"
    assert images[1] == (
        "input_x_gradient of row 4711, labelled naïve &lt;b&gt;, under model 2, trained on it, which says "
        "naïve &lt;b&gt; (97\u202f%); strongest colour 0.0312"
    )
    assert page.count('class="scale"') == page.count('class="scale half"') == 1
    assert "summed over colours" in page


def test_rendering_twice_gives_the_same_bytes() -> None:
    assert render(sample.full()) == page_of(sample.full)


def test_curves_have_one_figure_per_explainer_and_one_legend() -> None:
    page = page_of(sample.full)
    assert re.findall(r'id="(roc-\d+)"', page) == ["roc-0", "roc-1"]
    assert page.count("</i>score + explanation</span>") == 1
    assert re.findall(r'id="(roc-\d+)"', page_of(sample.prediction_only)) == ["roc-0"]


def test_single_signals_and_single_targets_are_folded() -> None:
    folded = re.findall(r"<summary>(.*?)</summary>", page_of(sample.many_attacks))[1:]
    assert folded[:2] == ["The other 7 attacks on single signals", "The other 6 attacks on single signals"]
    folded = re.findall(r"<summary>(.*?)</summary>", page_of(sample.released))[1:]
    assert [f.split(":")[0] for f in folded] == ["8 target models one by one"] * 2
    assert 'id="groups-0"' not in page_of(sample.released)


@pytest.mark.parametrize("make", MAKERS)
def test_what_rounds_to_nothing_has_no_sign(make: sample.Maker) -> None:
    assert not re.search(r"[−+]0(\.0+)?(?![\d.])", "".join(read(page_of(make)).text))


def test_the_table_of_additions_shows_both_sides_on_the_same_people() -> None:
    text = re.sub(r"\s+", " ", "".join(read(page_of(sample.compared)).text))
    section = text.partition("What explanations add: of each, both sides")[2].partition("Trade-off curves")[0]
    parts = (
        "The score alone the same people as with partly",
        "The score and partly",
        "partly adds over score",
        "left out in 3 of 16 models",
        "+0.006",
        "The decision alone the same people as with partly",
    )
    places = [section.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_left_of_zero_and_unused_are_no_protection_on_the_page() -> None:
    page = page_of(sample.compared)
    text = "".join(read(page).text)
    assert "hinder" not in text
    assert "an attacker may ignore what hurts, so that is no protection" in text
    assert "it says nothing about what that explanation adds" in text
    assert text.count("not used by the combined attack") == 4
    assert f'title="{words.WHY_NOT_USED}"><span class="value">not used</span>' in page
    assert not re.search(r">0\.0+ to 0\.0+<", page)
    assert "made no use" not in "".join(read(page_of(sample.full)).text)


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_said_about_how_little_leaks(make: sample.Maker) -> None:
    text = "".join(read(page_of(make)).text)
    assert not re.search(r"at most \d|adds? nothing|measurabl|hinder|harmless", text, re.IGNORECASE)


def test_the_positive_control_stands_below_the_additions() -> None:
    page = page_of(sample.full)
    section = page.partition('<section id="adds"')[2].partition("</section>")[0]
    table = section.partition('id="controls"')[2]
    lines = [re.findall(r">([^<>]+)<", row) for row in re.findall(r'<tr><th scope="row">(.*?)</tr>', table)]
    assert len(lines) == len(sample.DETECTABLE)
    shown = [[text.strip() for text in line if text.strip()] for line in lines]
    assert shown[0][:4] == ["linear_recourse", "over score", "−0.001", "found in fewer than 1 of 10"]
    assert shown[0][-3:] == ["+0.044", "found in 10 of 10", "0.007"]
    assert shown[-1][-2:] == ["found in 2 of 10", "more than was planted"]
    assert "Planted 0.005" in table


def test_why_there_is_no_positive_control() -> None:
    section = page_of(sample.single_target).partition('id="controls"')[2].partition("</section>")[0]
    assert "<table" not in section
    assert "were planted" not in section
    assert "No positive control for linear_recourse over score: it needs 4 shadow models, and there are 2." in section
    assert 'id="controls"' not in page_of(sample.older)


def test_what_lies_beyond_the_planted_additions_is_called_extrapolated() -> None:
    base = sample.full()
    beyond = base.controls[0].model_copy(update={"detectable": 0.136})
    page = render(base.model_copy(update={"controls": [beyond]}))
    assert '<span class="value">0.136</span> <span class="span">extrapolated</span>' in page
    assert ">extrapolated<" not in page_of(sample.full)
