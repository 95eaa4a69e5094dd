"""The first page that compares papers."""

from __future__ import annotations

from pathlib import Path

from jali.api import save_reproduction
from jali.report.reproduction.index import index
from jali.reproduce.files import all_in
from jali.results.reproduction import Finding, Needs, Reproduction


def finding(verdict: str, **more: object) -> Finding:
    fields = {"quantity": "AUC", "section": "Table 2", "source": "Table 2", "kind": "value", "item": "Table 2"}
    return Finding(**{**fields, "published": 0.5, "value": 0.6, "verdict": verdict, **more})


def paper(name: str, *findings: Finding) -> Reproduction:
    return Reproduction(
        paper=name, title=f"Of {name}", citation="C", scale="smoke", command="c", findings=list(findings)
    )


def test_a_line_says_what_holds_what_does_not_and_what_cannot_be_told():
    found = paper(
        "a",
        finding("matches"),
        finding("deviates", differs="set-up unknown: the generator"),
        finding("deviates"),
        finding("not resolvable", needs=Needs(targets=34, times=5.0)),
        finding("not resolvable", value=None, reason="FPR 1 % needs at least 299 non-members; there are 247."),
        finding("not resolvable", reason="judged from --scale paper on"),
        finding("deviates", source="ours: a check"),
    )
    (line,) = [line for line in index([found]).splitlines() if line.startswith("| [a]")]
    assert "| 6 | 1 | 2 | 3 | Table 2 (1 of 6) |" in line
    assert "Table 2 (2 of 6)<br>causes: set-up unknown 1, no cause is known yet 1" in line
    assert "interval too wide 1" in line
    assert "too few non-members for the rate 1" in line
    assert "judged at a larger scale only 1" in line
    assert "half of these need 34 targets or fewer" in line


def test_the_folder_of_pages_has_one_first_page(tmp_path: Path):
    save_reproduction(paper("b", finding("matches")), tmp_path)
    (tmp_path / "other.json").write_text('{"schema_version": "something else"}', encoding="utf-8")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    save_reproduction(paper("a", finding("deviates")), tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.index("[a](a.md)") < text.index("[b](b.md)")
    assert [one.paper for one in all_in(tmp_path)] == ["a", "b"]
