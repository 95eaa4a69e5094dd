"""Distinguishers: classifiers, learnt on some draws, that separate the answers of two neighbouring data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Floats, Rng
from jali.parallel import alone
from jali.stats.epsilon import best_threshold, epsilon_at
from jali.stats.roc import auc

Score = Callable[[Floats], Floats]
Learner = Callable[[Floats, Bools, Rng], Score]
LEVEL = 0.95
CAUTION = 0.999  # confidence level for choosing thresholds; at a lower one, rare events would be chosen by chance


# --- learning ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distinguisher:
    """A rule that guesses the data set of an answer: a score of one view of the answer, and a threshold.

    statistic: the name of the method that learnt the score. held_out: the bound on epsilon and the AUC on draws that
    were not used for learning the score.
    """

    view: str
    statistic: str
    score: Score
    threshold: float
    held_out: tuple[float, float]

    def bound(self, answers: Floats, first: Bools, delta: float) -> float:
        """The lower bound on epsilon from new draws; first (T,): those of the first data set."""
        seen = VIEWS[self.view](answers)
        return epsilon_at(self.threshold, self.score(seen), first, delta, LEVEL)


def learn(answers: Floats, first: Bools, delta: float, rng: Rng) -> dict[str, Distinguisher]:
    """The best distinguisher for each view of answers (T, k); scores are learnt on one half and chosen on the other."""
    learning = rng.permutation(len(answers)) % 2 == 0
    return {view: _best(view, answers, first, learning, delta, rng) for view in VIEWS}


def strength(answers: Floats, first: Bools, delta: float, rng: Rng) -> tuple[float, float]:
    """The bound on epsilon and the AUC, on held-out draws, of the best distinguisher of whole answers (T, k)."""
    learning = rng.permutation(len(answers)) % 2 == 0
    return _best(WHOLE, answers, first, learning, delta, rng).held_out


def _best(view: str, answers: Floats, first: Bools, learning: Bools, delta: float, rng: Rng) -> Distinguisher:
    """The best distinguisher of one view; learning (T,): the draws on which scores are learnt."""
    seen = VIEWS[view](answers)
    truth = first[~learning]
    made: list[tuple[Distinguisher, float]] = []
    for name, learner in LEARNERS.items():
        score = learner(seen[learning], first[learning], rng)
        value = score(seen[~learning])
        threshold = _between(value, best_threshold(value, truth, delta, CAUTION))
        held_out = epsilon_at(threshold, value, truth, delta, CAUTION), auc(value, truth)
        made.append((Distinguisher(view, name, score, threshold, held_out), _clearance(value, truth)))
    best, _ = max(made, key=lambda each: (each[0].held_out, each[1]))
    return best


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


# --- views of an answer --------------------------------------------------------------------------------------------


def _whole(answers: Floats) -> Floats:
    """The answers; if they have more than two numbers, also their directions and lengths."""
    return answers if answers.shape[1] < 3 else np.hstack([answers, _direction(answers), _length(answers)])


def _length(answers: Floats) -> Floats:
    """The Euclidean norms (T, 1) of answers."""
    return np.asarray(np.linalg.norm(answers, axis=1, keepdims=True))


def _direction(answers: Floats) -> Floats:
    """Unit vectors up to sign, because the sign only says on which side of the decision boundary a record lies."""
    length = _length(answers)
    unit = np.divide(answers, length, out=np.zeros_like(answers), where=length > 0)
    largest = np.take_along_axis(unit, np.abs(unit).argmax(axis=1)[:, None], axis=1)
    return np.asarray(unit * np.where(largest < 0, -1.0, 1.0))


WHOLE = "the whole answer"
VIEWS: dict[str, Callable[[Floats], Floats]] = {WHOLE: _whole, "its direction": _direction, "its length": _length}


# --- methods that learn a score ------------------------------------------------------------------------------------


def _linear(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression

    centre = seen.mean(axis=0)
    spread = seen.std(axis=0)
    spread = np.where(spread > 1e-12 * (np.abs(centre) + 1e-300), spread, 1.0)

    def scaled(x: Floats) -> Floats:
        return np.asarray(np.clip((x - centre) / spread, -1e3, 1e3))

    model = LogisticRegression(C=1.0, max_iter=500).fit(scaled(seen), first)
    return lambda x: np.asarray(model.decision_function(scaled(x)))


def _trees(seen: Floats, first: Bools, rng: Rng) -> Score:
    """Gradient boosting, for differences that are not linear."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=int(rng.integers(2**31)))
    alone(lambda m: m.fit(seen, first), model)  # called here too: a limit on threads misses libraries loaded later
    return lambda x: np.asarray(alone(model.decision_function, x))


def _repeated(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """For answers that repeat exactly: the log-ratio of how often each data set gave them, zero for new answers."""
    count: dict[bytes, list[float]] = {}
    for key, inside in zip(_keys(seen), first, strict=True):
        count.setdefault(key, [0.5, 0.5])[int(inside)] += 1

    def score(x: Floats) -> Floats:
        known = (count.get(key, [1.0, 1.0]) for key in _keys(x))
        return np.array([np.log(b / a) for a, b in known])

    return score


def _keys(seen: Floats) -> list[bytes]:
    """One key per row, rounded to ten significant digits of its largest number."""
    size = np.maximum(np.abs(seen).max(axis=1, keepdims=True), 1e-300)
    power = 10.0 ** np.floor(np.log10(size))
    return [row.tobytes() for row in np.round(seen / power, 10) * power + 0.0]


LEARNERS: dict[str, Learner] = {
    "logistic regression": _linear,
    "boosted trees": _trees,
    "repeated values": _repeated,
}
