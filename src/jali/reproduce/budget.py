"""Which studies to run within a given time: those that should settle most claims for it, chosen beforehand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from jali.core import registry
from jali.core.errors import JaliError
from jali.reproduce.findings import DUE
from jali.reproduce.schema import SCALES, Paper, Setup
from jali.results.reproduction import Chosen, Finding, Reproduction, Study

WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m)")
COUNTS = ("targets", "models", "repeats")  # how games say how many models are attacked


@dataclass(frozen=True)
class _Option:
    """A study with so many targets: what it costs, and how many open claims it should settle."""

    study: str
    targets: int
    hours: float
    settles: int


def hours_of(text: str) -> float:
    """A time as people write it, in hours.

    >>> hours_of("4h"), hours_of("90 min"), hours_of("30m")
    (4.0, 1.5, 0.5)
    """
    found = WRITTEN.fullmatch(text.strip())
    if found is None or float(found.group(1)) <= 0:
        raise JaliError(f"A budget is a time such as 4h or 90min, not {text!r}.")
    return float(found.group(1)) / (1 if found.group(2) == "h" else 60)


def choose(paper: Paper, earlier: Reproduction, hours: float) -> list[Chosen]:
    """Studies and their targets, best first: most open claims settled for the time, until the budget is used up.

    An open claim about one study is settled by the number of targets that its interval needs (`resolving`), and one
    that has no number yet, because a new run is due, by any. Time is that of the earlier run, in proportion to the
    targets. Claims about two studies count for neither, and a number of ours beside one as released by the authors
    for nothing.
    """
    scale = next(s for s in SCALES if s == earlier.scale)
    setups = {name: setup.at(scale) for name, setup in paper.studies.items()}
    options = [option for study in earlier.studies for option in _options(study, earlier.published, paper, setups)]
    left = hours
    out: list[Chosen] = []
    for option in sorted(options, key=lambda o: (-o.settles / o.hours, o.hours)):
        if option.hours <= left and option.study not in {c.study for c in out}:
            out.append(Chosen(**vars(option)))
            left -= option.hours
    return out


def with_targets(setup: Setup, targets: int) -> Setup:
    """A study with so many targets; games that cut folds repeat them as often as that needs."""
    game = registry.build("game", setup.game)
    count = _count(game)
    if count is None:
        raise JaliError(f"{setup.game} does not say how many models are attacked, so a budget cannot change it.")
    own: dict[str, Any] = vars(game)
    wanted = math.ceil(targets / own["k"]) if count == "repeats" else targets
    return setup.model_copy(update={"game": registry.spec(replace(game, **{count: wanted}))})


def targets_beyond(now: str, ran: str) -> int | None:
    """How many more targets a run had than the game that the file now has; None where anything else differs.

    The specification of the run comes from a file, so it names no code outside jali.

    >>> [targets_beyond("thirds(targets=4)", text) for text in ("thirds(targets=9)", "thirds(targets=2)")]
    [5, -2]
    >>> targets_beyond("thirds(targets=4)", "thirds(targets=9, most=50)")
    """
    try:
        mine = registry.build("game", now)
        theirs = registry.build("game", ran, modules=())
    except JaliError:
        return None
    count = _count(mine)
    if count is None or type(mine) is not type(theirs):
        return None
    same = replace(mine, **{count: getattr(theirs, count)}) == theirs
    return int(getattr(theirs, count) - getattr(mine, count)) if same else None


def _count(game: Any) -> str | None:
    """The field of a game that says how many models are attacked; None where it has none, or there is no game."""
    names = [field.name for field in fields(game)] if game is not None else []
    return next((name for name in COUNTS if name in names), None)


def _options(study: Study, findings: list[Finding], paper: Paper, setups: dict[str, Setup]) -> Iterator[_Option]:
    """The study with as many targets as each of its open claims needs, and never fewer than it had or the file has."""
    if study.skipped or study.scale or not study.seconds or study.name not in setups:
        return
    setup = setups[study.name]
    game = _game(setup)
    mine = [f for f in findings if studies_of(f, paper) == {study.name}]
    had = study.facts.get("targets") or max((f.units for f in mine), default=0)
    wanted = [f.needs.targets for f in mine if f.needs is not None and f.needs.targets is not None]
    wanted += [had] * sum(f.value is None and f.reason == DUE for f in mine)
    if not had or _count(game) is None:
        return
    least = max(had, _attacked(game))
    for targets in sorted({_attacked(_game(with_targets(setup, max(n, least)))) for n in set(wanted)}):
        settles = sum(needed <= targets for needed in wanted)
        yield _Option(study.name, targets, study.seconds / 3600 * targets / had, settles)


def _game(setup: Setup) -> Any:
    """The game of a study; None for scores of other people's models, which have none."""
    return registry.build("game", setup.game) if setup.game else None


def _attacked(game: Any) -> int:
    """How many models a game attacks: where it cuts folds, all folds of each cut."""
    count = _count(game)
    times = game.k if count == "repeats" else 1
    return int(getattr(game, count or "targets") * times)


def studies_of(finding: Finding, paper: Paper) -> set[str]:
    """The studies that the number of a finding is of: those whose names begin a place."""
    found = re.findall(r"([^\s/,]+) / ", finding.place)
    return {name for name in found if name in paper.studies}
