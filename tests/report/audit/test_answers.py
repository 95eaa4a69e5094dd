"""What people are shown: one row per record, one column per explainer, on a page and in a terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console

from jali.report.audit import answers, text
from jali.report.audit.html import render
from jali.results import Results
from tests.report import sample


def test_one_row_per_record_and_one_column_per_explainer() -> None:
    page = render(sample.answered())
    section = page[page.index('<section id="answers"') : page.index('<section id="groups"')]
    heads = re.findall(r'<th scope="col">(?:<code>)?([^<]*)', section)
    assert heads == ["Record", "nice", "mondrian(k=5)"]
    rows = re.findall(r"<tr><th scope=.row.>(.*?)</th>(.*?)</tr>", section, re.DOTALL)
    assert [re.sub(r"<[^>]*>", "", head) for head, _ in rows] == [
        "Row 4711 now reject, trained on it age 21, city Lier",
        "Row 4712 now reject, not trained on it age 21, city Lier and 1 more column",
        "Row 4713 now reject, not trained on it age 21, city Lier and 2 more columns",
    ]
    lines = [re.findall(r'<span( class="none")?>([^<]*)</span>', cells) for _, cells in rows]
    expected = [record["said"] for record in sample.answered().examples["records"]]
    assert [[line for _, line in some] for some in lines] == expected
    assert [[bool(mark) for mark, _ in some] for some in lines] == [[False, False], [False, True], [True, True]]
    assert "Target model 2 denies these 3 records the outcome accept." in section
    assert "keep the file accordingly" in section


def test_it_stands_on_the_page_once_and_not_among_the_facts() -> None:
    page = render(sample.answered())
    assert page.count("the outcome would be accept") == 3
    assert sample.answered().facts == sample.full().facts


def test_nothing_is_said_where_nobody_asked_for_it() -> None:
    assert sample.full().examples == {}
    assert answers.TITLE not in render(sample.full()) + text.plain(sample.full())


def test_it_survives_being_written_and_read() -> None:
    again = Results.model_validate_json(sample.answered().model_dump_json())
    assert render(again) == render(sample.answered())


def test_a_terminal_shows_it_all_however_narrow() -> None:
    said = sample.answered().examples
    for width in (60, 80, 120):
        console = Console(file=io.StringIO(), width=width, record=True)
        console.print(answers.table(said))
        shown = console.export_text()
        assert max(map(len, shown.splitlines())) <= width
        assert "…" not in shown
        assert all(part in shown for part in ("nice", "mondrian(k=5)", "4711", "withheld", "no answer", "94 %"))


def test_one_record_is_one_record() -> None:
    said = sample.answered().examples
    assert answers.about(said | {"records": said["records"][:1]}).startswith("Target model 2 denies this record the")
