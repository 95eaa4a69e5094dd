"""One frontier: the same two games for all configurations; attacks and choices on the first, numbers on the second."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jali.audit.setup import Experiment, Resources, Setup, load
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.core.values import Schema
from jali.protect.frontier import leakage
from jali.protect.frontier.candidates import Candidate, candidates
from jali.protect.frontier.choice import FIRST, LOSS, chosen_one
from jali.protect.frontier.dominance import Point, dominances, front, held, perhaps_front
from jali.protect.frontier.leakage import Attempt, Family, Setups
from jali.protect.frontier.numbers import mean_of, number
from jali.protect.frontier.per_target import PerTarget
from jali.protect.frontier.utility import Utility, everybody, utilities
from jali.results.frontier import (
    Configuration,
    Dominance,
    Frontier,
    Leak,
    Plane,
    Selection,
    Worth,
)

METRICS = ("auc", "tpr@0.01")


@dataclass(frozen=True)
class Round:
    """Everything that was measured in one game."""

    setup: Setup
    attempts: list[Attempt]
    uses: list[Utility]


def compare(
    experiment: Experiment, defences: Sequence[str], resources: Resources, loss: float = LOSS, called: str = ""
) -> Frontier:
    """Compare the explainers of an experiment with defences, each named by a specification that may have alternatives.

    The game is drawn twice, with no model in common: on the targets of the first draw (validation), attacks and
    configurations are chosen; the targets of the second (fresh) report them. called: the name of a user's own trainer.
    """
    began = time.perf_counter()
    if not experiment.explain:
        raise JaliError("Name the unprotected explainer to compare with, such as --explain nice.")
    if not defences:
        raise JaliError('Name defences to compare, such as --defend "k_groups(k=5|10|20)".')
    first = load(experiment)
    fresh = replace(experiment, seed=experiment.seed + 1)
    second = replace(first, parts=fresh).with_game(fresh.game)
    chosen = candidates(experiment.model, experiment.explain, defences, first.data, called)
    rounds = [_round(setup, chosen, resources) for setup in (first, second)]
    found = _joined(rounds[0], rounds[1], chosen, loss)
    return found.model_copy(update={"seconds": time.perf_counter() - began})


def _round(setup: Setup, chosen: Sequence[Candidate], resources: Resources) -> Round:
    setups = _by_trainer(setup, chosen)
    attempts = leakage.membership(setups, METRICS, resources)
    attempts += leakage.identity(setups, len(setup.game.targets), resources)
    return Round(setup, attempts, utilities(setup, chosen, resources))


def _by_trainer(setup: Setup, chosen: Sequence[Candidate]) -> Setups:
    """One setup for each trainer, in the same game, with all explainers of its models."""
    by_trainer: dict[str, list[Candidate]] = {}
    for candidate in chosen:
        by_trainer.setdefault(candidate.trains, []).append(candidate)
    out = []
    for some in by_trainer.values():
        parts = tuple({c.explains: c.explainer for c in some}.values())
        out.append((setup.with_parts(model=some[0].trainer, explain=parts), some))
    return out


def _joined(first: Round, second: Round, chosen: Sequence[Candidate], loss: float) -> Frontier:
    schema = first.setup.data.schema
    strongest = _strongest(first.attempts)
    again = {(a.candidate, a.family, a.attack): a.found for a in second.attempts}
    leaks = {key: (a, again[(*key, a.attack)]) for key, (a, _) in strongest.items()}
    planes = _planes(strongest, leaks, first, second, chosen)
    uses = {(u.candidate, u.measure): u.found for u in everybody(first.uses)}
    fresh = {name: found for (name, family), (_, found) in leaks.items() if family == FIRST}
    return Frontier(
        validation_targets=len(first.setup.game.targets),
        fresh_targets=len(second.setup.game.targets),
        people=len(set(first.setup.data.group_numbers().tolist())),
        configurations=[_configuration(c, schema) for c in chosen],
        leaks=[_leak(a, tried, leaks[key][1]) for key, (a, tried) in strongest.items()],
        worth=_worth(first, second),
        planes=planes,
        choice=chosen_one(chosen, _found(strongest), fresh, uses, loss),
        selection=_selection(chosen, first.setup, any(a.family.learns == "identity" for a in first.attempts)),
        notes=list(schema.notes),
    )


def _found(strongest: Strongest) -> dict[str, PerTarget | str]:
    """What the strongest attack of the first family reached, by configuration."""
    return {name: attempt.found for (name, family), (attempt, _) in strongest.items() if family == FIRST}


Strongest = dict[tuple[str, Family], tuple[Attempt, int]]


def _strongest(attempts: Sequence[Attempt]) -> Strongest:
    """Of each configuration and family the attack that reached most, and how many were tried."""
    out: Strongest = {}
    for attempt in attempts:
        key = (attempt.candidate, attempt.family)
        best, tried = out.get(key, (attempt, 0))
        out[key] = (attempt if _value(attempt.found) > _value(best.found) else best, tried + 1)
    return out


def _value(found: PerTarget | str) -> float:
    if isinstance(found, str) or found.mean.value is None:
        return -math.inf
    return found.mean.value


def _planes(
    strongest: Strongest,
    leaks: dict[tuple[str, Family], tuple[Attempt, PerTarget | str]],
    first: Round,
    second: Round,
    chosen: Sequence[Candidate],
) -> list[Plane]:
    """Each kind of leakage against each measure: fronts and dominances of the first round, and whether they hold."""
    uses = {(u.candidate, u.measure): u.found for u in everybody(first.uses)}
    later = {(u.candidate, u.measure): u.found for u in everybody(second.uses)}
    out = []
    for family in dict.fromkeys(family for _, family in strongest):
        for measure in dict.fromkeys(measure for _, measure in uses):
            names = [c.name for c in chosen if (c.name, family) in strongest]
            points = _points(names, {n: strongest[n, family][0].found for n in names}, uses, measure)
            fresh = _points(names, {n: leaks[n, family][1] for n in names}, later, measure)
            if len(points) > 1:
                out.append(_plane(family, measure, points, fresh))
    return out


def _points(
    names: Sequence[str],
    leaks: dict[str, PerTarget | str],
    uses: dict[tuple[str, str], PerTarget | str],
    measure: str,
) -> list[Point]:
    out = []
    for name in names:
        leak = leaks[name]
        use = uses.get((name, measure), "")
        if not isinstance(leak, str) and not isinstance(use, str):
            out.append(Point(name, leak, use))
    return out


def _plane(family: Family, measure: str, points: Sequence[Point], fresh: Sequence[Point]) -> Plane:
    claimed = dominances(points, measure)
    seen = held(claimed, {p.name: p for p in fresh}, measure)
    return Plane(
        learns=family.learns,
        channel=family.channel,
        metric=family.metric,
        measure=measure,
        front=front(points, measure),
        perhaps=perhaps_front(points, claimed),
        dominances=[
            Dominance(
                better=c.better,
                worse=c.worse,
                leak=number(c.leak),
                use=number(c.use),
                fresh_leak=None if s is None else number(s.leak),
                fresh_use=None if s is None else number(s.use),
                holds=None if s is None else s.holds,
                sure_again=None if s is None else s.sure,
            )
            for c, s in zip(claimed, seen, strict=True)
        ],
    )


def _configuration(candidate: Candidate, schema: Schema) -> Configuration:
    given = candidate.guarantee(schema)
    return Configuration(
        name=candidate.name,
        family=candidate.family,
        model=candidate.trains,
        explain=candidate.explains,
        guarantee="" if given is None else _stated(given),
        void="" if given is None else given.void or given.refuted,
    )


def _stated(given: Guarantee) -> str:
    said = str(replace(given, void=""))
    return said if given.covers else f"{said}, for the rows that explanations are made from; the model is not covered"


def _leak(chosen: Attempt, tried: int, fresh: PerTarget | str) -> Leak:
    family = chosen.family
    return Leak(
        configuration=chosen.candidate,
        learns=family.learns,
        channel=family.channel,
        metric=family.metric,
        attack=chosen.attack,
        tried=tried,
        validation=mean_of(chosen.found),
        fresh=mean_of(fresh),
    )


def _worth(first: Round, second: Round) -> list[Worth]:
    later = {(u.candidate, u.measure, u.group): u for u in second.uses}
    out = []
    for use in first.uses:
        fresh = later.get((use.candidate, use.measure, use.group))
        if fresh is None or (isinstance(use.found, str) and isinstance(fresh.found, str)):
            continue
        out.append(
            Worth(
                configuration=use.candidate,
                measure=use.measure,
                group=use.group,
                n=fresh.people,
                validation=mean_of(use.found),
                fresh=mean_of(fresh.found),
            )
        )
    return out


def _selection(chosen: Sequence[Candidate], setup: Setup, linked: bool) -> Selection:
    """What the first round cost the people in it, where it has a price at all."""
    models = setup.game.member.shape[1] + (len(setup.game.targets) if linked else 0)
    claims = [c.guarantee(setup.data.schema) for c in chosen]
    private = [g for g in claims if g is not None and not g.void and not g.refuted]
    answers = len(setup.data)
    each = [g.epsilon * (answers if g.per == "release" else 1) for g in private]
    trainers = {c.trains for c in chosen}
    return Selection(
        models=models * len(trainers),
        private=len(private),
        epsilon=float(models * sum(each)),
        delta=float(min(1.0, models * sum(g.delta for g in private))),
        bits=math.log2(len(chosen)),
    )
