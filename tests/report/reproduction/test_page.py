from __future__ import annotations

import functools
import io
import re
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from jali.report import words
from jali.report.markdown import slug
from jali.report.reproduction import compared
from jali.report.reproduction.page import markdown, page, table
from tests.report import reproductions
from tests.report.audit.test_html import read
from tests.report.reproductions import MAKERS, Maker
from tests.report.scripts import check_script


@functools.cache
def page_of(make: Maker) -> str:
    return page(make())


@functools.cache
def files_of(make: Maker) -> dict[str, str]:
    return markdown(make())


@functools.cache
def shown(make: Maker) -> str:
    """The Markdown page as a reader sees it, in HTML."""
    return rendered(next(iter(files_of(make).values())))


@functools.cache
def ran(make: Maker) -> str:
    """The second page, on what was run."""
    return rendered(list(files_of(make).values())[1])


def rendered(text: str) -> str:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


@functools.cache
def terminal(make: Maker, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor", record=True)
    console.print(table(make()))
    return console.export_text()


@pytest.mark.parametrize("make", MAKERS)
def test_page_is_self_contained_and_runs_its_one_script_alone(make: Maker) -> None:
    reader = read(page_of(make))
    assert reader.tags.count("script") == 1
    check_script(page_of(make))
    assert not {"iframe", "object", "embed", "link", "base", "img"} & set(reader.tags)
    assert reader.handlers == []
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(r"@import|url\((?!#)", page_of(make))
    assert "default-src 'none'" in page_of(make)


@pytest.mark.parametrize("make", MAKERS)
def test_links_lead_somewhere_and_ids_are_unique(make: Maker) -> None:
    ids = re.findall(r' id="([^"]+)"', page_of(make))
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in read(page_of(make)).links} <= set(ids)


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_not_a_number_or_a_word_nobody_can_earn(make: Maker) -> None:
    for text in ("".join(read(page_of(make)).text), *files_of(make).values(), terminal(make)):
        assert not re.search(r"\bnan\b|\binf\b|None|complian|anonym|\bsafe", text)


@pytest.mark.parametrize("make", [reproductions.full, reproductions.hollow])
def test_every_claim_stands_on_page_in_markdown_and_in_the_terminal(make: Maker) -> None:
    seen, cells = page_of(make), shown(make)
    for f in make().findings:
        for text in (compared.claimed(f), compared.ours(f)):
            assert f'<span class="value">{text}</span>' in seen
        assert f'<span class="span">{compared.span(f)}</span>' in seen
        assert compared.claimed(f) in cells
        assert " ".join(filter(None, [compared.ours(f), compared.span(f)])) in cells
        assert compared.span(f) in terminal(make)
    for verdict, n in compared.tally(make().findings).items():
        mark = verdict.replace(" ", "-")
        assert len(re.findall(rf'<div class="value"><i class="mark {mark}"[^>]*></i>{verdict}', seen)) == n
        assert len(re.findall(rf"(?:<td>|<br>){compared.MARKS[verdict]}", cells)) == n


def test_summary_comes_first_and_says_what_made_the_numbers() -> None:
    head = "".join(read(page_of(reproductions.full)).text).partition("Ours [low, high]")[0]
    top = shown(reproductions.full).partition("<h2>Table 2")[0] + ran(reproductions.full)
    for text in ("On the Privacy Risks", "arXiv:2211.05427", "jali reproduce pawelczyk2022 --scale standard",
                 "2026-11-16", "43 min", "1.8 GB", "torch", "2.9.1", *compared.rules(reproductions.full().findings),
                 "Study adult: 1 of 2 checks FAILED", "Study diabetes was not run"):  # fmt: skip
        assert text in head
        assert text in top
    assert "Of 45 published claims: ● 20 matches, ◆ 8 deviates, ○ 17 not resolvable." in top


def test_units_are_said_once_where_shared_and_sources_per_sentence() -> None:
    seen = page_of(reproductions.full)
    heloc = seen.partition('<section id="table-2-heloc"')[2].partition("</section>")[0]
    assert heloc.count("over 10 target models") == 1
    assert "".join(read(seen).text).count("Section 5.3; AUC") == 2


def test_reasons_are_notes_and_warnings_in_small_print() -> None:
    seen = page_of(reproductions.full)
    assert seen.count('<p class="fine">¹ 184 non-members, 299 needed.</p>') >= 1
    assert '<span class="meta">7 non-members are exact copies of members.</span>' in seen
    assert "<sub>¹ 184 non-members, 299 needed.</sub>" in shown(reproductions.full)


def test_a_reason_that_all_of_a_group_share_is_said_once() -> None:
    found = reproductions.full()
    late = [f.model_copy(update={"reason": "judged later"}) for f in found.findings if f.quantity.startswith("AUC")]
    seen = page(found.model_copy(update={"findings": late, "drawings": []}))
    assert seen.count("judged later") == len(compared.sections(late)) == 2  # once a table, as a note


def test_long_tables_of_quality_are_folded() -> None:
    found = reproductions.full()
    many = [s.model_copy(update={"name": f"{s.name} {k}"}) for k in range(7) for s in found.studies[:2]]
    folded = re.findall(r"<summary>(.*?)</summary>", page(reproductions.bare().model_copy(update={"studies": many})))
    assert folded == ["Model: 14 lines", "Explanations: 42 lines"]
    assert "<details>" not in page_of(reproductions.full)


def test_studies_say_what_was_run_and_how_good_it_was() -> None:
    text = " ".join("".join(read(page_of(reproductions.full)).text).split())
    for part in ("9,871 rows", "3,290 members per target", "20 min", "2 passed", "1 of 2 checks FAILED: blind",
                 "not run: The folder of real data", "Train accuracy", "0.689 0.685–0.691", "Cost l2"):  # fmt: skip
        assert part in text
    assert "Bad, Good" not in text
    assert "0.689 (0.685–0.691)" in ran(reproductions.full)


def test_what_is_said_of_several_studies_is_said_once() -> None:
    found = reproductions.full()
    said = {"smaller": "Half the rows.", "due": "Run with another game: a new run is due."}
    names = [s.name for s in found.studies]
    found = found.model_copy(update={"studies": [s.model_copy(update=said) for s in found.studies]})
    shown_as = f"- {', '.join(names)}: "
    text = markdown(found)[f"{found.paper}-studies.md"]
    for sentence in said.values():
        assert text.count(sentence) == 1
        assert f"{shown_as}{sentence}" in text
        assert page(found).count(sentence) == 1


def test_what_is_missing_is_said() -> None:
    text = "".join(read(page_of(reproductions.bare)).text)
    for part in ("No claim of the paper was judged.", "No study was recorded."):
        assert part in text
        assert part in shown(reproductions.bare) + ran(reproductions.bare)
    assert "none recorded" in page_of(reproductions.hollow)
    assert list(files_of(reproductions.bare)) == ["p.md", "p-studies.md"]


def test_hostile_names_appear_as_text() -> None:
    name = words.clean(reproductions.hostile().title)
    assert name in "".join(read(page_of(reproductions.hostile)).text)
    assert "<script>window" not in page_of(reproductions.hostile)
    text = read(shown(reproductions.hostile))
    assert name in "".join(text.text)
    allowed = {"h1", "h2", "h3", "p", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong",
               "sub", "br", "img", "a"}  # fmt: skip
    assert set(text.tags) <= allowed
    assert {to for to in text.links if not to.startswith("#")} <= set(files_of(reproductions.hostile))
    assert not {"\x1b", "\u202e"} & set(
        page_of(reproductions.hostile) + "".join(files_of(reproductions.hostile).values())
    )
    assert "[bold]b[/bold]" in re.sub(r"\s+", "", terminal(reproductions.hostile, 200))


@pytest.mark.parametrize("make", MAKERS)
def test_every_row_of_every_markdown_table_has_as_many_cells_as_its_head(make: Maker) -> None:
    text = re.sub(r"\\.", "", next(iter(files_of(make).values())))
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == shown(make).count("<table>")
    for rows in tables:
        assert len({line.count("|") for line in rows.splitlines()}) == 1


@pytest.mark.parametrize("make", MAKERS)
def test_files_are_named_plainly_and_linked_relatively(make: Maker) -> None:
    first, second, *pictures = files_of(make)
    folder = first.removesuffix(".md")
    assert re.fullmatch(r"[a-z0-9-]+", folder)
    assert all(re.fullmatch(rf"{folder}/[a-z0-9-]+\.svg", name) for name in pictures)
    assert {to for to in read(shown(make)).links if not to.startswith("#")} == {second, *pictures}
    assert read(ran(make)).links == [first]
    for name in pictures:
        assert ET.fromstring(files_of(make)[name]).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("make", MAKERS)
def test_links_within_the_page_lead_somewhere(make: Maker) -> None:
    text = shown(make)
    ids = set(re.findall(r'<a id="([^"]+)"', text))
    ids |= {slug(re.sub(r"<[^>]+>", "", title)) for title in re.findall(r"<h[23]>(.*?)</h[23]>", text)}
    assert {to[1:] for to in read(text).links if to.startswith("#")} <= ids


def test_files_carry_the_names_of_figures() -> None:
    assert "pawelczyk2022/figure-2-1.svg" in files_of(reproductions.full)


def test_terminal_fits_80_columns_and_names_are_never_read_as_markup() -> None:
    seen = terminal(reproductions.full)
    assert "…" not in seen
    assert max(map(len, seen.splitlines())) <= 80
    assert "ours [low, high]" in seen
    assert "20 matches, 8 deviates, 17 not resolvable" in seen


def test_rendering_twice_gives_the_same_bytes() -> None:
    assert page(reproductions.full()) == page_of(reproductions.full)
    assert markdown(reproductions.full()) == files_of(reproductions.full)


def test_what_we_expected_stands_in_no_published_column() -> None:
    found = reproductions.full()
    own = [f.model_copy(update={"source": "ours: a check", "section": "ours: a check"}) for f in found.findings[:2]]
    told = found.model_copy(update={"findings": own, "judged": "2026-11-16"})
    text = markdown(told)[f"{found.paper}.md"]
    assert "## Claims of ours" in text
    assert "## Table 2" not in text
    assert "Of 0 published claims" in text
    assert "judged again 2026-11-16" in text
    shown_page = page(told)
    assert '<th scope="col">Expected</th>' in shown_page
    assert '<th scope="col">Published</th>' not in shown_page
    assert "line: published" not in shown_page
