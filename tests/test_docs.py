"""What the documents say about this repository is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from jali.claims import papers

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [to for to in links if "://" not in to and not (page.parent / to).exists()] == []


@pytest.mark.parametrize("paper", papers())
def test_the_readme_has_the_command_and_the_page_of_every_paper(paper):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"`jali reproduce {paper}`" in text
    assert f"(docs/reproduction/{paper}.md)" in text


def test_layers_are_those_that_are_checked():
    """Names in the order of import-linter's layers, but for the module that only starts the command line."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = re.search(r"a new module must be placed\):\n\n(.+?)\n\n", text, re.DOTALL)
    checked = [set(re.findall(r"\w+", layer)) for layer in layers[1:]]
    assert [set(re.findall(r"\w+", layer)) for layer in told[1].split("→")] == checked
