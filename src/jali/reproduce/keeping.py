"""A run of some studies joined to an earlier one: what is not run again keeps its numbers.

The studies of the new run may be larger ones, at a larger scale: they say so, and each claim is judged by the scale of
its own studies.
"""

from __future__ import annotations

from pathlib import Path

from jali.core.errors import JaliError
from jali.reproduce.figures import summaries
from jali.reproduce.files import read
from jali.reproduce.findings import RANKS, judged_again
from jali.reproduce.numbers import Ran
from jali.reproduce.perturbing import perturbed
from jali.reproduce.schema import SCALES, Paper, Scale
from jali.results.reproduction import Drawing, Finding, Reproduction, Study

TO_COME = "the study is newer than the last run of the paper"


def joined(paper: Paper, earlier: Path, now: Reproduction) -> Reproduction:
    """The studies that were run now, all others from the earlier run, and every claim judged anew."""
    kept = read(earlier, paper)
    if kept.paper != now.paper or SCALES.index(_scale(now)) < SCALES.index(_scale(kept)):
        raise JaliError(
            f"{earlier} is a run of {kept.paper} at --scale {kept.scale}: a run of {now.paper} at --scale {now.scale} "
            "cannot be joined to it. Take the same paper, and the same or a larger scale."
        )
    studies = _studies(paper, kept, now)
    both = now.model_copy(
        update={
            "scale": kept.scale,
            "studies": studies,
            "findings": [*_unchanged(kept.findings, now.studies), *now.findings],
            "drawings": _drawings(kept.drawings, [d for d in now.drawings if not _empty(d)]),
            "seconds": sum(study.seconds for study in studies),
            "memory_mb": max(kept.memory_mb, now.memory_mb),
        }
    )
    found = judged_again(paper, both)
    return redrawn(paper, both.model_copy(update={"findings": found, "moved": perturbed(found)}))


def with_studies_to_come(paper: Paper, found: Reproduction) -> Reproduction:
    """With the studies that no run has had yet, so that claims about them count as not resolvable, not as nothing."""
    scale = _scale(found)
    known = {study.name: study for study in found.studies}
    for name, setup in paper.studies.items():
        if name not in known and scale in setup.scales:
            parts = setup.at(scale).parts()
            known[name] = Study(name=name, parts=parts, skipped=TO_COME, smaller=setup.smaller)
    order = [*paper.studies, *(name for name in known if name not in paper.studies)]
    return found.model_copy(update={"studies": [known[name] for name in order if name in known]})


def _scale(found: Reproduction) -> Scale:
    return next(s for s in SCALES if s == found.scale)


def redrawn(paper: Paper, found: Reproduction) -> Reproduction:
    """With the panels that put several studies side by side drawn from the measures of all of them.

    A run of one study alone would leave the others out. Where measures do not have a number, which only guesses give,
    the panel that shows more stays; ranks are always those that the sentences are judged by.
    """
    ran = {study.name: Ran(study) for study in found.studies}
    old = {(d.figure, d.title): _points(d) for d in found.drawings}
    new = [d for d in summaries(paper, ran) if d.ranked or _points(d) >= max(1, old.get((d.figure, d.title), 0))]
    return found.model_copy(update={"drawings": _drawings(found.drawings, new)})


def _empty(drawing: Drawing) -> bool:
    """Whether a panel shows nothing, because its studies were not run now."""
    return not (drawing.ranked or drawing.curves or _points(drawing))


def _points(drawing: Drawing) -> int:
    """How many points a panel shows."""
    return sum(len(series.x) for series in drawing.series)


def _studies(paper: Paper, kept: Reproduction, now: Reproduction) -> list[Study]:
    """In the order of the paper's file; those kept say when they were made."""
    old = {s.name: s.model_copy(update={"made": s.made or kept.made}) for s in kept.studies}
    larger = now.scale if now.scale != kept.scale else ""
    ran = [study.model_copy(update={"scale": larger}) for study in now.studies]
    new = {study.name: _timed(study, old.get(study.name)) for study in ran}
    return [new.get(name) or old[name] for name in paper.studies if name in new or name in old]


def _timed(study: Study, earlier: Study | None) -> Study:
    """With the time of the earlier run too, where models of this one came from the store and the set-up is the same."""
    if earlier is None or not study.stored or earlier.parts != study.parts:
        return study
    return study.model_copy(update={"seconds": study.seconds + earlier.seconds, "stored": earlier.stored})


def _unchanged(findings: list[Finding], studies: list[Study]) -> list[Finding]:
    """The findings that rest on none of the studies run now; ranks rest on many, so that they are always made anew."""
    still = [f for f in findings if not f.place.startswith(RANKS)]
    return [f for f in still if not any(f"{study.name} / " in f.place for study in studies)]


def _drawings(kept: list[Drawing], now: list[Drawing]) -> list[Drawing]:
    """A panel that was drawn now replaces the one of the same figure and title."""
    new = {(d.figure, d.title): d for d in now}
    old = {(d.figure, d.title) for d in kept}
    return [new.get((d.figure, d.title), d) for d in kept] + [d for k, d in new.items() if k not in old]
