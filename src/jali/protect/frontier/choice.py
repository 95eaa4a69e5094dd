"""The configuration to use: it surely leaks less than what is shown today, and loses little."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from jali.core.values import Channel
from jali.protect.frontier.candidates import UNPROTECTED, Candidate
from jali.protect.frontier.leakage import Family
from jali.protect.frontier.numbers import number
from jali.protect.frontier.per_target import PerTarget, difference
from jali.results.frontier import Choice, Number

FIRST = Family("membership", Channel.DECISION_AND_EXPLANATION, "auc")  # what is shown first and chosen by
KEPT = ("accuracy", "answered", "valid")  # measures that a choice may not lose much of
LOSS = 0.05  # of each of them, against the unprotected configuration
Found = Mapping[str, PerTarget | str]
Uses = Mapping[tuple[str, str], PerTarget | str]


def chosen_one(some: Sequence[Candidate], before: Found, fresh: Found, uses: Uses, loss: float) -> Choice:
    """The choice on the validation targets, and what it saves on fresh ones.

    before and fresh: what attacks of the first family reach, by configuration; uses: measures on the validation
    targets.
    """
    plain = some[0].name
    kept = [m for m in KEPT if (plain, m) in uses]
    rule = (
        f"the least upper end of the AUC of membership from decision and explanation, among the configurations that "
        f"surely leak less than {plain} and lose no more than {loss:g} of {', '.join(kept)}"
    )
    less = [c.name for c in some if c.family != UNPROTECTED and leaks_less(before, plain, c.name)]
    lost = {name: max((_lost(uses, plain, name, m) for m in kept), default=0.0) for name in less}
    good = [name for name in less if lost[name] <= loss]
    if good:
        name = min(good, key=lambda n: _upper(before[n]))
        return Choice(configuration=name, rule=rule, saved=_saved(fresh, plain, name))
    instead = min(less, key=lambda n: lost[n]) if less else ""
    return Choice(configuration="", rule=rule, instead=instead, saved=_saved(fresh, plain, instead))


def leaks_less(found: Found, plain: str, name: str) -> bool:
    """Whether a configuration surely leaks less than another, by the whole interval of the paired difference."""
    a = found.get(plain, "")
    b = found.get(name, "")
    if isinstance(a, str) or isinstance(b, str):
        return False
    low = difference(a, b).low
    return low is not None and low > 0


def _lost(uses: Uses, plain: str, name: str, measure: str) -> float:
    """How much less a configuration is worth; infinite where that is not known."""
    a = uses.get((plain, measure), "")
    b = uses.get((name, measure), "")
    if isinstance(a, str) or isinstance(b, str) or a.mean.value is None or b.mean.value is None:
        return math.inf
    return a.mean.value - b.mean.value


def _upper(found: PerTarget | str) -> float:
    assert not isinstance(found, str)
    mean = found.mean
    return float((mean.value if mean.high is None else mean.high) or 0.0)


def _saved(found: Found, plain: str, name: str) -> Number | None:
    a = found.get(plain, "")
    b = found.get(name, "")
    if isinstance(a, str) or isinstance(b, str):
        return None
    return number(difference(a, b))
