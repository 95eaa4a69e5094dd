"""What each configuration is worth to people who ask: measured on non-members of every target, the same for all."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.audit.one_model import EXPLAIN, STATISTICS, TRAIN, preparations, stream
from jali.audit.preparations import Preparations
from jali.audit.setup import Resources, Setup
from jali.core.explanation import Explanation
from jali.core.guarantee import unannounced
from jali.core.values import Bools, Dataset, Floats, Ints
from jali.parallel import fan_out
from jali.protect.frontier.candidates import Candidate
from jali.protect.frontier.per_target import UNBOUNDED, PerTarget, of_people
from jali.protect.price import EVERYBODY, RATES, groups_of, measures

ASKED = 400  # people of each target whose explanations are measured
SHOWN = (
    *("accuracy", "answered", "valid", "cost", "plausibility", "fidelity"),
    *("agreement", "deletion", "insertion", "imitation"),
)

BOUNDS = dict.fromkeys((*RATES, "fidelity", "deletion", "insertion"), (0.0, 1.0)) | {
    "agreement": (-1.0, 1.0),
    "cost": (0.0, np.inf),
    "plausibility": (0.0, np.inf),
}


class Cells(NamedTuple):
    """One measure of one configuration under one target: values (n,), and where it is defined (n,)."""

    value: Floats
    defined: Bools


@dataclass(frozen=True)
class Utility:
    """One measure of one configuration, of everybody or of a sensitive group, or why there is none."""

    candidate: str
    measure: str
    group: str
    found: PerTarget | str
    people: int


@dataclass(frozen=True)
class _Task:
    """One target: its data, who trains it, who asks, and its number, which names its random streams."""

    data: Dataset
    member: Bools
    asks: Ints
    seed: int
    number: int
    candidates: tuple[Candidate, ...]


def utilities(setup: Setup, some: Sequence[Candidate], resources: Resources) -> list[Utility]:
    """All measures of all configurations, over the targets of a game; the first one is what fidelity compares with."""
    game = setup.game
    tasks = []
    for at, number in enumerate(game.targets.tolist()):
        outside = np.flatnonzero(game.scored[:, at] & ~game.member[:, number])
        rng = stream(setup.parts.seed, STATISTICS, 7, number)
        asks = np.sort(rng.permutation(outside)[:ASKED])
        tasks.append(_Task(setup.data, game.member[:, number], asks, setup.parts.seed, number, tuple(some)))
    done = list(fan_out(_measured, tasks, resources.pool, resources.watch("measuring")))
    groups = dict(groups_of(setup.data))
    person = setup.data.group_numbers()
    out = []
    for candidate in some:
        for measure in SHOWN:
            if not all(measure in found[candidate.name] for found in done):
                continue
            cells = [found[candidate.name][measure] for found in done]
            for group, inside in groups.items():
                out.append(_joined(candidate.name, measure, group, cells, tasks, inside, person))
    return out


def _joined(
    candidate: str,
    measure: str,
    group: str,
    cells: Sequence[Cells],
    tasks: Sequence[_Task],
    inside: Bools,
    person: Ints,
) -> Utility:
    """One measure over all targets, of the people inside a group (N,)."""
    kept = [c.defined & inside[t.asks] for c, t in zip(cells, tasks, strict=True)]
    value = np.concatenate([c.value[k] for c, k in zip(cells, kept, strict=True)])
    who = np.concatenate([person[t.asks[k]] for t, k in zip(tasks, kept, strict=True)])
    unit = np.repeat(np.arange(len(tasks)), [int(k.sum()) for k in kept])
    found = of_people(value, unit, who, BOUNDS.get(measure, UNBOUNDED), measure in RATES)
    return Utility(candidate, measure, group, found, len(np.unique(who)))


@unannounced()
def _measured(task: _Task) -> dict[str, dict[str, Cells]]:
    """The measures of each configuration under one target."""
    people = task.data.rows(task.asks)
    made: dict[str, Preparations] = {}
    for candidate in task.candidates:
        if candidate.trains not in made:
            rng = stream(task.seed, TRAIN, task.number)
            model = candidate.trainer.fit(task.data, task.member[:, None], [rng])[0]
            made[candidate.trains] = preparations(model, task.data, task.member, task.seed, task.number)
    first = task.candidates[0]
    plain = _explained(first, made[first.trains], people, task)
    out = {}
    for candidate in task.candidates:
        ready = made[candidate.trains]
        original = None if candidate.trains == first.trains else made[first.trains].model
        found = measures(ready.model, people, _explained(candidate, ready, people, task), plain, original)
        out[candidate.name] = {name: Cells(m.value, m.defined) for name, m in found.items() if name in SHOWN}
    return out


def _explained(candidate: Candidate, ready: Preparations, people: Dataset, task: _Task) -> Explanation:
    rng = stream(task.seed, EXPLAIN, zlib.crc32(candidate.explains.encode()), task.number, 0)
    return ready.of(candidate.explainer).explain(people.X, rng)


def everybody(found: Sequence[Utility]) -> list[Utility]:
    """Those that are about everybody."""
    return [each for each in found if each.group == EVERYBODY]
