"""A reproduction in the order and the words of its paper."""

from __future__ import annotations

import pytest

from jali.report.reproduction import mirror
from jali.report.reproduction.page import markdown, page
from jali.results.reproduction import Finding, Item, Needs, Reproduction, published

CELL = {"quantity": "NCP", "section": "Table 6", "kind": "value", "item": "Table 6", "published": 0.02}


def number(row: str, column: str, source: str = "Table 6", **more: object) -> Finding:
    fields = {"value": 0.03, "low": 0.02, "high": 0.04, "units": 5, "verdict": "matches", "tolerance": 0.01}
    return Finding(**{**CELL, **fields, "source": source, "row": row, "column": column, **more})


def sentence(says: str, source: str, verdict: str = "matches", **more: object) -> Finding:
    fields = {"quantity": says, "section": "Sentences", "source": source, "kind": "order", "verdict": verdict}
    return Finding(**{**fields, "value": 0.1, "low": 0.05, "high": 0.15, "units": 5, **more})


def reproduction(*findings: Finding) -> Reproduction:
    contents = [
        Item(name="Table 1", about="An example", left_out="Nothing is measured."),
        Item(name="Figure 4", about="Mondrian and CF-K"),
        Item(name="Table 6", about="Information loss"),
    ]
    return Reproduction(
        paper="p", title="T", citation="C", scale="smoke", command="c", contents=contents, findings=list(findings)
    )


def test_parts_follow_the_paper():
    found = reproduction(number("Adult", "NCP"), sentence("CF-K loses less", "Figure 4; NCP", item="Figure 4"))
    assert [part.item.name for part in mirror.parts(found)] == ["Table 1", "Figure 4", "Table 6"]
    text = markdown(found)["p.md"]
    assert (
        text.index("| Table 1 | An example |") < text.index("[Figure 4](#figure-4)") < text.index("[Table 6](#table-6)")
    )
    assert text.index("## Figure 4: Mondrian and CF-K") < text.index("## Table 6: Information loss")
    assert "## Table 1" not in text


def test_a_table_has_the_rows_and_columns_of_the_paper():
    found = reproduction(number("Adult", "NCP"), number("Adult", "Pureness"), number("CMC", "NCP"))
    grid = mirror.parts(found)[2].grid
    assert grid is not None
    assert (grid.rows, grid.columns) == (("Adult", "CMC"), ("NCP", "Pureness"))
    assert ("CMC", "Pureness") not in grid.cells
    text = markdown(found)["p.md"]
    assert "| | NCP | Pureness |" in text
    assert "| CMC | 0.02<br>0.030 [0.020, 0.040]<br>● |  |" in text


def test_a_number_as_released_stands_beside_ours_and_counts_once():
    released = number("Adult", "NCP", "Table 6, as released by the authors", released=True)
    clean = number("Adult", "NCP", value=0.09, low=0.08, high=0.1, verdict="deviates")
    found = reproduction(released, clean)
    (cell,) = mirror.parts(found)[2].grid.cells.values()  # type: ignore[union-attr]
    assert (cell.released, cell.ours, cell.counted) == (released, clean, released)
    assert published(found.findings) == [released]
    assert "as released 0.030 [0.020, 0.040]<br>ours 0.090 [0.080, 0.100] (◆)<br>●" in markdown(found)["p.md"]
    assert "as released by the authors" in page(found)


def test_claims_of_ours_fill_cells_of_the_paper_or_stand_apart_but_never_count():
    released = number("Adult", "NCP", "Table 6, as released by the authors", released=True)
    beside = number("Adult", "NCP", "ours: Table 6, at most as much", verdict="deviates")
    apart = number("Adult, withheld", "NCP", "ours: Table 6, withheld")
    found = reproduction(released, beside, apart)
    assert mirror.own(found.findings) == [apart]
    (cell,) = mirror.parts(found)[2].grid.cells.values()  # type: ignore[union-attr]
    assert cell.ours == beside
    assert "Of 1 published claims: ● 1 matches. 2 more claims are ours." in markdown(found)["p.md"]


def test_sentences_are_by_section_and_verdict():
    some = [
        sentence("b", "Section 10; AUC"),
        sentence("a", "Section 6.2; AUC", "not resolvable"),
        sentence("c", "Section 6.2, Table 6; AUC"),
        sentence("d", "Appendix J; AUC"),
        sentence("e", "ours; AUC"),
    ]
    found = mirror.chapters(some)
    assert [c.title for c in found] == ["Section 6.2", "Section 10", "Appendix J"]
    assert [f.quantity for f in found[0].sorted] == ["c", "a"]


def test_notes_are_said_once_and_numbered():
    some = [
        number("a", "b", reason="read off the bars"),
        number("c", "b", reason="read off the bars", differs="ours: fewer rows"),
    ]
    notes = mirror.notes(some)
    assert notes.lines == ["¹ read off the bars.", "² ours: fewer rows."]
    assert [notes.mark(f) for f in some] == ["¹", "¹˒²"]
    assert markdown(reproduction(*some))["p.md"].count("read off the bars") == 1


def test_what_is_not_resolvable_says_what_would_resolve_it():
    open_one = number("a", "b", verdict="not resolvable", needs=Needs(targets=34, times=5.7, hours=1.25, at_least=True))
    for text in (markdown(reproduction(open_one))["p.md"], page(reproduction(open_one))):
        assert "34 targets (1.2 h or more) or 5.7 × the people" in text


@pytest.mark.parametrize(
    ("source", "section"), [("", mirror.ELSEWHERE), ("Section 5.3, Privacy, Figure 1; AUC", "Section 5.3")]
)
def test_the_section_of_a_source(source: str, section: str):
    assert mirror.section_of(source) == section


def test_what_would_resolve_a_claim_names_no_number_that_cannot_be_run():
    assert mirror.resolves(Needs(times=1.84)) == "more than 10,000 targets or 1.84 × the people"
    assert mirror.resolves(Needs(times=2334.3)) == "more than 10,000 targets or 2,334 × the people"
    assert mirror.resolves(Needs()) == "at the limit: no number of targets would tell"
