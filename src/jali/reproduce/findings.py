"""From a paper's claims and the results of its studies to findings, each with its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from jali.audit.all_models import EXPLAINED, Gathered, RunRecord
from jali.audit.attack_run_rows import overall_estimate
from jali.audit.attack_runs import AttackRun
from jali.audit.one_model import STATISTICS, stream
from jali.audit.quality import Measured
from jali.audit.setup import Setup as Loaded
from jali.audit.summary import Cells, cells_of, difference, sensitive
from jali.audit.trials import Trial, paired
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.metrics import metric as metric_of
from jali.core.values import Bools, Channel, Floats, Rng, SignalName
from jali.reproduce.schema import CHANCE, MODEL, NOTHING, SCALES, Method, Paper, Scale, Sentence, Table, group, place
from jali.reproduce.verdicts import of_bound, of_count, of_order, of_sameness, of_value
from jali.results import Row
from jali.results.reproduction import Finding, Reproduction, Study, Verdict
from jali.stats import released, roc
from jali.stats.intervals import apart, contrast, each_target, estimate
from jali.stats.t_test import two_sample

DELTA = "Δ "
MANY = 10**6  # units of a number that is known exactly
SENTENCES = "Sentences"
OUR_SENTENCES = f"{SENTENCES} of ours"
TESTED = "t test of"
DUE = "not in the run that is judged again: a new run is due"


@dataclass(frozen=True)
class Ran:
    """The results of a study: its record, guesses by method, and why a method failed.

    overall: for query attacks, by method and metric, one number per target (T,). setup, found: data, game and
    evidence, where models were trained.
    """

    study: Study
    guesses: dict[str, Guesses] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    overall: dict[str, dict[str, Floats]] = field(default_factory=dict)
    setup: Loaded | None = None
    found: Gathered | None = None

    def why(self, method: str) -> str:
        """Why there are no guesses."""
        return self.study.skipped or self.failed.get(method, "")

    @property
    def rng(self) -> Rng:
        """The stream of its bootstraps."""
        return stream(self.seed, STATISTICS, 2)


def trial_of(method: Method) -> Trial:
    """The trial a method describes; signals that need an explanation read it, the others read the prediction."""
    explainer = explainer_of(method)
    names = []
    for signal in (registry.build("signal", text) for text in method.signals):
        names.append(SignalName(registry.spec(signal), explainer if signal.needs & EXPLAINED else ""))
    channel = Channel.EXPLANATION if explainer else Channel.SCORE
    return Trial(registry.build("attack", method.attack), tuple(names), channel, explainer)


def explainer_of(method: Method) -> str:
    """Specification of the explainer that a method reads, queries or measures."""
    return registry.spec(registry.build("explain", method.explain)) if method.explain else ""


def run_of(method: Method) -> AttackRun:
    """The run of a query attack that a method describes."""
    explainer = registry.build("explain", method.explain) if method.explain else None
    attack = registry.build("query_attack", method.query_attack)
    return AttackRun(attack, registry.build("knowledge", method.knowledge), explainer)


def findings(paper: Paper, ran: dict[str, Ran], scale: Scale) -> list[Finding]:
    """A finding for every claim about the studies that ran, numbers first."""
    cells, sentences = _claims(paper, ran)
    numbers = [_value(c, number(ran[c.study], c.method, c.metric, paper), scale) for c in cells]
    return numbers + [_sentence(s, _compared(s, ran, paper), scale) for s in sentences]


def judged_again(paper: Paper, kept: Reproduction) -> list[Finding]:
    """Every claim judged again with the numbers of an earlier run; nothing is run.

    A claim that is newer than the run takes its number from another finding or from the measures of a study. Where
    neither has it, a new run is due, and the finding says so.
    """
    ran = {study.name: Ran(study) for study in kept.studies}
    known = {f.place: _remembered(f) for f in kept.findings if f.place}
    cells, sentences = _claims(paper, ran)
    scale: Scale = next(s for s in SCALES if s == kept.scale)
    numbers = [_value(c, _kept(c.text, c.metric, "", ran, known, paper), scale) for c in cells]
    return numbers + [_sentence(s, _kept_difference(s, ran, known, paper), scale) for s in sentences]


def _claims(paper: Paper, ran: dict[str, Ran]) -> tuple[list[_Cell], list[Sentence]]:
    """The published numbers and sentences whose studies have all run."""
    cells = [c for c in _cells(paper) if c.study in ran]
    return cells, [s for s in paper.sentences if all(place(p)[0] in ran for p in s.places())]


def _remembered(finding: Finding) -> Estimate:
    """The number of a finding, without the reason of its old verdict, which is judged anew."""
    whole = finding.value is not None and finding.low is not None
    reason = "" if whole and not finding.place.startswith(TESTED) else finding.reason
    return Estimate(finding.value, finding.low, finding.high, finding.units, reason)


def _kept(text: str, metric: str, by: str, ran: dict[str, Ran], known: dict[str, Estimate], paper: Paper) -> Estimate:
    """The number of an earlier run at a place."""
    if at(text, metric, by) in known:
        return known[at(text, metric, by)]
    study, method = place(text)
    ours = number(ran[study], method, metric, paper, group(text), by)
    return ours if ours.value is not None or ran[study].study.skipped else Estimate(None, reason=DUE)


def _kept_difference(sentence: Sentence, ran: dict[str, Ran], known: dict[str, Estimate], paper: Paper) -> Estimate:
    """The number of a sentence in an earlier run, or the difference of two numbers from different studies."""
    if _number_of(sentence) in known:
        return known[_number_of(sentence)]
    studies = [place(text)[0] for text in sentence.places()]
    skipped = next((ran[study].study.skipped for study in studies if ran[study].study.skipped), "")
    independent = sentence.kind in ("order", "same") and len(set(studies)) == 2
    if skipped or not independent:  # methods of one study are compared in pairs, which a page does not keep
        return Estimate(None, reason=skipped or DUE)
    more = _kept(sentence.more, sentence.metric, sentence.by, ran, known, paper)
    less = _kept(sentence.less, sentence.metric, sentence.by, ran, known, paper)
    return apart(more, less)


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


def _value(cell: _Cell, ours: Estimate, scale: Scale) -> Finding:
    tolerance = cell.table.tolerance[cell.metric]
    bound: Literal["", "most", "least"] = cell.table.bound.get(cell.metric, "")
    judge = partial(of_bound, bound=bound) if bound else of_value
    exact = replace(ours, low=ours.value, high=ours.value) if cell.table.same else ours
    verdict = judge(cell.published, tolerance, ours=exact)
    return Finding(
        quantity=f"{word(cell.metric)}, {cell.study if cell.method == MODEL else cell.method}",
        section=cell.table.source if cell.method == MODEL else f"{cell.table.source}: {cell.study}",
        source=cell.table.source,
        kind="value",
        published=cell.published,
        tolerance=tolerance,
        bound=bound,
        place=at(cell.text, cell.metric),
        **_judged(verdict, ours, cell.table, scale),
    )


def _compared(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    compare = {"count": _counted, "test": _tested}.get(sentence.kind, _difference)
    try:
        return compare(sentence, ran, paper)
    except JaliError as error:
        return Estimate(None, reason=str(error))


def _sentence(sentence: Sentence, ours: Estimate, scale: Scale) -> Finding:
    verdict = {
        "order": of_order(ours),
        "test": of_order(ours),
        "same": of_sameness(ours, sentence.tolerance),
        "count": of_count(sentence.published or 0.0, ours),
    }[sentence.kind]
    found = Finding(
        quantity=sentence.says,
        section=SENTENCES,
        source=f"{sentence.source}; {word(sentence.metric, sentence.by)}",
        kind="order" if sentence.kind == "test" else sentence.kind,
        published=sentence.published,
        tolerance=sentence.tolerance,
        place=_number_of(sentence),
        **_judged(verdict, ours, sentence, scale),
    )
    return found.model_copy(update={"section": OUR_SENTENCES}) if found.ours else found


def _number_of(sentence: Sentence) -> str:
    """The name of the number of a sentence; sentences that judge the same difference share it."""
    if sentence.kind == "count":
        return at(f"count of {', '.join(sentence.among)}", sentence.metric, sentence.by)
    how = f"{TESTED} " if sentence.kind == "test" else ""
    return at(f"{how}{sentence.more} less {sentence.less}", sentence.metric, sentence.by)


def _judged(verdict: Verdict, ours: Estimate, claim: Table | Sentence, scale: Scale) -> dict[str, Any]:
    """Our number and the verdict on it; no verdict where the scale is smaller than the claim needs."""
    out = {"value": ours.value, "low": ours.low, "high": ours.high, "units": ours.units}
    if SCALES.index(scale) < SCALES.index(claim.scale) and ours.value is not None:
        return {**out, "verdict": "not resolvable", "reason": f"judged from --scale {claim.scale} on"}
    return {**out, "verdict": verdict, "reason": ours.reason or claim.note}


def number(ran: Ran, method: str, metric: str, paper: Paper, among: str = "", by: str = "") -> Estimate:
    """A measure of the explanation or of the model where the metric is one, else a metric of the attack.

    among: of a group of people. by: the query attack whose metric it is, where it is not the method's own.
    """
    row = _row(ran.study.measures, method, metric, paper, among, by)
    if row is not None:
        return Estimate(row.value, row.low, row.high, row.units, row.reason)
    if among:
        return Estimate(None, reason=ran.why(method) or f"The study has no {word(metric, by)} of {among!r}.")
    if metric in ran.overall.get(method, {}):
        return overall_estimate(metric, ran.overall[method][metric])
    if method not in ran.guesses:
        return Estimate(None, reason=ran.why(method) or f"The study has no {word(metric, by)}.")
    try:
        return _guessed(ran, method, metric, paper)
    except JaliError as error:
        return Estimate(None, reason=str(error))


def _row(rows: list[Row], method: str, metric: str, paper: Paper, among: str, by: str) -> Row | None:
    """The row of a metric at a method: of a query attack, or a measure of its explainer or of the model."""
    chosen = None if method == MODEL else paper.methods[method]
    explainer = "" if chosen is None else explainer_of(chosen)
    same = [r for r in rows if (r.metric, r.group) == (metric, among) and r.explainer in (explainer, "")]
    own = registry.spec(registry.build("query_attack", chosen.query_attack)) if chosen and chosen.query_attack else ""
    if by or own:
        knowledge = registry.spec(registry.build("knowledge", chosen.knowledge)) if chosen and not by else ""
        mine = [r for r in same if r.kind == "query attack" and r.attack == (by or own) and r.explainer == explainer]
        mine = [r for r in mine if not knowledge or r.knowledge == knowledge]
        if mine or by:
            return mine[0] if mine else None
    measured = [r for r in same if r.kind == "measure"]
    return min(measured, key=lambda r: r.explainer != explainer, default=None)


def _guessed(ran: Ran, method: str, metric: str, paper: Paper) -> Estimate:
    """A metric of the guesses, or its difference from the method named in `against`."""
    guesses = ran.guesses[method]
    beside = paper.methods[method].against
    if metric in released.METRICS:
        return each_target(released.METRICS[metric], guesses)
    if not metric.startswith(DELTA):
        return estimate(metric, guesses, ran.rng)[0]
    if beside not in ran.guesses:
        return Estimate(None, reason=ran.why(beside) or f"{method!r} is held against no other method.")
    return contrast(metric.removeprefix(DELTA), *paired(guesses, ran.guesses[beside]), ran.rng)[0]


def _difference(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """More minus less: paired where both are methods of one study, else of two independent ones."""
    study, more = place(sentence.more)
    other, less = place(sentence.less)
    mine = ran[study].guesses.get(more) if study in ran else None
    theirs = ran[other].guesses.get(less) if other in ran else None
    grouped = group(sentence.more) or group(sentence.less)
    by_guesses = study == other and not grouped and not _measured(ran[study], sentence)
    if by_guesses and mine is not None and theirs is not None:
        return contrast(sentence.metric, *paired(mine, theirs), ran[study].rng)[0]
    found = _matched(sentence, ran[study], paper) if study == other and study in ran else None
    if found is not None:
        return found
    guesses = next((g for g in (mine, theirs) if g is not None), None)
    return apart(*(_side(p, sentence, ran, paper, guesses) for p in (sentence.more, sentence.less)))


def _matched(sentence: Sentence, ran: Ran, paper: Paper) -> Estimate | None:
    """More minus less of a measure of two explainers, or groups, on the same target models; None for other metrics."""
    if ran.found is None or ran.setup is None:
        return None
    more = _cells_at(sentence, sentence.more, ran.found, ran.setup, paper)
    less = _cells_at(sentence, sentence.less, ran.found, ran.setup, paper)
    return (
        None if more is None or less is None else difference(ran.setup.game, more, less, ran.setup.data.group_numbers())
    )


def _cells_at(sentence: Sentence, text: str, found: Gathered, setup: Loaded, paper: Paper) -> Cells | None:
    """A metric in all scored cells at a place: a measure, or the metric of a query attack; None if there is none."""
    explainer = explainer_of(paper.methods[place(text)[1]])
    label = group(text)
    groups = sensitive(setup.data)
    if label and label not in groups:
        return None
    inside: Bools | None = groups[label] if label else None
    if not sentence.by:
        return cells_of(found.quality, Measured(sentence.metric, explainer), inside, setup.game, label)
    record = next((r for r in found.runs if _is(r, sentence.by, explainer)), None)
    if record is None or record.values is None or record.defined is None:
        return None
    names = record.run.grader.per_record
    if sentence.metric not in names:
        return None
    at = names.index(sentence.metric)
    defined = record.defined[at] if inside is None else record.defined[at] & inside[np.nonzero(setup.game.scored.T)[1]]
    return Cells(record.values[at], defined, label)


def _is(record: RunRecord, attack: str, explainer: str) -> bool:
    """Whether an attack run is that of an attack on an explainer."""
    return (registry.spec(record.run.attack), record.run.queried) == (attack, explainer)


def _tested(sentence: Sentence, ran: dict[str, Ran], _: Paper) -> Estimate:
    """More minus less by a two-sample t test over target models, with its statistic as the reason."""
    found = []
    for study, method in map(place, sentence.places()):
        if method not in ran[study].guesses:
            return Estimate(None, reason=ran[study].why(method) or f"{method} guesses nothing in {study}.")
        found.append(ran[study].guesses[method])
    return two_sample(sentence.metric, found[0], found[1])


def _measured(ran: Ran, sentence: Sentence) -> bool:
    """Whether a metric is a measure of models, recourse or answers, not of guesses."""
    overall = any(sentence.metric in overall for overall in ran.overall.values())
    measures = any(row.metric == sentence.metric for row in ran.study.measures if row.kind == "measure")
    return bool(sentence.by) or overall or measures


def _side(text: str, sentence: Sentence, ran: dict[str, Ran], paper: Paper, beside: Guesses | None) -> Estimate:
    """The number at a place; for `nothing` zero, and for `chance` the chance level on the guesses compared with."""
    if text in (CHANCE, NOTHING):
        exact = 0.0 if text == NOTHING else roc.chance(sentence.metric, fewest(beside))
        return Estimate(exact, exact, exact, MANY)
    study, method = place(text)
    return number(ran[study], method, sentence.metric, paper, group(text), sentence.by)


def fewest(guesses: Guesses | None) -> int:
    """Non-members of the target that has the fewest; 0 without guesses."""
    if guesses is None or guesses.truth.all():
        return 0
    return int(np.bincount(guesses.unit[~guesses.truth]).min())


def _counted(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """How many places lie above chance: by value, with the whole interval (low), with a part of it (high)."""
    found = [
        number(ran[place(p)[0]], place(p)[1], sentence.metric, paper, group(p), sentence.by) for p in sentence.among
    ]
    missing = next((e.reason for e in found if e.value is None or e.low is None or e.high is None), "")
    if missing:
        return Estimate(None, reason=missing)
    levels = [roc.chance(sentence.metric, fewest(ran[s].guesses.get(t))) for s, t in map(place, sentence.among)]
    sides = np.array([[e.value, e.low, e.high] for e in found], dtype=np.float64) > np.array(levels)[:, None]
    value, low, high = (float(x) for x in sides.sum(axis=0))
    return Estimate(value, low, high, min(e.units for e in found))


def word(metric: str, by: str = "") -> str:
    """A metric in words.

    >>> word("tpr@0.01"), word("auc"), word("test_accuracy"), word("released auc"), word("singled_out", "linkage")
    ('TPR at 1 % FPR', 'AUC', 'test accuracy', 'AUC as released by the authors', 'singled out (linkage)')
    """
    if by:
        return f"{word(metric)} ({by})"
    if metric.startswith(DELTA):
        return DELTA + word(metric.removeprefix(DELTA))
    if metric.startswith(released.PREFIX):
        return f"{word(metric.removeprefix(released.PREFIX))} as released by the authors"
    title = metric_of(metric).title
    return title if title[:2].isupper() or title[1:2].isdigit() else title[:1].lower() + title[1:]
