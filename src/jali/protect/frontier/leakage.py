"""What attacks reach on each configuration: the same game and people, models shared by those that train alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jali.audit import queries
from jali.audit.all_models import RunRecord, gather
from jali.audit.plan import Plan, plan, with_gaps
from jali.audit.setup import Resources, Setup
from jali.audit.trials import Trial, guess_by_metric
from jali.core import registry
from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.metrics import metric as metric_of
from jali.core.values import Channel, Evidence, Game, Unit
from jali.games.outsiders import Outsiders
from jali.parallel import Ref, fan_out, sharing
from jali.protect.frontier.candidates import Candidate
from jali.protect.frontier.per_target import PerTarget, of_guesses, of_people
from jali.store import Arrays

SEEN = (
    Channel.EXPLANATION,
    Channel.DECISION_AND_EXPLANATION,
    Channel.SCORE_AND_EXPLANATION,
)  # each shows the one before
ASKED = 300  # people outside the training set whose answers linkage reads, for each target


Setups = Sequence[tuple[Setup, Sequence[Candidate]]]


@dataclass(frozen=True)
class Family:
    """Attacks that are after the same thing and see the same: what they learn, and the channel (None: the answer)."""

    learns: Harm
    channel: Channel | None
    metric: str


LINKED = {  # by metric of linkage: who is named rightly, and what is learnt of the person named beyond a guess
    "reidentified": Family("identity", None, "reidentified"),
    "disclosure_advantage": Family("attributes", None, "disclosure_advantage"),
}


@dataclass(frozen=True)
class Attempt:
    """One attack of a family on one configuration; found: what it reached, or why that is not defined."""

    candidate: str
    family: Family
    attack: str
    found: PerTarget | str


def membership(setups: Setups, metrics: Sequence[str], resources: Resources) -> list[Attempt]:
    """All planned attacks on the signals of each configuration; setups: one for each trainer, in the same game."""
    out: list[Attempt] = []
    for setup, some in setups:
        found = gather(setup, resources)
        evidence = with_gaps(found.evidence, setup.game)
        todo = plan(evidence, setup.game, setup.parts.attack)
        out += _attacked(setup, evidence, todo, some, metrics, resources)
    return out


@dataclass(frozen=True)
class _Job:
    """One trial; evidence and game are shared by all jobs. at: the places of its signals there."""

    trial: Trial
    shared: Ref
    at: tuple[int, ...]
    units: tuple[Unit, ...]
    metrics: tuple[str, ...]


def _attacked(
    setup: Setup,
    evidence: Evidence,
    todo: Plan,
    some: Sequence[Candidate],
    metrics: Sequence[str],
    resources: Resources,
) -> list[Attempt]:
    by_spec = {candidate.explains: candidate.name for candidate in some}
    trials = [t for t in (*todo.combined.values(), *todo.singles) if t.explainer in by_spec and t.channel in SEEN]
    with sharing(_arrays(evidence, setup), resources.pool, resources.place) as ref:
        jobs = []
        for trial in trials:
            at = tuple(evidence.names.index(name) for name in trial.names)
            jobs.append(_Job(trial, ref, at, tuple(evidence.units[i] for i in at), tuple(metrics)))
        done = list(fan_out(_run, jobs, resources.pool, resources.watch("attacking")))
    out = []
    for trial, found in zip(trials, done, strict=True):
        signals = "" if trial.attack.many else f" on {trial.names[0].signal}"
        attack = registry.spec(trial.attack) + signals
        for metric, number in found.items():
            out += _attempts(by_spec[trial.explainer], trial.channel, metric, attack, number)
    return out


def _attempts(candidate: str, channel: Channel, metric: str, attack: str, found: PerTarget | str) -> list[Attempt]:
    """One attack as an attempt of every attacker who sees what it reads: whoever sees more may ignore the rest."""
    out = []
    for seen in SEEN[SEEN.index(channel) :]:
        name = attack if seen == channel else f"{attack} of {channel.label}"
        out.append(Attempt(candidate, Family("membership", seen, metric), name, found))
    return out


def _arrays(evidence: Evidence, setup: Setup) -> Arrays:
    game = setup.game
    arrays: Arrays = {"value": evidence.value, "observed": evidence.observed, "member": game.member}
    arrays |= {"targets": game.targets, "shadows": game.shadows, "scored": game.scored}
    arrays |= {"person": setup.data.group_numbers()}
    optional = {"asked": game.asked, "aside": game.aside, "weight": game.weight}
    return arrays | {name: array for name, array in optional.items() if array is not None}


def _run(job: _Job) -> dict[str, PerTarget | str]:
    """What one trial reaches, by metric."""
    arrays = job.shared.read()
    where = list(job.at)
    evidence = Evidence(job.trial.names, arrays["value"][where], arrays["observed"][where], arrays["member"], job.units)
    more = arrays.get("asked"), arrays.get("aside"), arrays.get("weight")
    game = Game(arrays["member"], arrays["targets"], arrays["shadows"], arrays["scored"], *more)
    try:
        found = guess_by_metric(evidence, game, job.trial, None, arrays["person"], job.metrics)
    except JaliError as error:
        return dict.fromkeys(job.metrics, str(error))
    return {metric: of_guesses(metric, guesses) for metric, guesses in found.score.items()}


def identity(setups: Setups, targets: int, resources: Resources) -> Iterator[Attempt]:
    """Linkage by somebody who knows the quasi-identifiers of the training people, for each configuration.

    People outside the training set ask; the attack names the training person whom an answer shows.
    """
    attack = registry.build("query_attack", queries.LINKAGE)
    for setup, some in setups:
        shown = [c for c in some if c.explainer.gives == "counterfactual"]
        if not shown or not queries.identifiable(setup.data):
            continue
        runs = queries.runs([attack], [c.explainer for c in shown])
        most = max(1, min(ASKED, len(setup.data) // 5))
        mine = setup.with_game(Outsiders(targets=targets, most=most), explain=(), signal=(), attack=(), runs=runs)
        by_spec = {c.explains: c.name for c in shown}
        for record in gather(mine, resources).runs:
            for metric, family in LINKED.items():
                yield Attempt(by_spec[record.run.queried], family, queries.LINKAGE, _linked(record, metric, mine))


def _linked(record: RunRecord, metric: str, setup: Setup) -> PerTarget | str:
    """One metric of a linkage attack, or why there is none."""
    if record.failed or record.values is None or record.defined is None:
        return record.failed or "No answer was given."
    at = record.run.grader.per_record.index(metric)
    unit, rows = np.nonzero(setup.game.scored.T)
    told = record.defined[at]
    about = metric_of(metric)
    who = setup.data.group_numbers()[rows[told]]
    return of_people(record.values[at][told], unit[told], who, (about.low, about.high), about.yes_no)
