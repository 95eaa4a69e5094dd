"""The number that decides a sentence: the difference of two places, its test, or a count or mean of places."""

from __future__ import annotations

import numpy as np

from jali.audit.all_models import Gathered, RunRecord
from jali.audit.quality import Measured
from jali.audit.setup import Setup as Loaded
from jali.audit.summary import Cells, cells_of, combined, sensitive
from jali.audit.trials import paired
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.values import Bools, Floats
from jali.reproduce.numbers import Ran, explainer_of, number
from jali.reproduce.ranking import judged
from jali.reproduce.schema import CHANCE, NOTHING, Paper, Sentence, group, place
from jali.stats import roc
from jali.stats.intervals import apart, contrast
from jali.stats.t_test import two_sample

MANY = 10**6  # units of a number that is known exactly
NAUGHT = Estimate(0.0, 0.0, 0.0, MANY)


def compared(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """The number of a sentence; without one, the reason."""
    kinds = {"count": _counted, "mean": _averaged, "test": _tested, "growth": _grown, "rank": judged, "alike": judged}
    compare = kinds.get(sentence.kind, _difference)
    try:
        return compare(sentence, ran, paper)
    except JaliError as error:
        return Estimate(None, reason=str(error))


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
    return _paired(sentence, {sentence.more: 1, sentence.less: -1}, ran, paper)


def _grown(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """More minus less, minus the same before: on the same target models, or of independent studies."""
    signs = {sentence.more: 1, sentence.less: -1, sentence.more_before: -1, sentence.less_before: 1}
    studies = {place(text)[0] for text in signs}
    found = _paired(sentence, signs, ran[min(studies)], paper) if len(studies) == 1 else None
    if found is not None:
        return found
    now, before = (
        apart(*(_side(text, sentence, ran, paper, None) for text in both))
        for both in ((sentence.more, sentence.less), (sentence.more_before, sentence.less_before))
    )
    return apart(now, before)


def _paired(sentence: Sentence, signs: dict[str, int], ran: Ran, paper: Paper) -> Estimate | None:
    """A signed sum of a measure at several places, target by target; None where it is no measure."""
    if ran.found is None or ran.setup is None:
        return None
    found, setup = ran.found, ran.setup
    cells = [_cells_at(sentence, text, found, setup, paper) for text in signs]
    known = [c for c in cells if c is not None]
    if len(known) < len(cells):
        return None
    return combined(setup.game, list(signs.values()), known, setup.data.group_numbers())


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
    if text == NOTHING:
        return NAUGHT
    if text == CHANCE:
        exact = roc.chance(sentence.metric, fewest(beside))
        return Estimate(exact, exact, exact, MANY)
    study, method = place(text)
    return number(ran[study], method, sentence.metric, paper, group(text), sentence.by)


def fewest(guesses: Guesses | None) -> int:
    """Non-members of the target that has the fewest; 0 without guesses."""
    if guesses is None or guesses.truth.all():
        return 0
    return int(np.bincount(guesses.unit[~guesses.truth]).min())


def _counted(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """How many places lie above chance, as many non-members as there are."""
    levels = [roc.chance(sentence.metric, fewest(ran[s].guesses.get(t))) for s, t in map(place, sentence.among)]
    return counted(_among(sentence, ran, paper), levels)


def _averaged(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """The mean of the numbers at several places, less the published one."""
    return averaged(_among(sentence, ran, paper), sentence.published or 0.0)


def _among(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> list[Estimate]:
    """The numbers of the places that a sentence counts, or takes the mean of."""
    each = [(*place(text), group(text)) for text in sentence.among]
    return [number(ran[study], method, sentence.metric, paper, among, sentence.by) for study, method, among in each]


def counted(found: list[Estimate], levels: list[float]) -> Estimate:
    """How many numbers lie above a level each: by value, with the whole interval (low), with a part of it (high).

    >>> counted([Estimate(0.6, 0.55, 0.65, 9), Estimate(0.52, 0.48, 0.56, 9)], [0.5, 0.5])
    Estimate(value=2.0, low=1.0, high=2.0, units=9, reason='')
    """
    known = _ends(found)
    if isinstance(known, Estimate):
        return known
    value, low, high = (float(x) for x in (known > np.array(levels)[:, None]).sum(axis=0))
    return Estimate(value, low, high, min(e.units for e in found))


def averaged(found: list[Estimate], published: float) -> Estimate:
    """The mean of numbers of independent studies, less a published one; its interval is made of theirs.

    Each side of the interval is sqrt(sum of squared sides) / n, as in a difference of two (`stats.intervals.apart`).

    >>> averaged([Estimate(0.9, 0.87, 0.93, 9), Estimate(1.0, 0.96, 1.0, 5)], 0.97)
    Estimate(value=-0.02, low=-0.045, high=-0.005, units=5, reason='')
    """
    known = _ends(found)
    if isinstance(known, Estimate):
        return known
    mean = known[:, 0].mean() - published
    sides = np.sqrt(((known[:, 1:] - known[:, :1]) ** 2).sum(axis=0)) / len(known)
    value, low, high = (round(float(x), 9) for x in (mean, mean - sides[0], mean + sides[1]))
    return Estimate(value, low, high, min(e.units for e in found))


def _ends(found: list[Estimate]) -> Floats | Estimate:
    """Value, low and high of every number (n, 3); where one has none, the reason."""
    without = next((e for e in found if e.value is None or e.low is None or e.high is None), None)
    if without is not None:
        return Estimate(None, reason=without.reason)
    return np.array([[e.value, e.low, e.high] for e in found], dtype=np.float64)
