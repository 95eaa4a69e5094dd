"""Which studies to run within a given time: those that should settle most claims for it, chosen beforehand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from jali.core import registry
from jali.core.errors import JaliError
from jali.reproduce.schema import Paper, Setup
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

    An open claim about one study is settled by the number of targets that its interval needs (`resolving`). Time is
    that of the earlier run, in proportion to the targets. Claims about two studies count for neither.
    """
    options = [option for study in earlier.studies for option in _options(study, earlier.findings, paper)]
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
    names = [field.name for field in fields(game)]
    count = next((name for name in COUNTS if name in names), None)
    if count is None:
        raise JaliError(f"{setup.game} does not say how many models are attacked, so a budget cannot change it.")
    own: dict[str, Any] = vars(game)
    wanted = math.ceil(targets / own["k"]) if count == "repeats" else targets
    return setup.model_copy(update={"game": registry.spec(replace(game, **{count: wanted}))})


def _options(study: Study, findings: list[Finding], paper: Paper) -> Iterator[_Option]:
    """The study with as many targets as each of its open claims needs."""
    if study.skipped or not study.seconds or study.name not in paper.studies:
        return
    mine = [f for f in findings if not f.ours and f.needs is not None and studies_of(f, paper) == {study.name}]
    wanted = [(f.needs.targets, f.units) for f in mine if f.needs is not None and f.needs.targets is not None]
    for targets, units in sorted(set(wanted)):
        settles = sum(needed <= targets for needed, _ in wanted)
        yield _Option(study.name, targets, study.seconds / 3600 * targets / units, settles)


def studies_of(finding: Finding, paper: Paper) -> set[str]:
    """The studies that the number of a finding is of."""
    found = set(re.findall(r"(?:^|less |of |, )([^/,]+?) / ", finding.place))
    return {name for name in found if name in paper.studies}
