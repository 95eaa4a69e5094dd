"""Choose the pair of neighbouring data sets to test: one in which the answer changes most with the record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Rng
from jali.parallel import alone
from jali.verify.answers import NONE, NUMBERS, Answers, joined, stem
from jali.verify.coding import coding
from jali.verify.distinguishers import strength
from jali.verify.neighbours import Pair, TrainingSet
from jali.verify.subjects import Subject, draw_answers, draw_both

PROBE = 25  # draws of each data set, with the noise held fixed, that show whether the answer changes with the record
FIRST_ROUND = 16  # all pairs in which the answer changes are compared on one sixteenth of the draws
FINALISTS = 4  # how many pairs remain after the first round
FINAL_ROUND = 2  # the remaining pairs are compared on half of the draws


@dataclass(frozen=True)
class Probe:
    """A few answers of two neighbouring data sets with the same noise; repeated: those of the first, drawn again."""

    before: Answers
    after: Answers
    repeated: Answers

    @property
    def silent(self) -> bool:
        """Whether every answer is the same failure: no finite number, and of one kind on both sides.

        If each side always raises the same exception, but with different messages, then the message is an answer.
        """
        both = joined(self.before, self.after)
        before = set(self.before.kind)
        after = set(self.after.kind)
        text_differs = before != after and len(before) == len(after) == 1
        return not both.finite().any() and len({stem(kind) for kind in both.kind}) == 1 and not text_differs

    @property
    def failed(self) -> bool:
        """Whether that failure is an exception or a value that is not numeric; NaN is an answer."""
        return self.silent and not self.before.kind[0].startswith((NUMBERS, NONE))

    @property
    def repeats(self) -> bool:
        """Whether the noise could be held fixed."""
        return self.before.differing(self.repeated) == 0

    @property
    def changed(self) -> float:
        """The share of answers that changed with the record."""
        return self.before.differing(self.after)

    @property
    def key(self) -> bytes:
        """A key of all answers; pairs with equal keys are duplicates."""
        return self.before.comparable().tobytes() + b"|" + self.after.comparable().tobytes()


@dataclass(frozen=True)
class Ranking:
    """Different pairs, the most informative first.

    usable: the number of pairs in which the subject gave answers. changed: the number of these in which the answer
    changed with the record; None if the noise could not be held fixed. failures: why the other pairs are left out, in
    sentences.
    """

    pairs: list[Pair]
    usable: int
    changed: int | None
    failures: list[str]


@dataclass(frozen=True)
class Candidate:
    """A pair, and the share of its answers, drawn with the same noise, that changed with the record."""

    pair: Pair
    changed: float


def ranked(subject: Subject, pairs: Sequence[Pair], draws: int, delta: float, seed: int, rng: Rng) -> Ranking:
    """Probe the subject in every pair with a few draws, and rank the pairs in which its answer changes."""
    probes = {at: _probe(subject, pair, PROBE, seed) for at, pair in enumerate(pairs)}
    if all(probe.silent for probe in probes.values()):
        raise JaliError(_failure(subject, probes[0]))
    failed = {at: _failure(subject, probe) for at, probe in probes.items() if probe.failed}
    usable = {at: probe for at, probe in probes.items() if at not in failed}
    if all(probe.changed < 0.5 for probe in usable.values()):  # an answer that rarely changes needs more draws
        usable = {at: _probe(subject, pairs[at], 8 * PROBE, seed) for at in usable}
    distinct = {probe.key: at for at, probe in reversed(usable.items())}
    order = sorted(distinct.values())
    candidates = [Candidate(pairs[at], usable[at].changed) for at in order if usable[at].changed]
    best = [each.pair for each in _best(subject, candidates, draws, delta, rng)]
    rest = [pairs[at] for at in order if all(pairs[at] is not pair for pair in best)]
    repeats = all(probe.repeats for probe in usable.values())
    changed = sum(probe.changed > 0 for probe in usable.values()) if repeats else None
    return Ranking([*best, *rest], len(usable), changed, _left_out(pairs, failed))


def _left_out(pairs: Sequence[Pair], failed: dict[int, str]) -> list[str]:
    """One line for each kind of failure, with the pairs in which it occurred."""
    where: dict[str, list[str]] = {}
    for at, error in failed.items():
        where.setdefault(error, []).append(str(pairs[at]))
    return [f"the claim in the pairs {', '.join(names)}, where it failed: {error}" for error, names in where.items()]


def _best(subject: Subject, candidates: list[Candidate], draws: int, delta: float, rng: Rng) -> list[Candidate]:
    """The most informative pairs, best first; if there are many, a first round with few draws drops some.

    The pair with most columns is never dropped, because few draws are not enough to learn from many columns.
    """
    if len(candidates) < 2:
        return candidates
    kept = candidates
    if len(kept) > FINALISTS:
        widest = max(candidates, key=lambda each: each.pair.first.data.X.shape[1])
        kept = _ordered(subject, kept, max(50, draws // FIRST_ROUND), delta, rng)[:FINALISTS]
        kept += [] if any(each is widest for each in kept) else [widest]
    return _ordered(subject, kept, max(50, draws // FINAL_ROUND), delta, rng)


def _ordered(subject: Subject, candidates: list[Candidate], draws: int, delta: float, rng: Rng) -> list[Candidate]:
    """Pairs by how well this many draws are distinguished; none after a pair that is distinguished without error.

    The order is by the bound on held-out draws, then by the AUC if it is above what chance can explain, then by how
    often answers changed with the record.
    """
    chance = 4 / math.sqrt(
        3 * draws
    )  # four standard deviations of the AUC on half of the draws, if there is no difference
    ranks: list[tuple[float, float, float, float]] = []
    for each in candidates:
        answers, first = draw_both(subject, each.pair, draws, rng)
        bound, auc = alone(partial(strength, coding(answers, first).table(answers), first, delta), rng)
        ranks.append((bound, auc if auc > 0.5 + chance else 0.5, each.changed, auc))
        if auc == 1.0:
            break
    return [candidates[at] for at in sorted(range(len(ranks)), key=lambda at: ranks[at], reverse=True)]


def _probe(subject: Subject, pair: Pair, draws: int, seed: int) -> Probe:
    """Answers of both data sets from one stream of noise; a user's release is repeated, as it may use other noise."""

    def answers(train: TrainingSet) -> Answers:
        stream = np.random.default_rng([seed, 4])
        return alone(lambda rng: draw_answers(subject, train, pair.query, draws, rng), stream)

    before = answers(pair.first)
    after = answers(pair.second)
    return Probe(before, after, answers(pair.first) if subject.own else before)


def _failure(subject: Subject, probe: Probe) -> str:
    """Why nothing can be learnt from a pair, as a sentence."""
    kind = probe.before.kind[0]
    if kind.startswith(NUMBERS):
        if not probe.before.length.any():
            return f"{subject.name} released no numbers: return at least one."
        return f"{subject.name} must release finite numbers, and every one was NaN or infinite."
    return f"{subject.name} must take (data, query, rng) and release numbers; {kind}." if subject.own else kind
