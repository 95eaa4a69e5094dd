"""The methods of a critical-difference diagram: their values in each setting, their ranks, and claims about these."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.guesses import Estimate
from jali.core.values import Floats
from jali.reproduce.numbers import Ran, number
from jali.reproduce.schema import Paper, Sentence, place
from jali.reproduce.schema_figures import CriticalDifference
from jali.stats.intervals import over_units
from jali.stats.ranks import Ranking, ranking

FEWEST = 2  # settings in which every method has a number


def values_of(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> Floats:
    """Values (n settings, k methods) in the settings in which every method has a number."""
    found = [[_value(p, diagram.metric, ran, paper) for p in places] for places in diagram.methods.values()]
    values = np.array(found, dtype=np.float64).T
    return np.asarray(values[np.isfinite(values).all(axis=1)])


def ranked(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> Ranking:
    """Average ranks of the methods of a diagram; refused where fewer than two settings have all of them."""
    values = values_of(diagram, ran, paper)
    if len(values) < FEWEST:
        raise JaliError(f"Every method has a number in {len(values)} settings; ranks need {FEWEST} or more.")
    return ranking(list(diagram.methods), values)


def judged(sentence: Sentence, ran: dict[str, Ran], paper: Paper) -> Estimate:
    """The number of a sentence about ranks: how far apart two methods are, or the two that are farthest apart.

    rank: by how much the rank of `more` is better than that of `less`, on average over settings, with a t-interval over
    them. alike: the largest difference of two average ranks in critical distances: two methods differ where it is one.
    """
    diagram = paper.diagram(sentence)
    found = ranked(diagram, ran, paper)
    if sentence.kind == "alike":
        widest = float((found.rank.max() - found.rank.min()) / found.distance)
        return Estimate(widest, widest, widest, found.settings)
    from scipy.stats import rankdata

    ranks = rankdata(-values_of(diagram, ran, paper), axis=1)
    labels = list(diagram.methods)
    better = ranks[:, labels.index(sentence.less)] - ranks[:, labels.index(sentence.more)]
    return over_units(better, bounds=(-np.inf, np.inf))


def _value(text: str, metric: str, ran: dict[str, Ran], paper: Paper) -> float:
    """The number at a place; not a number where there is none."""
    study, method = place(text)
    found = number(ran[study], method, metric, paper).value if study in ran else None
    return np.nan if found is None else found
