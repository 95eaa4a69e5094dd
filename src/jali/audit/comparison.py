"""Two audits compared: person by person and model by model where both are the same, else number by number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from jali.audit.one_model import STATISTICS, stream
from jali.audit.plan import Place, Plan, plan, with_gaps
from jali.audit.trials import guess_by_metric, paired
from jali.audit.wrapped import part_of, wraps
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.values import Channel, Evidence, Game
from jali.results import Results, Row
from jali.results.comparison import Change
from jali.stats.intervals import apart, contrast, estimate

METRICS = ("auc", "tpr@0.01")
QUERIES = ("reidentified", "disclosure_advantage")
MEASURES = ("test_accuracy", "answered", "withheld", "validity", "cost_l2", "sparsity")


@dataclass(frozen=True)
class Side:
    """One audit: its results, and the evidence that its attacks read."""

    results: Results
    evidence: Evidence
    game: Game


@dataclass(frozen=True)
class Pair:
    """An explanation before, and the one that is compared with it after."""

    before: str
    after: str


def why_not_paired(before: Side, after: Side) -> str:
    """Why people and training sets differ; empty if they are the same.

    Rows of one person would have to count together, and evidence does not say whose rows they are.
    """
    one, other = before.game, after.game
    prints = [side.results.facts.get("data fingerprint", "") for side in (before, after)]
    if prints[0] != prints[1]:
        return "the audits are about other data"
    if any(side.results.config.get("groups") or side.results.facts.get("people") for side in (before, after)):
        return "people have several rows, and the files do not say whose rows they are"
    same = ("member", "targets", "scored")
    if any(not np.array_equal(vars(one)[name], vars(other)[name]) for name in same):
        return "models were trained on other people, or others were attacked"
    return ""


def pairs(before: Side, after: Side) -> list[Pair]:
    """Explanations of the same name; and each new one with what it wraps, or else with each that is gone."""
    old = _explainers(before)
    new = _explainers(after)
    out = [Pair(name, name) for name in old if name in new]
    gone = [name for name in old if name not in new]
    parts = {name: part_of(before.results, name) for name in old}
    for name in (name for name in new if name not in old):
        outer = part_of(after.results, name)
        wrapped = [other for other, part in parts.items() if wraps(outer, part)]
        out += [Pair(other, name) for other in wrapped or gone]
    return out


def _explainers(side: Side) -> list[str]:
    names = [row.explainer for row in side.results.rows if row.explainer]
    return list(dict.fromkeys(names))


def changes(before: Side, after: Side, seed: int) -> list[Change]:
    """Everything that both audits have: membership, people named, and what answers are worth."""
    couples = [Pair("", ""), *pairs(before, after)]
    reason = why_not_paired(before, after)
    out = _apart_membership(before, after, couples) if reason else _paired_membership(before, after, couples, seed)
    for couple in couples:
        out += _numbers(before, after, couple)
    return out


def _paired_membership(before: Side, after: Side, couples: list[Pair], seed: int) -> list[Change]:
    """The combined attack on both audits' evidence, for the people whom both sides have."""
    sides = [(with_gaps(side.evidence, side.game), side.game) for side in (before, after)]
    plans = [plan(evidence, game) for evidence, game in sides]
    out = []
    for couple, channel in _places(couples, plans):
        try:
            found = [
                guess_by_metric(evidence, game, todo.combined[name, channel], metrics=METRICS).score
                for (evidence, game), todo, name in zip(sides, plans, (couple.before, couple.after), strict=True)
            ]
        except JaliError as error:
            out.append(_about(couple, "auc", channel).model_copy(update={"reason": str(error)}))
            continue
        for metric in METRICS:
            rng = stream(seed, STATISTICS, 7)
            out.append(_paired_change(_about(couple, metric, channel), found[0][metric], found[1][metric], rng))
    return out


def _places(couples: list[Pair], plans: list[Plan]) -> Iterable[tuple[Pair, Channel]]:
    """What both audits attack: an explanation beside the decision or the score, and these alone."""
    for couple in couples:
        for (name, channel), trial in plans[0].combined.items():
            place: Place = (couple.after, channel)
            if name != couple.before or place not in plans[1].combined:
                continue
            if not name or trial.against is not None:
                yield couple, channel


def _paired_change(about: Change, before: Guesses, after: Guesses, rng: np.random.Generator) -> Change:
    one, other = paired(before, after)
    if not len(one.score):
        return about.model_copy(update={"reason": "nobody was explained in both audits"})
    found, _ = contrast(about.metric, other, one, rng)
    values = [estimate(about.metric, side, rng)[0].value for side in (one, other)]
    shared = len(one.score) // max(1, len(np.unique(one.unit)))
    return _filled(about, values[0], values[1], found).model_copy(update={"paired": True, "n": shared})


def _apart_membership(before: Side, after: Side, couples: list[Pair]) -> list[Change]:
    """Combined attacks by their rows, as if both audits were independent."""
    out = []
    for couple in couples:
        for row in before.results.find(kind="attack", explainer=couple.before, group="", target=None):
            if not row.combined or row.metric not in METRICS or row.channel is None:
                continue
            same = {"metric": row.metric, "channel": row.channel, "explainer": couple.after}
            found = after.results.find(kind="attack", combined=True, group="", target=None, **same)
            out += [_unpaired(_about(couple, row.metric, row.channel), row, other) for other in found[:1]]
    return out


def _numbers(before: Side, after: Side, couple: Pair) -> list[Change]:
    """Query attacks and measures that both audits have, as if they were independent."""
    out = []
    wanted: dict[str, tuple[str, ...]] = {"query attack": QUERIES, "measure": MEASURES}
    for row in before.results.rows:
        if row.explainer != couple.before or row.group or row.target is not None:
            continue
        if row.metric not in wanted.get(row.kind, ()):
            continue
        same = {"kind": row.kind, "metric": row.metric, "attack": row.attack, "knowledge": row.knowledge}
        found = after.results.find(explainer=couple.after, group="", target=None, **same)
        about = Change(
            metric=row.metric,
            kind="query attack" if row.kind == "query attack" else "measure",
            before_of=couple.before,
            after_of=couple.after,
            attack=row.attack,
        )
        changed = _beside(after.results, about, row) if row.kind == "query attack" else None
        out += [changed] if changed is not None else [_unpaired(about, row, other) for other in found[:1]]
    return out


def _beside(results: Results, about: Change, row: Row) -> Change | None:
    """A change that the later audit measured itself, because it asked both explanations about the same people."""
    same = {"metric": row.metric, "attack": row.attack, "knowledge": row.knowledge}
    rows = [
        *results.find(kind="paired", explainer=about.before_of, beside=about.after_of, **same),
        *results.find(kind="paired", explainer=about.after_of, beside=about.before_of, **same),
        *results.find(kind="change", explainer=about.after_of, beside=about.before_of, **same),
    ]
    if len(rows) != 3:
        return None
    before, after, found = rows
    number = Estimate(found.value, found.low, found.high)
    return _filled(about, before.value, after.value, number).model_copy(update={"paired": True})


def _about(couple: Pair, metric: str, channel: Channel) -> Change:
    return Change(metric=metric, kind="membership", before_of=couple.before, after_of=couple.after, channel=channel)


def _unpaired(about: Change, before: Row, after: Row) -> Change:
    sides = [Estimate(row.value, row.low, row.high, row.units, row.reason) for row in (after, before)]
    return _filled(about, before.value, after.value, apart(*sides))


def _filled(about: Change, before: float | None, after: float | None, found: Estimate) -> Change:
    known = {"before": before, "after": after, "change": found.value, "low": found.low, "high": found.high}
    return about.model_copy(update=known | {"reason": found.reason})
