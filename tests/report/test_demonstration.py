"""The demonstration at a small size: everything runs, and the page says no more than the numbers show."""

from __future__ import annotations

import re

import pytest

from jali.api.demonstration import Sizes, demonstrate, settings
from jali.audit.setup import Resources
from jali.report import demonstration
from jali.results.demonstration import Demonstration

SMALL = Sizes(people=300, asking=150, audited=300, game="halves(targets=2, shadows=4)", draws=100, folds=2)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    nowhere = str(tmp_path_factory.mktemp("nowhere"))
    patch.setenv("JALI_DATA", nowhere)  # the data come with the package
    patch.setenv("XDG_CACHE_HOME", nowhere)
    yield demonstrate(Resources(), 0, SMALL)
    patch.undo()


def test_the_five_findings_are_on_one_page_that_loads_nothing(shown, tmp_path):
    path = shown.save(tmp_path)
    page = path.read_text(encoding="utf-8")
    assert [f'id="finding-{k}"' in page for k in range(1, 6)] == [True] * 5
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert len(page) < 400_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["audit", "demonstration.json", "report.html"]
    assert (tmp_path / "audit" / "report.html").is_file()


def test_what_is_written_is_read_again(shown, tmp_path):
    shown.save(tmp_path)
    text = (tmp_path / "demonstration.json").read_text(encoding="utf-8")
    again = Demonstration.model_validate_json(text[:-1].rstrip() + ', "audit": {}}')
    assert again.bare == shown.results.bare
    assert again.claims == shown.results.claims


def test_terminal_and_page_say_the_same(shown):
    told = demonstration.story(shown.results)
    text = " ".join(demonstration.plain(shown.results).split())
    for finding in told.findings:
        assert " ".join(finding.answer.split()) in text
    assert " ".join(told.lead.split()) in text


def test_lines_of_a_finding_stay_below_its_heading_in_a_narrow_terminal(shown):
    lines = demonstration.plain(shown.results, width=80).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("(a)"))
    end = next(k for k, line in enumerate(lines) if line.startswith("Attacks on the file"))
    assert all(line.startswith("  ") for line in lines[start + 1 : end])
    assert max(map(len, lines)) <= 80


def test_on_a_narrow_screen_cells_have_names_and_commands_break_between_words(shown):
    page = demonstration.html(shown.results)
    tables = re.findall(r"<table.*?</table>", page, flags=re.DOTALL)
    assert len(tables) == 5
    for table in tables:
        assert 'class="sortable cards"' in table
        assert set(re.findall(r"<td ?([^=>]*)", table)) == {"data-label"}
    assert "<span>--explain</span> <span>tree_paths</span></pre>" in page


def test_no_abbreviation_stands_unexplained(shown):
    text = " ".join(demonstration.plain(shown.results).split())
    assert not re.search(r"\b[TF][PN]R\b", text)
    assert text.index("AUC: how often") < text.index("(a)")
    assert text.index("Epsilon: how strongly") < text.index("(a)")
    assert "recognises +" not in text


def test_released_rows_are_real_people_and_protected_ones_are_not(shown):
    found = shown.results
    assert found.bare.linked.exact == found.bare.linked.released > 0
    assert found.bare.linked.real
    assert not found.protected.linked.real
    assert found.bare.valid == found.protected.valid == 1.0


def test_a_finding_that_is_not_there_is_not_claimed(shown):
    """Bare answers exchanged for protected ones: the page must not go on accusing them."""
    found = shown.results
    tame = found.model_copy(update={"bare": found.protected})
    assert not demonstration.holds(tame)["released rows are real people"]
    told = demonstration.story(tame)
    assert "exact rows" not in told.lead
    weak = found.audit.model_copy(update={"rows": [r.model_copy(update={"low": -0.1}) for r in found.audit.rows]})
    told = demonstration.story(found.model_copy(update={"audit": weak}))
    assert "was not found to add" in told.findings[1].answer


def test_nothing_reassures_in_words_that_are_not_ours(shown):
    text = demonstration.plain(shown.results).lower()
    assert not re.search(r"\b(safe|anonymous|compliant)\b", text)


def test_its_audit_can_be_run_by_itself():
    assert settings(3).toml().count("seed = 3") == 1
    assert "halves" in settings().game
