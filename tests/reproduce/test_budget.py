"""Which studies a budget chooses, and a run joined to an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest

from jali.core.errors import JaliError
from jali.reproduce import budget, files, keeping, schema
from jali.reproduce.findings import DUE
from jali.reproduce.run import judge_again
from jali.results.reproduction import Finding, Needs, Reproduction, Study

PAPER = """
title = "T"
citation = "C"
[methods]
"Loss" = { signal = "loss", attack = "threshold" }
[studies."{s}"]
over = { s = ["cheap", "dear"] }
data = "linear_gaussian(n=300, d=5)"
model = "logistic"
game = "thirds(targets=4, shadows=2)"
methods = ["Loss"]
[[tables]]
source = "Table 1"
tolerance = { auc = 0.02 }
[tables.published]
cheap = { "Loss" = { auc = 0.5 } }
dear = { "Loss" = { auc = 0.6 } }
[[sentences]]
says = "cheap leaks more"
source = "Section 1"
metric = "auc"
more = "cheap / Loss"
less = "dear / Loss"
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    file = tmp_path / "p.toml"
    file.write_text(PAPER, encoding="utf-8")
    return file


def number(study: str, value: float, targets: int | None = None) -> Finding:
    needs = Needs(targets=targets, times=2.0, hours=1.0) if targets else None
    return Finding(
        quantity="AUC, Loss", section="Table 1", source="Table 1", kind="value", published=0.5, tolerance=0.02,
        value=value, low=value - 0.03, high=value + 0.03, units=4, needs=needs, place=f"{study} / Loss: auc",
        verdict="not resolvable",
    )  # fmt: skip


def earlier(paper: Path, *findings: Finding) -> Reproduction:
    setup = schema.read(str(paper)).studies["cheap"]
    parts = {"data": setup.data, "model": setup.model, "game": setup.game}
    studies = [Study(name=name, parts=parts, seconds=s) for name, s in (("cheap", 360.0), ("dear", 3600.0))]
    return Reproduction(
        paper="p", title="T", citation="C", scale="standard", command="c", made="2026-01-01",
        findings=list(findings), studies=studies,
    )  # fmt: skip


def test_most_claims_for_the_time_come_first(paper):
    told = schema.read(str(paper))
    found = earlier(paper, number("cheap", 0.53, 8), number("cheap", 0.54, 40), number("dear", 0.63, 8))
    (only,) = budget.choose(told, found, 1.0)
    assert (only.study, only.targets, only.settles) == ("cheap", 8, 1)
    assert only.hours == pytest.approx(0.2)
    both = budget.choose(told, found, 3.0)
    assert [(c.study, c.targets) for c in both] == [("cheap", 8), ("dear", 8)]
    assert budget.choose(told, found, 0.1) == []


def test_claims_of_ours_about_two_studies_or_out_of_reach_choose_nothing(paper):
    both = number("cheap", 0.53, 8).model_copy(update={"place": "cheap / Loss less dear / Loss: auc"})
    ours = number("cheap", 0.53, 8).model_copy(update={"source": "ours: a check"})
    assert budget.choose(schema.read(str(paper)), earlier(paper, both, ours, number("dear", 0.63)), 100.0) == []


def test_a_claim_without_a_number_needs_a_run_and_any_will_do(paper):
    blank = number("dear", 0.6).model_copy(update={"value": None, "low": None, "high": None, "reason": DUE, "units": 0})
    run = earlier(paper, number("cheap", 0.53, 8), blank)
    known = [s.model_copy(update={"facts": {"targets": 4}}) for s in run.studies]
    found = budget.choose(schema.read(str(paper)), run.model_copy(update={"studies": known}), 3.0)
    assert [(c.study, c.targets, c.settles) for c in found] == [("cheap", 8, 1), ("dear", 4, 1)]


def test_a_number_of_ours_beside_one_as_released_chooses_nothing(paper):
    where = {"item": "Table 1", "row": "r", "column": "c"}
    ours = number("cheap", 0.53, 8).model_copy(update=where)
    theirs = number("dear", 0.53, 8).model_copy(update={**where, "released": True})
    found = budget.choose(schema.read(str(paper)), earlier(paper, ours, theirs), 100.0)
    assert [c.study for c in found] == ["dear"]


def test_no_study_is_run_with_fewer_targets_than_the_file_has(paper):
    paper.write_text(PAPER.replace("targets=4", "targets=20"), encoding="utf-8")
    (found,) = budget.choose(schema.read(str(paper)), earlier(paper, number("cheap", 0.53, 8)), 100.0)
    assert found.targets == 20


def test_no_study_is_run_with_fewer_targets_than_it_had(paper):
    """A claim may rest on a number of few targets in a study that has many."""
    run = earlier(paper, number("cheap", 0.53, 8))
    known = [s.model_copy(update={"facts": {"targets": 60}}) for s in run.studies]
    (found,) = budget.choose(schema.read(str(paper)), run.model_copy(update={"studies": known}), 100.0)
    assert (found.targets, found.hours) == (60, pytest.approx(0.1))


@pytest.mark.parametrize(
    "text",
    ["cheap / LO on DT, noise less dear / LO on DT, noise: auc", "count of cheap / Loss, 1 each, dear / Loss: auc"],
)
def test_a_claim_about_two_studies_is_about_both(paper, text):
    """Also where the name of a method goes on behind a comma."""
    found = number("cheap", 0.53, 8).model_copy(update={"place": text})
    assert budget.studies_of(found, schema.read(str(paper))) == {"cheap", "dear"}


def test_folds_are_counted_as_they_are_cut(paper):
    """Five targets are wanted, and two cuts of three folds are six."""
    text = PAPER.replace("thirds(targets=4, shadows=2)", "folds(k=3, shadows=0)")
    paper.write_text(text, encoding="utf-8")
    (found,) = budget.choose(schema.read(str(paper)), earlier(paper, number("cheap", 0.53, 5)), 100.0)
    assert found.targets == 6
    assert found.hours == pytest.approx(0.1 * 6 / 4)


@pytest.mark.parametrize(
    ("game", "then"),
    [
        ("thirds(targets=4, shadows=2)", "thirds(targets=9, shadows=2)"),
        ("rotate(models=4)", "rotate(models=9)"),
        ("folds(shadows=0)", "folds(shadows=0, repeats=3)"),
    ],
)
def test_a_game_with_more_targets(game, then):
    setup = schema.Setup(data="d", model="m", game=game, methods=[])
    assert budget.with_targets(setup, 9).game == then


@pytest.mark.parametrize("text", ["", "4", "h", "-1h", "0h", "4 days"])
def test_a_budget_is_a_time(text):
    with pytest.raises(JaliError, match="A budget is a time such as 4h"):
        budget.hours_of(text)


def test_studies_that_are_not_run_again_keep_their_numbers(paper, tmp_path):
    told = schema.read(str(paper))
    files.save(earlier(paper, number("cheap", 0.53), number("dear", 0.63)), tmp_path)
    new = earlier(paper, number("cheap", 0.5)).model_copy(update={"made": "2026-02-02"})
    new = new.model_copy(update={"studies": new.studies[:1]})
    found = keeping.joined(told, tmp_path / "p.json", new)
    assert [f.value for f in found.findings[:2]] == [0.5, 0.63]
    assert found.findings[2].value == pytest.approx(-0.13)
    assert [(s.name, s.made) for s in found.studies] == [("cheap", ""), ("dear", "2026-01-01")]
    with pytest.raises(JaliError, match="cannot be joined"):
        keeping.joined(told, tmp_path / "p.json", new.model_copy(update={"scale": "smoke"}))


def test_a_study_of_a_larger_scale_is_joined_and_its_claims_are_judged_at_that(paper, tmp_path):
    paper.write_text(PAPER.replace('source = "Table 1"', 'source = "Table 1"\nscale = "paper"'), encoding="utf-8")
    told = schema.read(str(paper))
    files.save(earlier(paper, number("cheap", 0.53), number("dear", 0.63)), tmp_path)
    new = earlier(paper, number("cheap", 0.5)).model_copy(update={"scale": "paper"})
    found = keeping.joined(told, tmp_path / "p.json", new.model_copy(update={"studies": new.studies[:1]}))
    assert found.scale == "standard"
    assert [study.scale for study in found.studies] == ["paper", ""]
    cheap, dear, both = found.findings
    assert "judged from" not in cheap.reason
    assert dear.reason == "judged from --scale paper on"
    assert both.value == pytest.approx(-0.13)  # a sentence of every scale rests on both


def test_numbers_of_another_set_up_are_marked_as_due(paper, tmp_path):
    files.save(earlier(paper, number("cheap", 0.53), number("dear", 0.63)), tmp_path)
    paper.write_text(PAPER.replace("targets=4", "targets=9"), encoding="utf-8")
    found = judge_again(schema.read(str(paper)), str(paper), tmp_path / "p.json")
    assert all("another game" in study.due for study in found.studies)


def test_a_run_with_more_targets_than_the_file_is_not_due_and_says_so(paper, tmp_path):
    run = earlier(paper, number("cheap", 0.53), number("dear", 0.63))
    more = [s.model_copy(update={"parts": s.parts | {"game": "thirds(targets=9, shadows=2)"}}) for s in run.studies]
    files.save(run.model_copy(update={"studies": more}), tmp_path)
    found = judge_again(schema.read(str(paper)), str(paper), tmp_path / "p.json")
    assert [(s.due, s.more) for s in found.studies] == [
        ("", "Run with more target models than the scale has: thirds(targets=4, shadows=2).")
    ] * 2


@pytest.mark.parametrize("ran", ["thirds(targets=9, shadows=3)", "thirds(targets=3, shadows=2)", "halves(targets=9)"])
def test_a_run_with_another_game_or_fewer_targets_is_due(paper, tmp_path, ran):
    run = earlier(paper, number("cheap", 0.53), number("dear", 0.63))
    other = [s.model_copy(update={"parts": s.parts | {"game": ran}}) for s in run.studies]
    files.save(run.model_copy(update={"studies": other}), tmp_path)
    found = judge_again(schema.read(str(paper)), str(paper), tmp_path / "p.json")
    assert all("another game" in s.due and not s.more for s in found.studies)


def test_a_game_from_a_file_runs_no_code_of_others():
    assert budget.targets_beyond("thirds(targets=4)", "their_module:Game(targets=9)") is None


def test_a_study_that_was_never_run_and_is_now_left_to_a_larger_scale_is_not_due(paper, tmp_path):
    run = earlier(paper, number("cheap", 0.53))
    never = run.studies[1].model_copy(update={"skipped": keeping.TO_COME, "seconds": 0.0})
    files.save(run.model_copy(update={"studies": [run.studies[0], never]}), tmp_path)
    moved = PAPER.replace("targets=4", "targets=9").replace(
        "[[tables]]", '[studies.dear]\nscales = ["paper"]\n[[tables]]'
    )
    paper.write_text(moved, encoding="utf-8")
    cheap, dear = judge_again(schema.read(str(paper)), str(paper), tmp_path / "p.json").studies
    assert (dear.skipped, dear.due) == ("run at --scale paper only", "")
    assert dear.parts["game"] == "thirds(targets=9, shadows=2)"
    assert "another game" in cheap.due


def test_the_time_of_stored_results_is_that_of_the_run_that_made_them():
    parts = {"data": "sample", "game": "thirds"}
    first = Study(name="a", parts=parts, seconds=100.0, stored=0)
    again = Study(name="a", parts=parts, seconds=3.0, stored=8)
    assert keeping._timed(again, first).seconds == 103.0
    assert keeping._timed(again, first).stored == 0
    assert keeping._timed(again.model_copy(update={"stored": 0}), first).seconds == 3.0
    assert keeping._timed(again, first.model_copy(update={"parts": {"data": "other"}})).seconds == 3.0
    assert keeping._timed(again, None) is again
