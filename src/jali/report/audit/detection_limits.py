"""What is said of an addition that was not found: less than so much, or too small to tell and what it would take.

Everything is said in AUC, in which the positive control plants its additions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jali.core.values import Channel
from jali.report import resolution, views, words
from jali.report.audit.controls import in_ten
from jali.results import PositiveControl, Results, Row

Kind = Literal["bounded", "small", "blind", "unknown"]
BASELINES = {Channel.SCORE: "the score alone", Channel.DECISION: "the bare decision"}
UNKNOWN = "this audit cannot say what it could have found"
SMALL = f"{resolution.SMALL:g}"


@dataclass(frozen=True)
class Limit:
    """One explanation beside one baseline, by its difference in AUC.

    least: the addition from which on this audit would have found one; None if unknown, infinite if none is possible.
    room: what the baseline leaves.
    """

    row: Row
    least: float | None
    room: float
    control: PositiveControl | None = None

    @property
    def found(self) -> float:
        """The same whether possible or not; zero if that is not known."""
        return max(self.row.high or 0.0, self.row.detectable or 0.0)

    @property
    def kind(self) -> Kind:
        """Whether less than SMALL would have been found, only more, no planted addition, or nobody knows."""
        if self.least is None:
            return "blind" if self.control is not None and self.control.sizes else "unknown"
        return "bounded" if self.least <= resolution.SMALL else "small"

    @property
    def reason(self) -> str:
        """Why nobody knows, empty if no reason was recorded."""
        if self.control is None or self.kind != "unknown":
            return ""
        if not self.control.reason and self.room < resolution.SMALL:
            return f"{_leaves(self)}, too little to plant"
        return self.control.reason.rstrip(".")


def limit(results: Results, row: Row) -> Limit:
    """What is known of the difference in AUC that a row is."""
    baseline = views.side(results, row, row.against)
    least = resolution.addition_found(row, baseline)
    return Limit(row, least, resolution.room(row, baseline), views.control(results, row))


def clause(limits: Sequence[Limit], what: str = "") -> str:
    """The rest of a sentence on explanations of the same kind; the widest speaks for all. what: they add, in words.

    >>> row = Row(kind="contrast", metric="auc", value=0.0, low=-0.01, high=0.01, detectable=0.0112)
    >>> clause([Limit(row, 0.0112, 0.4)])
    'for the attacks tried it adds less than 0.012 in AUC: an addition of 0.012 would have been found in 8 of 10 audits like this'
    """  # noqa: E501
    widest = max(limits, key=lambda x: x.found)
    if widest.kind == "bounded":
        return _bounded(widest, limits)
    if widest.kind == "small":
        return f"this audit is too small to tell{what}: {_small(widest, limits)}"
    if widest.kind == "blind":
        return f"this audit is too small to tell{what}: {_blind(limits)}"
    return UNKNOWN + (f", as there is no positive control: {widest.reason}" if widest.reason else "")


def _bounded(widest: Limit, limits: Sequence[Limit]) -> str:
    each = "it" if len(limits) == 1 else "each of them"
    least = max(x.row.detectable or 0.0 for x in limits)
    return (
        f"for the attacks tried {each} adds less than {words.above(widest.found)} in AUC{_about(widest, limits)}: an "
        f"addition of {words.above(least)} would have been found in {resolution.IN_TEN} audits like this"
    )


def _small(widest: Limit, limits: Sequence[Limit]) -> str:
    finds = f"it finds additions of {words.above(widest.found)} in AUC or more in {resolution.IN_TEN} cases"
    said = f"{finds}{_about(widest, limits)}"
    if widest.least == math.inf:
        said += f", and {_leaves(widest)}"
    many = _needed(widest)
    return f"{said}; to find {SMALL}, about {many} are needed" if many and widest.room > resolution.SMALL else said


def _blind(limits: Sequence[Limit]) -> str:
    """Not even the largest addition that was planted would be found."""
    controls = [x.control for x in limits if x.control is not None]
    worst = min(controls, key=lambda c: c.power[-1])
    return (
        f"an addition of {worst.sizes[-1]:g} in AUC would be found in {in_ten(worst.power[-1])} "
        f"audits like this, and how many people it takes to find {SMALL} cannot be said"
    )


def _needed(limit: Limit) -> str:
    """So many people, or target models where there are several now."""
    row = limit.row
    explained = " with an explanation" if words.covered(row) else ""
    parts = [
        f"{resolution.needed(row.n, limit.found):,} people{explained}" if row.n else "",
        f"{resolution.needed(row.units, limit.found):,} target models" if row.units > 1 else "",
    ]
    return " or ".join(filter(None, parts))


def _about(widest: Limit, limits: Sequence[Limit]) -> str:
    """In brackets: which of several explanations, and on which part of the people."""
    name = widest.row.explainer if len(limits) > 1 else ""
    about = ", ".join(filter(None, [name, words.covered(widest.row)]))
    return f" ({about})" if about else ""


def _leaves(limit: Limit) -> str:
    baseline = "the baseline" if limit.row.against is None else BASELINES[limit.row.against]
    return f"{baseline} leaves room for {words.number(limit.room)}"
