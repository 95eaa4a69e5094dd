"""The methods of a critical-difference diagram: their values in each setting, their ranks, and claims about these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jali.audit.one_model import STATISTICS, stream
from jali.core.errors import JaliError
from jali.core.guesses import Estimate
from jali.core.values import Floats
from jali.reproduce.numbers import Ran, number
from jali.reproduce.schema import Paper, Sentence, place
from jali.reproduce.schema_figures import CriticalDifference
from jali.stats.ranks import Ranking, rank_apart, ranking

FEWEST = 2  # settings in which every method has a number
RANKS = 7  # the stream of draws of ranks


def estimates_of(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> list[list[Estimate]]:
    """By setting, one number per method, of the settings in which every method has one."""
    by_method = [[_estimate(p, diagram.metric, ran, paper) for p in places] for places in diagram.methods.values()]
    return [list(row) for row in zip(*by_method, strict=True) if all(e.value is not None for e in row)]


def values_of(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> Floats:
    """Values (n settings, k methods) in the settings in which every method has a number."""
    found = [[e.value for e in row] for row in estimates_of(diagram, ran, paper)]
    return np.array(found, dtype=np.float64).reshape(-1, len(diagram.methods))


def ranked(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> Ranking:
    """Average ranks of the methods of a diagram; refused where fewer than two settings have all of them."""
    values = values_of(diagram, ran, paper)
    if len(values) < FEWEST:
        raise JaliError(f"Every method has a number in {len(values)} settings; ranks need {FEWEST} or more.")
    return ranking(list(diagram.methods), values)


def judged(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """The number of a sentence about ranks: how far apart two methods are, or the two that are farthest apart.

    rank: by how much the rank of `more` is better than that of `less`, on average over the settings of the paper. These
    are given: the interval is that of our numbers in them. alike: the largest difference of two average ranks in
    critical distances, which allow for ranks that differ from setting to setting; two methods differ where it is one.
    """
    diagram = paper.diagram(sentence)
    found = ranked(diagram, ran, paper)
    if sentence.kind == "alike":
        widest = float((found.rank.max() - found.rank.min()) / found.distance)
        return Estimate(widest, widest, widest, found.settings)
    numbers = estimates_of(diagram, ran, paper)
    low = np.array([[e.low for e in row] for row in numbers], dtype=np.float64)
    high = np.array([[e.high for e in row] for row in numbers], dtype=np.float64)
    labels = list(diagram.methods)
    more = labels.index(sentence.more)
    less = labels.index(sentence.less)
    rng = stream(max(one.seed for one in ran.values()), STATISTICS, RANKS)
    apart = rank_apart(values_of(diagram, ran, paper), low, high, more, less, rng)
    if np.isfinite(low).all() and np.isfinite(high).all():
        return apart
    return replace(apart, low=None, high=None, reason="A number of this diagram has no interval.")


def _estimate(text: str, metric: str, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """The number at a place; none where its study has none."""
    study, method = place(text)
    return number(ran[study], method, metric, paper) if study in ran else Estimate(None)
