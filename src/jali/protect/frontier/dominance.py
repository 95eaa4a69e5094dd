"""Which configuration is better than which, surely and in both respects, and whether new targets agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jali.core.guesses import Estimate
from jali.protect.frontier.per_target import PerTarget, difference

ROUNDING = 1e-9
LESS_IS_BETTER = ("cost", "plausibility", "deletion")


@dataclass(frozen=True, eq=False)
class Point:
    """A configuration in one plane: what attacks reach, and a measure of utility that is larger where it is better."""

    name: str
    leak: PerTarget
    use: PerTarget

    @property
    def upper(self) -> float:
        """The upper end of what attacks reach; the number itself where there is no interval."""
        mean = self.leak.mean
        found = mean.value if mean.high is None else mean.high
        assert found is not None
        return found

    @property
    def worth(self) -> float:
        """The mean of the measure."""
        assert self.use.mean.value is not None
        return self.use.mean.value


@dataclass(frozen=True)
class Compared:
    """One configuration against another: how much more the worse one leaks, and how much more the better one is worth.

    Both differences are paired by target model and person, and are positive where `better` is better.
    """

    better: str
    worse: str
    leak: Estimate
    use: Estimate

    @property
    def sure(self) -> bool:
        """Less leakage and no less worth, by the whole of both intervals.

        Two attacks that both find nobody are no evidence, so leakage must be lower; worth may be the same, as the
        accuracy of one and the same model is.
        """
        return _above(self.leak.low, strictly=True) and _above(self.use.low)

    @property
    def holds(self) -> bool:
        """Less leakage and no less worth, by the numbers themselves."""
        return _above(self.leak.value, strictly=True) and _above(self.use.value)


def _above(x: float | None, strictly: bool = False) -> bool:
    """Whether a number is there, and is at least or above 0, rounding errors aside."""
    return x is not None and (x > ROUNDING if strictly else x >= -ROUNDING)


def compared(a: Point, b: Point, measure: str) -> Compared:
    """Configuration a against b."""
    sign = -1.0 if measure in LESS_IS_BETTER else 1.0
    return Compared(a.name, b.name, difference(b.leak, a.leak), _times(sign, difference(a.use, b.use)))


def _times(sign: float, e: Estimate) -> Estimate:
    if sign > 0 or e.value is None:
        return e
    low = None if e.high is None else -e.high
    high = None if e.low is None else -e.low
    return Estimate(-e.value, low, high, e.units, e.reason)


def dominances(points: Sequence[Point], measure: str) -> list[Compared]:
    """Every pair in which one surely leaks less and is worth no less."""
    return [c for a in points for b in points if a is not b and (c := compared(a, b, measure)).sure]


def front(points: Sequence[Point], measure: str) -> list[str]:
    """The names of those that no other beats by the upper end of the leakage and the mean of the measure."""
    sign = -1.0 if measure in LESS_IS_BETTER else 1.0

    def beats(a: Point, b: Point) -> bool:
        gains = (b.upper - a.upper, sign * (a.worth - b.worth))
        return min(gains) >= 0 and max(gains) > 0

    return [b.name for b in points if not any(beats(a, b) for a in points)]


def perhaps_front(points: Sequence[Point], surely: Sequence[Compared]) -> list[str]:
    """The names of those that none surely beats."""
    beaten = {c.worse for c in surely}
    return [p.name for p in points if p.name not in beaten]


def held(claimed: Sequence[Compared], fresh: Mapping[str, Point], measure: str) -> list[Compared | None]:
    """The claimed pairs on new targets; None where one of them has no number there."""
    out: list[Compared | None] = []
    for c in claimed:
        known = c.better in fresh and c.worse in fresh
        out.append(compared(fresh[c.better], fresh[c.worse], measure) if known else None)
    return out
