"""The tests of a claim: a few distinguishers in a few pairs, and how the error of all of them together is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jali.core.values import Rng
from jali.parallel import alone
from jali.stats.epsilon import event_bound
from jali.verify.answers import Answers
from jali.verify.distinguishers import LEADING, LEVEL, RARE, Distinguisher, learn
from jali.verify.learners import FULL, MEDIUM
from jali.verify.mechanisms_under_test import MechanismUnderTest, draw_both
from jali.verify.neighbours import Pair
from jali.verify.search import OWN_PAIRS, Allowed

PAIRS = 2  # most pairs that are evaluated for a defence
FURTHER = 3  # views of each pair after the first that are evaluated
RARELY = 0.25 * (1 - LEVEL)  # how often the bound of the best test of rare answers may be wrong
REST = 1 - LEVEL - LEADING - RARELY  # what all other tests share


@dataclass(frozen=True)
class Trial:
    """One distinguisher in one pair, with what the claim allows there.

    error: how often its bound may be wrong. rare: whether it is about rare answers alone.
    """

    pair: Pair
    rule: Distinguisher
    epsilon: float
    delta: float
    error: float = 0.0
    rare: bool = False

    @property
    def name(self) -> str:
        """What it looks at."""
        return f"{RARE}, {self.rule.view}" if self.rare else self.rule.view

    @property
    def promise(self) -> tuple[float, float]:
        """How much it showed before the evaluated draws: the bound as a share of what is allowed, then the AUC."""
        bound, auc = self.rule.held_out
        return bound / self.epsilon, auc


@dataclass(frozen=True)
class Outcome:
    """The bound of a trial on new draws; answers: those draws."""

    trial: Trial
    bound: float
    answers: Answers

    @property
    def excess(self) -> float:
        """The bound as a share of what the claim allows."""
        return self.bound / self.trial.epsilon


def chosen(subject: MechanismUnderTest, pairs: Sequence[Pair], draws: int, allowed: Allowed, rng: Rng) -> list[Trial]:
    """The trials, the most promising first, with their errors: learnt in the best pairs, which `pairs` starts with.

    One pair is enough if it already shows more than is allowed, on draws that were not used for learning.
    """
    trials: list[Trial] = []
    rare: list[Trial] = []
    for at, pair in enumerate(pairs[: OWN_PAIRS if subject.own else PAIRS]):
        if trials and max(each.promise[0] for each in trials) > 1:
            break
        epsilon, delta = allowed(pair)
        answers, first = draw_both(subject, pair, draws, rng)
        methods = MEDIUM if at else FULL
        learnt = alone(partial(learn, answers, first, delta, record=pair.only(), methods=methods), rng)
        rare.append(Trial(pair, learnt.pop(RARE), epsilon, delta, rare=True))
        found = sorted((Trial(pair, rule, epsilon, delta) for rule in learnt.values()), key=_promise, reverse=True)
        trials += found if at == 0 else found[:FURTHER]
    return shared(sorted(trials, key=_promise, reverse=True), sorted(rare, key=_promise, reverse=True))


def shared(trials: Sequence[Trial], rare: Sequence[Trial]) -> list[Trial]:
    """All trials, the error of one test divided among them: half for the first, a quarter for that of rare answers.

    If nothing but rare answers differed beforehand, they lead.
    """
    ordered = [trials[0], rare[0], *trials[1:], *rare[1:]]
    if trials[0].promise[0] == 0 and rare[0].promise[0] > 0:
        ordered[:2] = [rare[0], trials[0]]
    others = len(ordered) - 2
    errors = [LEADING, RARELY, *[REST / max(1, others)] * others]
    return [replace(each, error=error) for each, error in zip(ordered, errors, strict=True)]


def evaluated(subject: MechanismUnderTest, trials: Sequence[Trial], draws: int, rng: Rng) -> list[Outcome]:
    """The bounds of all trials on new draws, which choose nothing."""
    found: list[Outcome] = []
    for pair in dict.fromkeys(each.pair for each in trials):
        answers, first = draw_both(subject, pair, draws, rng)
        for each in trials:
            if each.pair is pair:
                found.append(Outcome(each, each.rule.bound(answers, first, each.delta, each.error), answers))
    order = {id(each): at for at, each in enumerate(trials)}
    return sorted(found, key=lambda outcome: order[id(outcome.trial)])


def most_shown(draws: int, delta: float) -> float:
    """The largest bound that the leading test can show: an event in all draws of one data set, in none of the other."""
    all_of_them = np.array([draws])
    return float(event_bound(all_of_them, np.array([0]), draws, delta, LEADING)[0])


def _promise(trial: Trial) -> tuple[float, float]:
    return trial.promise
