"""Test a privacy claim by a lower bound on epsilon, a data-dependence check and a second accountant."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, under_replacement
from jali.results.verification import Verification
from jali.stats.epsilon import rarest_event
from jali.text.shares import whole_percent
from jali.verify.declared_noise import accounted, too_small
from jali.verify.dependence import check, declarations, not_applicable
from jali.verify.designed import designed
from jali.verify.distinguishers import LEVEL
from jali.verify.mechanisms_under_test import MechanismUnderTest
from jali.verify.neighbours import Pair, extent, pairs, removals, tables
from jali.verify.pilot import draws_within
from jali.verify.portfolio import RARELY, Outcome, chosen, evaluated, most_shown
from jali.verify.search import Ranking, ranked

Verdict = Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]
DRAWS = 2000
SEED = 0
MAIN = 1  # the stream of random numbers of the test
PILOT = 8  # that of the pilot, whose draws are not used again


def verify(
    subject: MechanismUnderTest,
    pair: Pair | Sequence[Pair] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    minutes: float | None = None,
) -> Verification:
    """Test a claim: lower bounds on epsilon, a data-dependence check, and a second accountant.

    Without a pair (made with the trainer of the subject), rounds of draws choose the best of a designed family. Then
    `draws` draws of the best pairs choose distinguishers, and as many new draws evaluate them. The new draws choose
    nothing, and the tests that they evaluate share the error of one, so the bound holds at its confidence level,
    however many pairs and distinguishers were tried. With minutes, a pilot fixes the number of draws beforehand.
    """
    began = time.perf_counter()
    _check_settings(draws, seed)
    pairs = _pairs(subject, pair, seed)
    if minutes is not None:
        draws = draws_within(lambda count: _searched(subject, pairs, count, seed, PILOT), minutes)
    ranking, found = _searched(subject, pairs, draws, seed, MAIN)
    best = max(found, key=lambda each: (each.excess > 1, each.excess, each is found[0]))
    return _verification(subject, ranking, found, best, draws, seed).model_copy(
        update={"tables": extent(pairs), "minutes": minutes, "seconds": time.perf_counter() - began}
    )


def _searched(
    subject: MechanismUnderTest, pairs: Sequence[Pair], draws: int, seed: int, stream: int
) -> tuple[Ranking, list[Outcome]]:
    """The pairs in the order of what they show, and the outcomes of all tests, the most promising first."""
    rng = np.random.default_rng([seed, stream])
    within = partial(allowed, subject.guarantee)
    ranking = ranked(subject, pairs, draws, within, seed, rng)
    worthwhile = ranking.pairs[: max(1, ranking.compared)]
    return ranking, evaluated(subject, chosen(subject, worthwhile, draws, within, rng), draws, rng)


def _verification(
    subject: MechanismUnderTest, ranking: Ranking, found: list[Outcome], best: Outcome, draws: int, seed: int
) -> Verification:
    """What was found, as it is written and shown."""
    given = subject.guarantee
    trial = best.trial
    ceiling = most_shown(draws, trial.delta)
    named = _named(found)
    noise = accounted(given, declarations(subject, trial.pair, seed))
    return Verification(
        name=subject.name,
        claim=_claim(given),
        epsilon=trial.epsilon,
        draws=draws,
        bounds={name: each.bound for name, each in named.items()},
        allowed={name: each.trial.epsilon for name, each in named.items() if each.trial.epsilon != trial.epsilon},
        distinguisher=_described(best, subject.own),
        lower=best.bound,
        ceiling=ceiling,
        rarest=rarest_event(draws, trial.epsilon, trial.delta, RARELY),
        verdict=_verdict(best.bound, trial.epsilon, ceiling, ranking.changed),
        leaking_variables=check(subject, ranking, seed),
        no_dependence_check=not_applicable(subject),
        recomputed=None if noise is None else noise.pld,
        assumes=[*given.conditions, *ranking.failures],
        known_flaws=" ".join(filter(None, [too_small(noise), given.refuted])),
        pairs=ranking.usable,
        pairs_changed=ranking.changed,
        pairs_evaluated=len({id(each.trial.pair) for each in found}),
        confidence=LEVEL,
        seed=seed,
    )


def _named(found: Sequence[Outcome]) -> dict[str, Outcome]:
    """The outcomes by view; those of pairs after the first also name their pair."""
    main = found[0].trial.pair
    return {
        each.trial.name if each.trial.pair is main else f"{each.trial.name} ({each.trial.pair.name})": each
        for each in found
    }


def allowed(given: Guarantee, pair: Pair) -> tuple[float, float]:
    """The epsilon and delta that a claim allows in a pair: a record that is removed counts once under add-remove."""
    return (given.epsilon, given.delta) if pair.removed else under_replacement(given)


def _check_settings(draws: int, seed: int) -> None:
    """Refuse too few draws, and a negative seed."""
    if draws < 100:
        raise JaliError(f"A claim is tested with at least 100 draws of each data set, not {draws}.")
    if seed < 0:
        raise JaliError(f"The seed must not be below 0, not {seed}.")


def _pairs(subject: MechanismUnderTest, given: Pair | Sequence[Pair] | None, seed: int) -> tuple[Pair, ...]:
    """The pairs of neighbouring data sets that a subject is tested on."""
    if isinstance(given, Pair):
        return (given,)
    if given is not None:
        return tuple(given)
    add_remove = subject.guarantee.adjacency == "add-remove"
    if not subject.own:
        standard = pairs(subject.trainer, seed)
        return (*standard, *(removals(subject.trainer, standard) if add_remove else ()))
    numeric = pairs(subject.trainer, seed, covers_decision=True)
    return (*numeric, *tables(None, seed), *designed(seed, add_remove))


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


def _described(best: Outcome, own: bool) -> str:
    """How the data sets are distinguished; a defence that recommends no move has not answered."""
    answers = best.answers
    given = answers.finite() if own else answers.finite() & answers.numbers.any(axis=1)
    answered = np.count_nonzero(given) / len(answers)
    rule = best.trial.rule
    where = f"in the pair {best.trial.pair}, where {whole_percent(answered)} of the draws were answers"
    return f"{best.trial.name}, by {rule.statistic}, {where}"
