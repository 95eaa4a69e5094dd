"""From a paper's claims and the results of its studies to findings, each with its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from jali.core.guesses import Estimate
from jali.reproduce.numbers import Ran, number, word
from jali.reproduce.placing import column_of, item_of, row_of
from jali.reproduce.resolving import needs
from jali.reproduce.schema import (
    MODEL,
    NOTHING,
    OF_SEVERAL,
    RANKED,
    SCALES,
    Paper,
    Scale,
    Sentence,
    Table,
    group,
    place,
)
from jali.reproduce.sentences import NAUGHT, averaged, compared, counted
from jali.reproduce.verdicts import of_bound, of_count, of_order, of_sameness, of_value
from jali.results.reproduction import Finding, Reproduction, Study, Verdict
from jali.stats.intervals import apart
from jali.stats.roc import chance

SENTENCES = "Sentences"
OUR_SENTENCES = f"{SENTENCES} of ours"
TESTED = "t test of"
RANKS = "ranks in"
# How a sentence is shown where it is not an order; ranks that do not differ are less than a critical distance apart.
SHOWN_AS: dict[str, Literal["same", "count"]] = {"same": "same", "alike": "same", "mean": "same", "count": "count"}
ONE = 1.0
OLDER = "ours: run before the set-up was changed, and a new run is due"
CLOSE_RANKS = "more targets in all studies of the figure would tell; how many cannot be foreseen from ranks"
DUE = "the last run did not make this number: a new run is due"


def findings(paper: Paper, ran: dict[str, Ran], scale: Scale) -> list[Finding]:
    """A finding for every claim about the studies that ran, numbers first."""
    cells, sentences = _claims(paper, ran)
    numbers = [_value(c, number(ran[c.study], c.method, c.metric, paper), ran, scale) for c in cells]
    return numbers + [_sentence(s, compared(s, ran, paper), _behind(s, paper, ran), scale) for s in sentences]


def judged_again(paper: Paper, kept: Reproduction) -> list[Finding]:
    """Every claim judged again with the numbers of an earlier run; nothing is run.

    A claim that is newer than the run takes its number from another finding or from the measures of a study. Where
    neither has it, a new run is due, and the finding says so.
    """
    ran = {study.name: Ran(study) for study in kept.studies}
    known = {
        at(f"{study.name} / {method}", "auc"): Estimate(*numbers)
        for study in kept.studies
        for method, numbers in study.attacks.items()
    }
    known |= {f.place: _remembered(f) for f in kept.findings if f.place}
    cells, sentences = _claims(paper, ran)
    numbers = [
        _value(c, _kept(c.text, c.metric, "", ran, known, paper), ran, _scale([ran[c.study].study], kept.scale))
        for c in cells
    ]
    sides = [_kept_difference(s, ran, known, paper) for s in sentences]
    behind = [_behind(s, paper, ran) for s in sentences]
    return numbers + [
        _sentence(s, ours, studies, _scale(studies, kept.scale))
        for s, ours, studies in zip(sentences, sides, behind, strict=True)
    ]


def _scale(behind: list[Study], rest: str) -> Scale:
    """The smallest scale of the studies that a claim rests on; rest: of those that do not say."""
    scales = {study.scale or rest for study in behind} or {rest}
    return next(s for s in SCALES if s in scales)


def _claims(paper: Paper, ran: dict[str, Ran]) -> tuple[list[_Cell], list[Sentence]]:
    """The published numbers and sentences whose studies have all run."""
    cells = [c for c in _cells(paper) if c.study in ran]
    return cells, [s for s in paper.sentences if all(place(p)[0] in ran for p in _places(s, paper))]


def _places(sentence: Sentence, paper: Paper) -> list[str]:
    """The places that a sentence rests on; for one about ranks all places of its diagram."""
    if sentence.kind not in RANKED:
        return sentence.places()
    return [text for places in paper.diagram(sentence).methods.values() for text in places]


def _remembered(finding: Finding) -> Estimate:
    """The number of a finding, without the reason of its old verdict, which is judged anew."""
    whole = finding.value is not None and finding.low is not None
    reason = "" if whole and not finding.place.startswith(TESTED) else finding.reason
    return Estimate(finding.value, finding.low, finding.high, finding.units, reason)


def _kept(text: str, metric: str, by: str, ran: dict[str, Ran], known: dict[str, Estimate], paper: Paper) -> Estimate:
    """The number of an earlier run at a place; zero at no place."""
    if text == NOTHING:
        return NAUGHT
    study, method = place(text)
    skipped = ran[study].study.skipped
    earlier = known.get(at(text, metric, by))
    if earlier is not None:
        return Estimate(None, reason=skipped) if skipped else earlier
    ours = number(ran[study], method, metric, paper, group(text), by)
    return ours if ours.value is not None or skipped else Estimate(None, reason=DUE)


def _kept_difference(sentence: Sentence, ran: dict[str, Ran], known: dict[str, Estimate], paper: Paper) -> Estimate:
    """The number of a sentence in an earlier run, or the difference of two numbers from different studies.

    Ranks rest on one number per method and setting, and the measures of the studies have these.
    """
    if sentence.kind in RANKED:
        ranks = compared(sentence, ran, paper)
        return ranks if ranks.value is not None else known.get(_number_of(sentence), Estimate(None, reason=DUE))
    earlier = known.get(_number_of(sentence))
    several = sentence.kind in OF_SEVERAL
    skipped = next((s.skipped for s in (ran[place(text)[0]].study for text in sentence.places()) if s.skipped), "")
    if skipped and not several:
        return Estimate(None, reason=skipped)
    if earlier is not None and (earlier.value is not None or not several):
        return earlier
    if several:
        found = [_kept(p, sentence.metric, sentence.by, ran, known, paper) for p in sentence.among]
        return _of_several(sentence, found, [_others(p, ran) for p in sentence.among])
    studies = {place(text)[0] for text in sentence.places()}
    independent = len(studies) == 2 or NOTHING in (sentence.more, sentence.less)
    if not independent or sentence.kind not in ("order", "same"):
        # Methods of one study are compared in pairs, which a page does not keep.
        return Estimate(None, reason=DUE)
    more = _kept(sentence.more, sentence.metric, sentence.by, ran, known, paper)
    less = _kept(sentence.less, sentence.metric, sentence.by, ran, known, paper)
    return apart(more, less)


def _others(text: str, ran: dict[str, Ran]) -> int:
    """Non-members at a place, in the target that has the fewest; 0 where an earlier run did not record it."""
    study, method = place(text)
    return ran[study].study.others.get(method, 0)


def _of_several(sentence: Sentence, found: list[Estimate], others: list[int]) -> Estimate:
    """A count or a mean from one number per place; the chance level of a rate needs the `others` of each place."""
    if sentence.kind == "mean":
        return averaged(found, sentence.published or 0.0)
    if "@" in sentence.metric and not all(others):
        return Estimate(None, reason=next((e.reason for e in found if e.value is None and e.reason), DUE))
    return counted(found, [chance(sentence.metric, n) for n in others])


def at(text: str, metric: str, by: str = "") -> str:
    """How a finding names the place and the metric of its number."""
    return f"{text}: {metric} by {by}" if by else f"{text}: {metric}"


@dataclass(frozen=True)
class _Cell:
    """One published number."""

    table: Table
    study: str
    method: str
    metric: str
    published: float

    @property
    def text(self) -> str:
        """Its place."""
        return f"{self.study} / {self.method}"


def _cells(paper: Paper) -> Iterator[_Cell]:
    for table in paper.tables:
        for study, methods in table.published.items():
            for method, numbers in methods.items():
                yield from (_Cell(table, study, method, metric, number) for metric, number in numbers.items())


def _value(cell: _Cell, ours: Estimate, ran: dict[str, Ran], scale: Scale) -> Finding:
    tolerance = cell.table.tolerance[cell.metric]
    bound: Literal["", "most", "least"] = cell.table.bound.get(cell.metric, "")
    judge = partial(of_bound, bound=bound) if bound else of_value
    exact = replace(ours, low=ours.value, high=ours.value) if cell.table.same else ours
    verdict = judge(cell.published, tolerance, ours=exact)
    differs = OLDER if ran[cell.study].study.due else cell.table.cause(cell.text, cell.metric)
    return Finding(
        quantity=f"{word(cell.metric)}, {cell.study if cell.method == MODEL else cell.method}",
        section=cell.table.source if cell.method == MODEL else f"{cell.table.source}: {cell.study}",
        source=cell.table.source,
        kind="value",
        published=cell.published,
        tolerance=tolerance,
        bound=bound,
        place=at(cell.text, cell.metric),
        item=item_of(cell.table.source),
        row=row_of(cell.table, cell.study, cell.method, cell.metric),
        column=column_of(cell.table, cell.study, cell.method, cell.metric),
        released=cell.table.released,
        exact=cell.table.same,
        **_judged(verdict, ours, cell.table, scale, differs),
        **_resolved(verdict, exact, _limits(cell.published, tolerance, bound), [ran[cell.study].study]),
    )


def _limits(published: float, tolerance: float, bound: str) -> list[float]:
    """Where a verdict on a number changes."""
    ends = {"most": [published + tolerance], "least": [published - tolerance]}
    return ends.get(bound, [published - tolerance, published + tolerance])


def _behind(sentence: Sentence, paper: Paper, ran: dict[str, Ran]) -> list[Study]:
    """The studies that a sentence rests on."""
    return [ran[study].study for study in dict.fromkeys(place(text)[0] for text in _places(sentence, paper))]


def _sentence(sentence: Sentence, ours: Estimate, behind: list[Study], scale: Scale) -> Finding:
    kind: Literal["order", "same", "count"] = SHOWN_AS.get(sentence.kind, "order")
    tolerance = ONE if sentence.kind == "alike" else sentence.tolerance
    verdict = {
        "order": of_order(ours),
        "same": of_sameness(ours, tolerance),
        "count": of_count(sentence.published or 0.0, ours),
    }[kind]
    ends = [-tolerance, tolerance]
    limits = {"order": [0.0], "same": ends, "mean": ends}.get(sentence.kind, [])
    found = Finding(
        quantity=sentence.says,
        section=SENTENCES,
        source=f"{sentence.source}; {word(sentence.metric, sentence.by)}",
        kind=kind,
        published=sentence.published,
        tolerance=tolerance,
        place=_number_of(sentence),
        weak=bool(sentence.weak),
        item=item_of(sentence.source),
        **_judged(verdict, ours, sentence, scale, OLDER if any(s.due for s in behind) else sentence.differs),
        **_resolved(verdict, ours, limits, behind),
    )
    if sentence.kind == "rank" and verdict == "not resolvable" and ours.value is not None:
        found = found.model_copy(update={"reason": "; ".join(filter(None, [found.reason, CLOSE_RANKS]))})
    return found.model_copy(update={"section": OUR_SENTENCES}) if found.ours else found


def _number_of(sentence: Sentence) -> str:
    """The name of the number of a sentence; sentences that judge the same difference share it."""
    if sentence.kind in OF_SEVERAL:
        return at(f"{sentence.kind} of {', '.join(sentence.among)}", sentence.metric, sentence.by)
    if sentence.kind in RANKED:
        rest = f" {sentence.more} over {sentence.less}" if sentence.kind == "rank" else ""
        return at(f"{RANKS} {sentence.diagram}{rest}", sentence.metric)
    if sentence.kind == "growth":
        before = f"{sentence.more_before} less {sentence.less_before}"
        return at(f"{sentence.more} less {sentence.less}, since {before}", sentence.metric, sentence.by)
    how = f"{TESTED} " if sentence.kind == "test" else ""
    return at(f"{how}{sentence.more} less {sentence.less}", sentence.metric, sentence.by)


def _judged(verdict: Verdict, ours: Estimate, claim: Table | Sentence, scale: Scale, differs: str) -> dict[str, Any]:
    """Our number and the verdict on it; no verdict where the scale is smaller than the claim needs."""
    out = {"value": ours.value, "low": ours.low, "high": ours.high, "units": ours.units}
    if SCALES.index(scale) < SCALES.index(claim.scale) and (ours.value is not None or ours.reason == DUE):
        return {**out, "verdict": "not resolvable", "reason": f"judged from --scale {claim.scale} on"}
    cause = differs if verdict == "deviates" else ""
    return {**out, "verdict": verdict, "reason": ours.reason or _remark(claim), "differs": cause}


def _remark(claim: Table | Sentence) -> str:
    """What is said of a claim: that it could not fail, or its note."""
    return claim.weak or claim.note if isinstance(claim, Sentence) else claim.note


def _resolved(verdict: Verdict, ours: Estimate, limits: list[float], studies: list[Study]) -> dict[str, Any]:
    """What would settle a claim that our interval leaves open."""
    return {"needs": needs(ours, limits, studies)} if verdict == "not resolvable" and limits else {}
