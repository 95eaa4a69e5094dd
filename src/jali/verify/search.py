"""Choose the pair of neighbouring data sets to test: one in which the answer changes most with the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Rng
from jali.parallel import alone
from jali.verify.answers import NONE, RAISED, Answers, joined, stem
from jali.verify.coding import LARGE
from jali.verify.contents import NUMBERS
from jali.verify.distinguishers import RARE, learn, strongest
from jali.verify.learners import MEDIUM, QUICK, Named
from jali.verify.mechanisms_under_test import MechanismUnderTest, draw_answers, draw_both
from jali.verify.neighbours import AT, Pair, TrainingSet

PROBE = 25  # draws of each data set, with the noise held fixed, that show whether the answer changes with the record
ENOUGH = 8  # if the answer changes in fewer pairs, more draws look for changes in the others
OWN_PAIRS = 3  # most pairs of a user's own release that are evaluated
FINALISTS = 4  # how many pairs of a defence remain after the first round
BROAD = 16  # how many pairs of a user's own release remain after the first round
Allowed = Callable[[Pair], tuple[float, float]]  # the epsilon and delta that a claim allows in a pair


@dataclass(frozen=True)
class Round:
    """One comparison of pairs: the share of the draws that it takes, how many pairs remain, and by what methods."""

    share: float
    remain: int
    methods: Mapping[str, Named]


ROUNDS = (Round(1 / 16, FINALISTS, QUICK), Round(1 / 4, FINALISTS, MEDIUM))
OWN_ROUNDS = (Round(1 / 16, BROAD, QUICK), Round(1 / 8, 6, QUICK), Round(1 / 2, 6, MEDIUM))


@dataclass(frozen=True)
class Probe:
    """A few answers of two neighbouring data sets with the same noise; repeated: those of the first, drawn again."""

    before: Answers
    after: Answers
    repeated: Answers

    @property
    def silent(self) -> bool:
        """Whether every answer is the same failure: no finite number, and of one kind on both sides.

        If messages of exceptions change with the record while the noise is held fixed, then the message is an answer.
        """
        both = joined(self.before, self.after)
        text_differs = self.before.kind != self.after.kind and self.before.kind == self.repeated.kind
        kinds = {stem(kind) if kind.startswith(RAISED) else kind for kind in both.kind}
        return not both.finite().any() and len(kinds) == 1 and not text_differs

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
    def effect(self) -> float:
        """How far answers moved with the record, for their spread: 10 at most, which is also any change of kind."""
        before, after = self.before, self.after
        alike = np.array([a == b for a, b in zip(before.kind, after.kind, strict=True)])
        width = min(before.numbers.shape[1], after.numbers.shape[1])
        here, there = (np.nan_to_num(np.clip(each.numbers[:, :width], -LARGE, LARGE)) for each in (before, after))
        spread = here.std(axis=0) + there.std(axis=0)
        moved = np.abs(here - there) / np.maximum(spread, 1 / LARGE)
        furthest = np.minimum(moved.max(axis=1, initial=0.0), 10.0)
        return float(np.where(alike, furthest, 10.0).mean())

    @property
    def key(self) -> bytes:
        """A key of all answers; pairs with equal keys are duplicates."""
        return self.before.comparable().tobytes() + b"|" + self.after.comparable().tobytes()


@dataclass(frozen=True)
class Ranking:
    """Different pairs, the most informative first.

    usable: the number of pairs in which the subject gave answers. changed: the number of these in which the answer
    changed with the record; None if the noise could not be held fixed. failures: why the other pairs are left out, in
    sentences. compared: how many of the pairs, from the first, were compared and are worth a closer look.
    """

    pairs: list[Pair]
    usable: int
    changed: int | None
    failures: list[str]
    compared: int = 1


@dataclass(frozen=True)
class Candidate:
    """A pair, and how far its answers moved with the record, for their spread, while the noise was held fixed.

    rank: how well its draws are distinguished; rare: the same for rare answers alone.
    """

    pair: Pair
    effect: float
    rank: tuple[float, ...] = ()
    rare: float = 0.0

    @property
    def told(self) -> bool:
        """Whether its draws were distinguished better than by chance."""
        return self.rank[:2] > (0.0, 0.0)


def ranked(
    subject: MechanismUnderTest, pairs: Sequence[Pair], draws: int, allowed: Allowed, seed: int, rng: Rng
) -> Ranking:
    """Probe the subject in every pair with a few draws, and rank the pairs in which its answer changes."""
    probes = {at: _probe(subject, pair, PROBE, seed) for at, pair in enumerate(pairs)}
    if all(probe.silent for probe in probes.values()):
        raise JaliError(_failure(subject, probes[0]))
    failed = {at: _failure(subject, probe, brief=True) for at, probe in probes.items() if probe.failed}
    usable = {at: probe for at, probe in probes.items() if at not in failed}
    if sum(probe.changed > 0 for probe in usable.values()) < ENOUGH:  # an answer that rarely changes needs more draws
        usable |= {at: _probe(subject, pairs[at], 8 * PROBE, seed) for at in usable if not usable[at].changed}
    order = _distinct(pairs, usable)
    candidates = [Candidate(pairs[at], usable[at].effect) for at in order if usable[at].changed]
    compared = _best(subject, candidates, draws, allowed, rng)
    best = [each.pair for each in compared]
    telling = len(best) if subject.own else sum(each.told for each in compared)
    rest = [pairs[at] for at in order if all(pairs[at] is not pair for pair in best)]
    repeats = all(probe.repeats for probe in usable.values())
    changed = sum(probe.changed > 0 for probe in usable.values()) if repeats else None
    return Ranking([*best, *rest], len(usable), changed, _left_out(pairs, failed), telling)


def _distinct(pairs: Sequence[Pair], probes: Mapping[int, Probe]) -> list[int]:
    """Pairs whose answers differ from all others; of equal ones the first that queries the record, else the first.

    Answers that are equal so far may still differ in few draws, which depend on whether the query is the record.
    """
    kept: dict[tuple[bytes, bool], int] = {}
    for at, probe in probes.items():
        key = probe.key, pairs[at].removed
        known = kept.setdefault(key, at)
        if pairs[at].family == AT and pairs[known].family != AT:
            kept[key] = at
    return sorted(kept.values())


def _left_out(pairs: Sequence[Pair], failed: dict[int, str]) -> list[str]:
    """One line for each kind of failure, with the pairs in which it occurred."""
    where: dict[str, list[str]] = {}
    for at, error in failed.items():
        where.setdefault(error, []).append(str(pairs[at]))
    return [f"the claim in the pairs {', '.join(names)}, where it failed: {error}" for error, names in where.items()]


def _best(
    subject: MechanismUnderTest, candidates: list[Candidate], draws: int, allowed: Allowed, rng: Rng
) -> list[Candidate]:
    """The most informative pairs, best first; rounds with more and more draws leave fewer and fewer of them."""
    if len(candidates) < 2:
        return candidates
    rounds = OWN_ROUNDS if subject.own else ROUNDS
    kept = candidates
    for at, each in enumerate(rounds):
        last = at == len(rounds) - 1
        if not last and len(kept) <= each.remain:
            continue
        count = max(50, round(draws * each.share))
        ordered = _ordered(subject, kept, count, each.methods, allowed, rng)
        kept = ordered if last else _remaining(ordered, each.remain)
    return _with_rare(kept, OWN_PAIRS) if subject.own else kept


def _with_rare(ordered: list[Candidate], many: int) -> list[Candidate]:
    """The same pairs, with the one whose rare answers differ most among the first."""
    if len(ordered) <= many:
        return ordered
    best = ordered[: many - 1]
    rest = ordered[many - 1 :]
    rare = max(rest, key=lambda each: each.rare)
    return [*best, rare, *(each for each in rest if each is not rare)]


def _remaining(ordered: list[Candidate], many: int) -> list[Candidate]:
    """The pairs for the next round: the best, those whose answers move furthest, the widest, the best of each family.

    The pair with most columns is never dropped, because few draws are not enough to learn from many columns.
    """
    widest = max(ordered, key=lambda each: each.pair.first.data.X.shape[1])
    furthest = sorted(ordered, key=lambda each: -each.effect)[: many // 4]
    families = {each.pair.family: each for each in reversed(ordered)}
    wanted = [*ordered[:FINALISTS], *furthest, widest, *families.values(), *ordered]
    kept: list[Candidate] = []
    for each in wanted:
        if len(kept) <= many and all(each is not other for other in kept):
            kept.append(each)
    return kept


def _ordered(
    subject: MechanismUnderTest,
    candidates: list[Candidate],
    draws: int,
    methods: Mapping[str, Named],
    allowed: Allowed,
    rng: Rng,
) -> list[Candidate]:
    """Pairs by how well this many draws are distinguished; none after a pair that is distinguished without error.

    The order is by the bound on held-out draws, then by the AUC if it is above what chance can explain, then by how far
    answers moved with the record: all of them as a share of the epsilon that is allowed.
    """
    # Five standard deviations of the AUC on half of the draws, if there is no difference: many methods are tried.
    chance = 5 / math.sqrt(3 * draws)
    found: list[Candidate] = []
    for each in candidates:
        epsilon, delta = allowed(each.pair)
        answers, first = draw_both(subject, each.pair, draws, rng)
        learnt = alone(partial(learn, answers, first, delta, record=each.pair.only(), methods=methods), rng)
        bound, auc = strongest(learnt).held_out
        clear = (auc - 0.5) / epsilon if auc > 0.5 + chance else 0.0
        rank = (bound / epsilon, clear, each.effect / epsilon, auc)
        found.append(replace(each, rank=rank, rare=learnt[RARE].held_out[0] / epsilon))
        if auc == 1.0:
            break
    return sorted(found, key=lambda each: each.rank, reverse=True)


def _probe(subject: MechanismUnderTest, pair: Pair, draws: int, seed: int) -> Probe:
    """Answers of both data sets from one stream of noise; a user's release is repeated, as it may use other noise."""

    def answers(train: TrainingSet) -> Answers:
        stream = np.random.default_rng([seed, 4])
        return alone(lambda rng: draw_answers(subject, train, pair.query, draws, rng), stream)

    before = answers(pair.first)
    after = answers(pair.second)
    return Probe(before, after, answers(pair.first) if subject.own else before)


def _failure(subject: MechanismUnderTest, probe: Probe, brief: bool = False) -> str:
    """Why nothing can be learnt from a pair, as a sentence.

    brief: without the message of an exception or the text of an answer of a user's release, which may quote a person's
    values: what is written into results must not.
    """
    kind = probe.before.kind[0]
    if brief and subject.own:
        kind = kind.partition(": ")[0]
    if kind.startswith(NUMBERS):
        if not probe.before.length.any():
            return f"{subject.name} released no numbers: return at least one."
        return f"{subject.name} must release finite numbers, and every one was NaN or infinite."
    return f"{subject.name} must take (data, query, rng) and release numbers; {kind}." if subject.own else kind
