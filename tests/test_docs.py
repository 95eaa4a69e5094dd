"""What the documents say about this repository is so."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from jali.reproduce import files
from jali.reproduce.findings import judged_again
from jali.reproduce.schema import papers, read
from jali.results.reproduction import published

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [to for to in links if "://" not in to and not (page.parent / to).exists()] == []


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def anchors(page: Path) -> set[str]:
    """The anchors of a page: those of its headings, as GitHub and mkdocs make them, and those written out."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in titles]
    return {re.sub(r"\s+", "-", title) for title in plain} | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_are_there(page):
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [(page.parent / to if to else page, anchor) for to, anchor in links if "://" not in to]
    assert [anchor for to, anchor in local if to.suffix == ".md" and anchor not in anchors(to)] == []


def test_every_page_is_in_the_navigation_of_the_site():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:\n  - Start")[2]
    listed = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("name", ["glossary.md", "api.md"])
def test_pages_made_from_the_code_are_as_the_code_is_now(name):
    made = runpy.run_path(str(ROOT / "benchmarks" / "make_docs.py"))["pages"]()[name]
    now = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert now == made, "run: python benchmarks/make_docs.py"


@pytest.mark.parametrize("paper", papers())
def test_the_readme_has_the_command_and_the_page_of_every_paper(paper):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"`jali reproduce {paper}`" in text
    assert f"(docs/reproduction/{paper}.md)" in text


@pytest.mark.parametrize("paper", papers())
def test_pages_hold_the_claims_as_they_now_stand(paper):
    """A claim that was corrected and a page that was not made again would go on accusing somebody."""
    file = ROOT / "docs" / "reproduction" / f"{paper}.json"
    kept = files.read(file)
    told = read(paper)
    assert kept.note == told.note
    assert kept.findings == judged_again(told, kept)
    stated = published(kept.findings)
    text = file.with_suffix(".md").read_text(encoding="utf-8")
    assert f"Of {len(stated)} published claims:" in text
    assert f"{sum(f.ours for f in kept.findings)} more claims are ours." in text


def test_the_noise_of_huang2024_was_computed_for_five_times_the_rows():
    """A noise multiplier of 6.03 is worth 0.5 at 1,000 of 50,000 rows a step for 30 epochs; 10,000 were trained on."""
    accounting = pytest.importorskip("dp_accounting")

    def epsilon(factor):
        step = accounting.GaussianDpEvent(6.03)
        drawn = accounting.PoissonSampledDpEvent(0.1 / factor, step)
        accountant = accounting.rdp.RdpAccountant()
        accountant.compose(accounting.SelfComposedDpEvent(drawn, 300 * factor))
        return accountant.get_epsilon(1e-5)

    assert epsilon(5) == pytest.approx(0.5, abs=0.01)
    assert epsilon(2) > 0.8
    assert "by a factor of five" in (ROOT / "docs" / "vision.md").read_text(encoding="utf-8")
    assert "computed for five times as many rows" in read("huang2024").note


def test_layers_are_those_that_are_checked():
    """Names in the order of import-linter's layers, but for the module that only starts the command line."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = re.search(r"a new module must be placed\):\n\n(.+?)\n\n", text, re.DOTALL)
    checked = [set(re.findall(r"\w+", layer)) for layer in layers[1:]]
    assert [set(re.findall(r"\w+", layer)) for layer in told[1].split("→")] == checked
