"""Distinguishers: rules, learnt on some draws, that separate the answers of two neighbouring data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from jali.core.values import Bools, Floats, Rng
from jali.stats.epsilon import event_bound
from jali.stats.roc import auc, steps
from jali.verify.answers import Answers
from jali.verify.learners import FULL, Named, Score
from jali.verify.views import ROUNDING, Views, views, worthwhile

LEVEL = 0.95
LEADING = 0.5 * (1 - LEVEL)  # how often the bound of the test that was best beforehand may be wrong
CAUTION = 1e-4  # error of the bounds that choose thresholds; at a larger one, rare events would be chosen by chance
DOUBT = 1e-3  # the same if that shows nothing; it also ranks distinguishers
BOLD = 0.0125  # the same for rules about rare answers, at twice their counts: what the evaluated draws may show
SELDOM = 0.05  # the largest share of answers that are rare
RARE = "rare answers"
CLOSE = ("boosted trees", "nearest neighbours")  # methods that always fit the draws that they were learnt on
NO_RECORD: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Distinguisher:
    """A rule that guesses the data set of an answer: a score of one view of the answer, and a threshold.

    above: whether the event is a score of at least the threshold, which points to the first data set, or one below it,
    which points to the second. statistic: the name of the method that learnt the score. held_out: the bound on epsilon
    and the AUC on draws that were not used for learning the score.
    """

    view: str
    statistic: str
    seen: Views
    score: Score
    threshold: float
    above: bool
    held_out: tuple[float, float]

    def counts(self, answers: Answers, first: Bools) -> tuple[int, int]:
        """How often the event occurs in the data set to which it points, and in the other."""
        flagged = (self.score(self.seen.table(self.view, answers)) >= self.threshold) == self.above
        pointed = first == self.above
        return int(np.count_nonzero(flagged & pointed)), int(np.count_nonzero(flagged & ~pointed))

    def bound(self, answers: Answers, first: Bools, delta: float, error: float = LEADING) -> float:
        """The lower bound on epsilon from new draws, wrong with probability `error`; first (T,): of the first set."""
        more, less = self.counts(answers, first)
        bound = float(event_bound(np.array([more]), np.array([less]), len(answers) // 2, delta, error)[0])
        return max(0.0, bound - ROUNDING.get(self.view, 0.0))


def learn(
    answers: Answers,
    first: Bools,
    delta: float,
    rng: Rng,
    record: tuple[Floats, Floats] = NO_RECORD,
    methods: Mapping[str, Named] = FULL,
) -> dict[str, Distinguisher]:
    """The best distinguisher for each view of answers (T,), and the best one for rare answers of any view.

    Scores are learnt on one half of the answers; thresholds and scores are chosen on the other half.
    """
    learning = _half(first, rng)
    seen = views(answers, first, record)
    found: dict[str, Distinguisher] = {}
    rare: list[Distinguisher] = []
    for view in worthwhile(answers):
        if view in methods:
            made = _learnt(seen, view, methods[view], answers, first, learning, delta, rng)
            found[view] = max(made, key=lambda each: (each[0].held_out, each[2]))[0]
            rare += [each[1] for each in made]
    return {**found, RARE: max(rare, key=lambda each: each.held_out)}


def strongest(found: Mapping[str, Distinguisher]) -> Distinguisher:
    """The best of several distinguishers on draws that were held out, but for the one of rare answers."""
    return max((each for view, each in found.items() if view != RARE), key=lambda each: each.held_out)


Made = tuple[Distinguisher, Distinguisher, float]
Event = tuple[float, bool, float]  # a threshold, whether the event lies above it, and the bound that it shows


def _learnt(
    seen: Views, view: str, methods: Named, answers: Answers, first: Bools, learning: Bools, delta: float, rng: Rng
) -> list[Made]:
    """Of each method a cautious rule, a bold one, and its clearance; learning (T,): draws that scores are learnt on."""
    table = seen.table(view, answers)
    truth = first[~learning]
    made: list[Made] = []
    for name, learner in methods.items():
        score = learner(table[learning], first[learning], rng)
        value = score(table[~learning])
        area = auc(value, truth)
        rule = Distinguisher(view, name, seen, score, 0.0, True, (0.0, area))
        cautious = _with_event(rule, value, cautious_event(value, truth, delta))
        bold = _with_event(rule, value, rare_event(value, truth, delta))
        again = _confirmed(bold, score(table[learning]), first[learning], delta) if name not in CLOSE else 0.0
        bold = replace(bold, held_out=(min(bold.held_out[0], again), area))
        made.append((cautious, bold, _clearance(value, truth)))
    return made


def _with_event(rule: Distinguisher, value: Floats, event: Event) -> Distinguisher:
    """A rule about this event, with the threshold in the middle of the scores around it."""
    threshold, above, bound = event
    held_out = _beyond_rounding(rule.view, bound, rule.held_out[1])
    return replace(rule, threshold=_between(value, threshold), above=above, held_out=held_out)


def _confirmed(rule: Distinguisher, value: Floats, truth: Bools, delta: float) -> float:
    """What the event of a rule shows on twice the draws that its score was learnt on: chance makes rare events, too."""
    flagged = (value >= rule.threshold) == rule.above
    more = 2 * np.count_nonzero(flagged & (truth == rule.above))
    less = 2 * np.count_nonzero(flagged & (truth != rule.above))
    n = 2 * int(np.count_nonzero(truth))
    return float(event_bound(np.array([more]), np.array([less]), n, delta, BOLD)[0])


def _beyond_rounding(view: str, bound: float, area: float) -> tuple[float, float]:
    """The bound and the AUC, without what rounding alone can show in this view."""
    if view not in ROUNDING:
        return bound, area
    left = max(0.0, bound - ROUNDING[view])
    return left, area if left else 0.5


def cautious_event(value: Floats, truth: Bools, delta: float) -> Event:
    """The event that shows most with CAUTION, or if none does with DOUBT; its bound is that with DOUBT."""
    threshold, above, bound = best_event(value, truth, delta, CAUTION)
    if not bound:
        return best_event(value, truth, delta, DOUBT)
    flagged = (value >= threshold) == above
    more = np.count_nonzero(flagged & (truth == above))
    less = np.count_nonzero(flagged & (truth != above))
    n = int(np.count_nonzero(truth))
    return threshold, above, float(event_bound(np.array([more]), np.array([less]), n, delta, DOUBT)[0])


def rare_event(value: Floats, truth: Bools, delta: float) -> Event:
    """The event in few answers that will show most, if twice as many draws show it twice as often."""
    return best_event(value, truth, delta, BOLD, SELDOM, 2)


def best_event(
    value: Floats, truth: Bools, delta: float, error: float = CAUTION, most: float = 1.0, times: int = 1
) -> Event:
    """The threshold and the side of it with the largest bound on these scores, and that bound.

    Both data sets have given as many. most: the largest share of the one to which it points that may lie on this side.
    times: by how much counts are multiplied.

    >>> best_event(np.repeat([0.0, 1.0], 50), np.repeat([False, True], 50), 0.0)[:2]
    (1.0, True)
    """
    fp, tp, thresholds = steps(value, truth)
    n = int(tp[-1])
    sides = [
        event_bound(times * tp, times * fp, times * n, delta, error) * (tp <= most * n),
        event_bound(times * (n - fp), times * (n - tp), times * n, delta, error) * (n - fp <= most * n),
    ]
    at = [int(side.argmax()) for side in sides]
    above = bool(sides[0][at[0]] >= sides[1][at[1]])
    which = at[0] if above else at[1]
    return float(thresholds[which]), above, float(max(side.max() for side in sides))


def _half(first: Bools, rng: Rng) -> Bools:
    """A random half (T,) of the answers of each data set."""
    chosen = np.zeros(len(first), dtype=bool)
    for mine in (np.flatnonzero(first), np.flatnonzero(~first)):
        chosen[rng.permutation(mine)[: len(mine) // 2]] = True
    return chosen


def _clearance(value: Floats, truth: Bools) -> float:
    """The gap between the scores of both data sets, as a share of the range of all scores; 0 if they overlap.

    Among scores that separate all draws so far, the one with the widest gap is likely to make fewest errors on new
    draws.
    """
    free = float(value[truth].min() - value[~truth].max())
    return free / float(np.ptp(value)) if free > 0 else 0.0


def _between(value: Floats, threshold: float) -> float:
    """The middle between a threshold and the next lower score: it is as good here, and more robust for new draws."""
    below = value[value < threshold]
    return (threshold + float(below.max())) / 2 if len(below) and np.isfinite(threshold) else threshold
