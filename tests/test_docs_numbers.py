"""Numbers in the documents: what can be computed is computed again, and measured ones say what made them.

A paragraph, list item or table with a measured number names a script of benchmarks/, a test, a reproduced paper or the
page of benchmarks, and what it names is there. Whether the script still gives that number is for whoever runs it; what
is cheap to compute is computed below, and results of reproduced papers are compared in test_docs_results.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer

from jali.audit import propensity
from jali.cli import app
from jali.core.guarantee import Guarantee
from jali.core.values import Column, Schema
from jali.defend.models.dp_logistic import DPLogistic
from jali.games.outsiders import Outsiders
from jali.knowledge.noise import Noise
from jali.parallel.sharing import LARGE
from jali.privacy import accounting
from jali.report import resolution
from jali.stats import roc
from jali.store import mapped
from jali.verify.zoo import exhibits

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {"glossary.md", "api.md", "gallery.md", "benchmarks.md"}  # by scripts, as a whole
MEASURED = re.compile(
    r"(?<![\w.`/@=])(?:[+−-]?0?\.\d{2,}(?!\d*x)|(?!8 of 10\b)\d[\d,]* of (?:the )?\d[\d,]+\b"
    r"|(?!(?:95|1|0\.1|5|99|100|50) %)\d[\d.,]* %|\d[\d.,]* (?:CPU )?(?:s|ms|MB|GB|seconds|minutes|hours)\b)"
)
SOURCE = re.compile(
    r"\b(?:benchmarks/)?((?:bench_\w+|gallery|recompute|report_pages)\.py)\b|\b((?:[a-z_]+/)*test_\w+)|\b(tests/\w+)"
    r"|jali reproduce (\w+)|reproduction/(\w+)\.md|jali frontier (benchmarks/[\w/]+\.toml)|(benchmarks\.md)"
    r"|make (fuzz|folders|bench)\b"
)
SCOPE = "Everything below is from"  # of a section
# Paragraphs whose numbers are examples, limits or definitions, and no results; those of the code are checked below.
DEFINED = {
    ("architecture.md", "- A rate at an FPR of α needs"),
    ("decisions.md", "**Nothing is said about rates but their interval.**"),
    ("decisions.md", "- **Mapped, not loaded.**"),
    ("decisions.md", "- **Workers map files on a disk**"),
    ("decisions.md", "- **A pool that waited for ever.**"),
    ("decisions.md", "**Chance in scans.**"),
    ("leakage.md", "**Member**: a record"),
    ("leakage.md", "**What would have been found.**"),
    ("leakage.md", "- x up to .02"),
    ("leakage.md", "- x above .02"),
    ("leakage.md", "This is about the attacks that were run"),
    ("leakage.md", "You bring the training rows and the population"),
    ("linkage.md", "- **The first command** asks"),
    ("own-models.md", "`jali schema` writes what is known"),
    ("protect.md", "One configuration *surely beats* another"),
    ("query-attacks.md", "A query attack meets a model"),
    ("vision.md", "`dp_sgd` draws every row"),
}


def blocks() -> Iterator[tuple[str, str, bool]]:
    """Page and text of every paragraph, list item and table (with what stands above it), and whether a scope covers it.

    A table belongs to the paragraph above it. Code is left out.
    """
    for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]:
        if page.name in MADE:
            continue
        for section in re.split(r"^#+ .*\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            found: list[str] = []
            for part in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", section, flags=re.DOTALL)):
                if part.lstrip().startswith("|") and found:
                    found[-1] += f"\n\n{part}"
                else:
                    found += re.split(r"\n(?=[-*] )", part.strip("\n"))
            covered = False
            for text in found:
                covered = covered or SCOPE in text
                yield page.name, text.strip(), covered


def silent(text: str, covered: bool) -> bool:
    """Whether a block has a measured number and does not say what made it."""
    return bool(MEASURED.search(text)) and not covered and not SOURCE.search(text)


def test_measured_numbers_say_which_script_or_test_made_them():
    found = {(page, text) for page, text, covered in blocks() if silent(text, covered)}
    left = {(page, text) for page, text in found if not any(page == p and text.startswith(t) for p, t in DEFINED)}
    assert left == set()


def test_no_exemption_is_left_over():
    found = [(page, text) for page, text, covered in blocks() if silent(text, covered)]
    assert {(p, t) for p, t in DEFINED if not any(page == p and text.startswith(t) for page, text in found)} == set()


def test_a_number_without_a_source_would_be_noticed():
    for text in ("the AUC is .626 there", "and 1,474 of 1,517 are paid", "in 39 % of the answers", "takes 3.8 s"):
        assert silent(text, covered=False)
        assert not silent(f"{text} (`benchmarks/bench_mutual.py`)", covered=False)
        assert silent(f"{text} (`jali audit`)", covered=False)


def test_scripts_tests_and_papers_that_documents_name_are_there():
    tests = {str(file.relative_to(ROOT / "tests").with_suffix("")) for file in (ROOT / "tests").rglob("test_*.py")}
    missing = []
    for page, text, _ in blocks():
        for script, test, folder, *papers, frontier, _, _ in SOURCE.findall(text):
            if script and not (ROOT / "benchmarks" / script).is_file():
                missing.append((page, script))
            if frontier and not (ROOT / frontier).is_file():
                missing.append((page, frontier))
            if folder and not list((ROOT / folder).parent.glob(f"{Path(folder).name}*")):
                missing.append((page, folder))
            for paper in filter(None, papers):
                if not list((DOCS / "reproduction").glob(f"{paper}*")):
                    missing.append((page, paper))
            bare = test.removeprefix("tests/")
            if test and test != "test_accuracy" and not any(f"/{name}".endswith(f"/{bare}") for name in tests):
                missing.append((page, test))
    assert missing == []


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


@pytest.mark.parametrize("row", range(3))
def test_what_noise_multipliers_are_worth_is_what_two_accountants_say(row):
    """300 steps that draw a tenth of the rows each, delta 1e-5; the last row takes seconds."""
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    multiplier, _, *told = table("vision.md", "noise multiplier | claimed")[row]
    step = accounting.PoissonSampledDpEvent(0.1, accounting.GaussianDpEvent(float(multiplier)))
    for text, accountant in zip(told, (accounting.rdp.RdpAccountant(), PLDAccountant()), strict=True):
        accountant.compose(accounting.SelfComposedDpEvent(step, 300))
        assert accountant.get_epsilon(1e-5) == pytest.approx(float(text), abs=0.005)


@pytest.mark.parametrize(("rate", "people"), [(0.01, 299), (0.001, 2995)])
@pytest.mark.parametrize("page", ["README.md", "docs/engineers.md", "docs/privacy-officers.md", "docs/architecture.md"])
def test_people_needed_for_a_rate_are_those_of_the_formula(page, rate, people):
    """At least ln(.05) / ln(1 - alpha) non-members."""
    assert math.ceil(math.log(0.05) / math.log(1 - rate)) == people
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"{people:,}" in text or (page, people) == ("README.md", 299)


def test_the_best_threshold_in_hindsight_finds_what_the_document_says_in_a_coin():
    """1/2 + 1/2 sqrt(pi / 8) sqrt(2 / n), the mean of the largest distance of two empirical distributions of n each."""
    draw, truth = np.random.default_rng(0), np.arange(2000) < 1000
    found = [roc.best_balanced_accuracy(draw.normal(size=2000), truth) for _ in range(300)]
    exact = 0.5 + 0.5 * math.sqrt(math.pi / 8) * math.sqrt(2 / 1000)
    assert np.mean(found) == pytest.approx(exact, abs=4 * np.std(found) / math.sqrt(300))
    assert f"gives {exact:.3f}".replace("0.", ".") in (DOCS / "decisions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("rows", "width", "told"), [(20_000, 100, "5·10⁻⁶"), (200_000, 31, "4·10⁻⁵")])
def test_the_second_noise_on_weights_is_as_small_as_the_document_says(rows, width, told):
    """Root mean square of the Laplace noise on all weights, by the mean length of the noise of the proof."""
    part = DPLogistic(1.0, bound=1.0)
    frame = part.frame(Schema(tuple(Column(f"x{j}", low=-1, high=1) for j in range(width - 1)), favourable=1))
    second = part.settling(frame, rows)
    first = part.noise(frame, rows) * width / part._split(frame)[1]
    digit, power = f"{math.sqrt(2 * width) * second.step * second.scale / first:.0e}".split("e-")
    assert f"{digit}·10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}" == told
    assert told in (DOCS / "private.md").read_text(encoding="utf-8")


LIMITS = [  # page, words, what the code has
    ("leakage.md", "propensity above .95", propensity.MOST == 0.95),
    ("leakage.md", "x up to .02", resolution.SMALL == 0.02),
    ("linkage.md", "five models on 60 % of the rows each", (Outsiders().targets, Outsiders().share) == (5, 0.6)),
    ("query-attacks.md", "each value a little wrong (10 %)", Noise().share == 0.1),
    ("private.md", "117 small mechanisms", len(exhibits()) == 117),
    ("decisions.md", "Arrays of 4 MB or more", mapped.SMALL == 4_000_000),
    ("decisions.md", "shares more than 200 MB", LARGE == 200_000_000),
]


@pytest.mark.parametrize(("page", "words", "holds"), LIMITS)
def test_limits_in_documents_are_those_of_the_code(page, words, holds):
    assert words in (DOCS / page).read_text(encoding="utf-8")
    assert holds


def test_the_loss_that_a_choice_may_have_is_the_default_of_the_command():
    command = typer.main.get_command(app).commands["frontier"]
    assert next(option for option in command.params if option.name == "loss").default == 0.05
    assert "`--loss` (.05)" in (DOCS / "protect.md").read_text(encoding="utf-8")
