"""The results of studies, and the number that they have for a method and a metric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from jali.audit.all_models import EXPLAINED, Gathered
from jali.audit.attack_run_rows import overall_estimate
from jali.audit.attack_runs import AttackRun
from jali.audit.one_model import STATISTICS, stream
from jali.audit.quality import Measured
from jali.audit.setup import Setup as Loaded
from jali.audit.summary import cells_of
from jali.audit.trials import Trial, paired
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.metrics import metric as metric_of
from jali.core.values import Channel, Floats, Rng, SignalName
from jali.reproduce.schema import MODEL, Method, Paper
from jali.results import Row
from jali.results.reproduction import Study
from jali.stats import released
from jali.stats.intervals import contrast, each_target, estimate
from jali.stats.medians import median_over_units
from jali.stats.precision_recall import OF_CLAIMS

DELTA = "Δ "
MEDIAN = "median "


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


def number(ran: Ran, method: str, metric: str, paper: Paper, among: str = "", by: str = "") -> Estimate:
    """A measure of the explanation or of the model where the metric is one, else a metric of the attack.

    among: of a group of people. by: the query attack whose metric it is, where it is not the method's own.
    """
    if metric.startswith(MEDIAN):
        return _median(ran, method, metric.removeprefix(MEDIAN), paper)
    row = _row(ran.study.measures, method, metric, paper, among, by)
    some = not (among or by) and metric in OF_CLAIMS and method in ran.guesses  # some targets may have no precision
    if row is not None and (row.value is not None or not some):
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


def _median(ran: Ran, method: str, metric: str, paper: Paper) -> Estimate:
    """The median over targets of the mean of a measure of the explanation in each."""
    if ran.found is None or ran.setup is None:
        return Estimate(None, reason=ran.why(method))
    game = ran.setup.game
    cells = cells_of(ran.found.quality, Measured(metric, explainer_of(paper.methods[method])), None, game)
    if cells is None:
        return Estimate(None, reason=ran.why(method) or f"The study has no {word(metric)}.")
    unit = np.nonzero(game.scored.T)[0]
    count = np.bincount(unit, cells.defined, len(game.targets))
    total = np.bincount(unit, np.where(cells.defined, cells.value, 0.0), len(game.targets))
    if not count.any():
        return Estimate(None, reason=f"Nobody has {word(metric)}.")
    return median_over_units(total[count > 0] / count[count > 0])


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
    if metric in OF_CLAIMS:
        return _of_claims(metric, guesses, ran.rng)
    if not metric.startswith(DELTA):
        return estimate(metric, guesses, ran.rng)[0]
    if beside not in ran.guesses:
        return Estimate(None, reason=ran.why(beside) or f"{method!r} is held against no other method.")
    return contrast(metric.removeprefix(DELTA), *paired(guesses, ran.guesses[beside]), ran.rng)[0]


def _of_claims(metric: str, guesses: Guesses, rng: Rng) -> Estimate:
    """Precision, over the targets in which a record is flagged, if these are half of all or more; it says how many."""
    every = np.unique(guesses.unit)
    flagged = np.unique(guesses.unit[guesses.score > 0])
    if len(flagged) in (len(every), 0, 1) or 2 * len(flagged) < len(every):
        return estimate(metric, guesses, rng)[0]
    found = estimate(metric, guesses.pick(np.isin(guesses.unit, flagged)), rng)[0]
    some = f"over the {len(flagged)} of {len(every)} targets in which a record is flagged"
    return replace(found, reason=found.reason or some)


def word(metric: str, by: str = "") -> str:
    """A metric in words.

    >>> word("tpr@0.01"), word("auc"), word("test_accuracy"), word("released auc"), word("singled_out", "linkage")
    ('TPR at 1 % FPR', 'AUC', 'test accuracy', 'AUC as released by the authors', 'singled out (linkage)')
    """
    if by:
        return f"{word(metric)} ({by})"
    if metric.startswith(DELTA):
        return DELTA + word(metric.removeprefix(DELTA))
    if metric.startswith(MEDIAN):
        return f"{word(metric.removeprefix(MEDIAN))}, median over targets"
    if metric.startswith(released.PREFIX):
        return f"{word(metric.removeprefix(released.PREFIX))} as released by the authors"
    title = metric_of(metric).title
    return title if title[:2].isupper() or title[1:2].isdigit() else title[:1].lower() + title[1:]
