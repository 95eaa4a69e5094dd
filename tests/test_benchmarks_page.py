"""The page of benchmarks is as its script writes it, and other pages quote it word for word."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
FASTER = re.compile(r"\d[\d.,]* times(?: as (?:long|fast|quick)|\)| faster| quicker| slower| the (?:time|CPU))")
# Decisions say what was measured when they were taken.
UNQUOTED = [path for path in PAGES if path.name not in ("benchmarks.md", "decisions.md")]


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield runpy.run_path(str(ROOT / "benchmarks" / "make_page.py"))
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def plain(text):
    return " ".join(text.split())


def test_the_page_is_as_its_script_writes_it(script):
    text = PAGE.read_text()
    kept = script["sections"](text)
    kept.pop("Not run", None)
    assert script["page"](kept) == text


def test_every_section_says_when_where_and_with_what(script):
    kept = script["sections"](PAGE.read_text())
    kept.pop("Not run", None)
    assert kept
    for name, text in kept.items():
        assert re.search(r"^20\d\d-\d\d-\d\d, .* cores, \d+ GB, load .*\. Python .*numpy", text, re.MULTILINE), name
        assert "It failed" not in text, name


def test_every_script_of_the_page_is_there(script):
    missing = [path.name for path in script["chosen"]([], True) if not path.exists()]
    assert not missing


def test_links_into_the_page_quote_it(script):
    kept = script["anchored"](script["sections"](PAGE.read_text()))
    quotes = [(path.name, *found) for path in PAGES for found in script["QUOTE"].findall(path.read_text())]
    assert quotes
    for page, words, _, section in quotes:
        assert section in kept, f"{page}: the page of benchmarks has no section {section}"
        assert plain(words) in kept[section], f"{page}: {words!r} is not in section {section}; quote it anew"


def test_quotations_are_brought_up_to_date(script):
    kept = {"Old default": "## Old default\n\nnew code 12.5 s, 3.1x;\nother 40 s, 2x"}
    link = "(benchmarks.md#old-default)"
    assert script["requoted"](f"It is [new code 10 s, 2.75x]{link}.", kept) == f"It is [new code 12.5 s, 3.1x]{link}."
    assert script["requoted"](f"[2x]{link}", kept) == f"[2x]{link}"  # still there
    assert script["requoted"](f"[gone 3x]{link}", kept) == f"[gone 3x]{link}"  # the other test tells


@pytest.mark.parametrize("path", UNQUOTED, ids=lambda path: path.name)
def test_ratios_of_time_are_quoted_from_the_page(path, script):
    text = script["QUOTE"].sub("", path.read_text())
    found = FASTER.findall(plain(text))
    assert not found, f"{path.name}: quote {found[0]!r} from docs/benchmarks.md, or leave it out"
