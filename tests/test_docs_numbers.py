"""Numbers in the documents: what can be computed is computed again, and measured ones say what made them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from jali.core.guarantee import Guarantee
from jali.privacy import accounting

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {"glossary.md", "api.md", "gallery.md", "benchmarks.md"}  # by scripts, as a whole
MEASURED = re.compile(r"(?<![\w.`/@=])(?:[+−-]?0?\.\d{2,}(?!\d*x)|\d[\d,]* of \d[\d,]{2,})")
SOURCE = re.compile(
    r"(?:benchmarks/)?(bench_\w+\.py|gallery\.py)|tests/[\w/]+|jali (?:reproduce|audit|verify|frontier)|"
    r"reproduction/|make (?:fuzz|bench)|test_\w+"
)
# Sections whose numbers were measured once, by hand, and which no script in this repository makes again. A section that
# gets its script leaves this list; no other may enter it.
ONCE = {
    ("decisions.md", "The threshold of balanced accuracy"),
    ("decisions.md", "Perturbations along the attribution"),
    ("linkage.md", "The attack"),
    ("linkage.md", "What it does not do"),
    ("query-attacks.md", "What to expect"),
}
# Numbers that are examples or definitions, and no results.
EXAMPLES = {
    ("architecture.md", "Statistics"),
    ("decisions.md", "What a defence changes"),  # of the gallery, which is made by its script
    ("leakage.md", "How to talk about leakage"),
    ("leakage.md", "A population that differs"),
    ("private.md", "Why Laplace Recourse is not private"),
    ("private.md", "Many answers"),  # computed below
    ("protect.md", "Which one: the frontier"),
}


def sections() -> list[tuple[str, str, str]]:
    """Page, heading and text of every section of a document that people wrote."""
    out = []
    for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]:
        if page.name not in MADE:
            for part in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
                heading, _, text = part.partition("\n")
                out.append((page.name, heading.strip(), text))
    return out


def test_measured_numbers_say_which_script_or_test_made_them():
    silent = {
        (page, heading) for page, heading, text in sections() if MEASURED.search(text) and not SOURCE.search(text)
    }
    assert silent - EXAMPLES == ONCE


def test_a_section_without_a_source_would_be_noticed():
    assert MEASURED.search("the AUC is .626 there")
    assert MEASURED.search("and 1,474 of 1,517 are paid")
    assert not SOURCE.search("the AUC is .626 there")


def table(page: str, head: str) -> list[list[str]]:
    """The cells of the rows of a table in a document, by the beginning of its head."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"| {head}")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


@pytest.mark.parametrize("row", range(4))
def test_the_price_of_many_answers_is_what_the_accountant_says(row):
    """Total epsilon at delta 1e-5, the better of plain addition and Rényi divergence."""
    epsilon, *told = table("private.md", "ε per answer | 1 answer")[row]
    each = Guarantee("noise", float(epsilon), "replace-one", ("explanations",), per="release", noise="laplace")
    for many, text in zip((1, 10, 100, 1000, 10_000), told, strict=True):
        given = [each] * many
        least = min(accounting.basic(given), accounting.rdp(given, 1e-5))
        number = text.replace(",", "")
        half = 0.5 * 10.0 ** -len(number.partition(".")[2])
        assert abs(least - float(number)) <= half + 1e-9, (epsilon, many, least)


@pytest.mark.parametrize(("rate", "people"), [(0.01, 299), (0.001, 2995)])
@pytest.mark.parametrize("page", ["README.md", "docs/engineers.md", "docs/privacy-officers.md", "docs/architecture.md"])
def test_people_needed_for_a_rate_are_those_of_the_formula(page, rate, people):
    """At least ln(.05) / ln(1 - alpha) non-members."""
    assert math.ceil(math.log(0.05) / math.log(1 - rate)) == people
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"{people:,}" in text or (page, people) == ("README.md", 299)
