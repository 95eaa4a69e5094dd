"""Test a privacy claim by a lower bound on epsilon, a data-dependence check and a second accountant."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, under_replacement
from jali.parallel import alone
from jali.results.verification import Verification
from jali.stats.epsilon import epsilon_ceiling
from jali.verify.answers import Answers
from jali.verify.coding import coding
from jali.verify.declared_noise import accounted, too_small
from jali.verify.dependence import check, declarations
from jali.verify.distinguishers import LEVEL, Distinguisher, learn
from jali.verify.neighbours import Pair, pairs, tables
from jali.verify.search import ranked
from jali.verify.subjects import Subject, draw_both

Verdict = Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]
DRAWS = 2000
SEED = 0


def verify(subject: Subject, pair: Pair | None = None, draws: int = DRAWS, seed: int = SEED) -> Verification:
    """Test a claim: a lower bound on epsilon, a data-dependence check, and a second accountant.

    Without a pair (made with the trainer of the subject), a few draws choose one of `pairs`. Then `draws` draws choose
    the distinguishers, and as many new draws evaluate them. The new draws choose nothing, so the bound holds at its
    confidence level, however many pairs were tried.
    """
    began = time.perf_counter()
    _check_settings(draws, seed)
    given = subject.guarantee
    epsilon, delta = under_replacement(given)
    rng = np.random.default_rng([seed, 1])
    ranking = ranked(subject, _all_pairs(subject, seed) if pair is None else (pair,), draws, delta, seed, rng)
    chosen = ranking.pairs[0]
    answers, first = draw_both(subject, chosen, draws, rng)
    code = coding(answers, first)
    learnt = alone(lambda r: learn(code.table(answers), first, delta, r), rng)
    fresh, first = draw_both(subject, chosen, draws, rng)
    bounds = {view: each.bound(code.table(fresh), first, delta) for view, each in learnt.items()}
    best = max(learnt.values(), key=lambda each: each.held_out)
    ceiling = epsilon_ceiling(draws, LEVEL, delta)
    noise = accounted(given, declarations(subject, chosen, seed))
    return Verification(
        name=subject.name,
        claim=_claim(given),
        epsilon=epsilon,
        draws=draws,
        bounds=bounds,
        distinguisher=_described(best, chosen, fresh, subject.own),
        lower=bounds[best.view],
        ceiling=ceiling,
        verdict=_verdict(bounds[best.view], epsilon, ceiling, ranking.changed),
        leaking_variables=check(subject, ranking, seed),
        recomputed=None if noise is None else noise.pld,
        assumes=[*given.conditions, *ranking.failures],
        known_flaws=" ".join(filter(None, [too_small(noise), given.refuted])),
        pairs=ranking.usable,
        pairs_changed=ranking.changed,
        seconds=time.perf_counter() - began,
    )


def _check_settings(draws: int, seed: int) -> None:
    """Refuse too few draws, and a negative seed."""
    if draws < 100:
        raise JaliError(f"A claim is tested with at least 100 draws of each data set, not {draws}.")
    if seed < 0:
        raise JaliError(f"The seed must not be below 0, not {seed}.")


def _all_pairs(subject: Subject, seed: int) -> tuple[Pair, ...]:
    """The pairs of neighbouring data sets that a subject is tested on."""
    if not subject.own:
        return pairs(subject.trainer, seed)
    return (*pairs(subject.trainer, seed, covers_decision=True), *tables(None, seed))


def _claim(given: Guarantee) -> str:
    """The claim in words, with what it allows if a record is replaced."""
    if given.adjacency == "replace-one":
        return str(given)
    epsilon, delta = under_replacement(given)
    also = f" and delta = {delta:.3g}" if delta else ""
    return f"{given}; a replaced record counts as one removed and one added: 2 epsilon = {epsilon:g}{also}"


def _verdict(lower: float, allowed: float, ceiling: float, changed: int | None) -> Verdict:
    """The verdict on a claim; NOT TESTABLE if no answer changed with the record, or if draws cannot decide."""
    if changed == 0 or (changed is None and lower == 0):
        return "NOT TESTABLE"
    if lower > allowed:
        return "REFUTED"
    return "NOT REFUTED" if ceiling > allowed else "NOT TESTABLE"


def _described(best: Distinguisher, pair: Pair, answers: Answers, own: bool) -> str:
    """How the data sets are distinguished; a defence that recommends no move has not answered."""
    given = answers.finite() if own else answers.finite() & answers.numbers.any(axis=1)
    answered = np.count_nonzero(given) / len(answers)
    return f"{best.view}, by {best.statistic}, in the pair {pair}, where {answered:.0%} of the draws were answers"
