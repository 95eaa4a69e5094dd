"""Would this audit have seen a leak? Known additions are planted in an explanation, and the same attack is run on them.

How much is added is what an attacker who knew every shift would gain (`planting`). Shadow models play the targets, so
that the target itself is not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from jali.audit.detection import POWER, Planted, detectable, least, power
from jali.audit.planting import Ideal, Leak, aucs, plant
from jali.audit.trials import ByMetric, Known, Trial, guess_by_metric, together
from jali.core.errors import JaliError
from jali.core.guesses import Records
from jali.core.values import Bools, Evidence, Floats, Game, Ints, Rng
from jali.results import PositiveControl, Row
from jali.stats.influence import Spread
from jali.stats.intervals import differences, foreseen
from jali.stats.people import effective

SIZES = (0.0, 0.002, 0.01, 0.05, 0.15, 0.3)  # additions in AUC, planted in turn until one is found in 8 of 10
CHECKS = 3  # times that a limit is planted itself, at most
NEAR = 1.25  # a limit stays where it was if it changes by this factor or less
# Shadow models that play the targets: so many that this many guesses are made, but not fewer and not more than this.
GUESSES, FEWEST_PLAYERS, MOST_PLAYERS = 10_000, 4, 32
MOST_TIMES = 4  # times that a size is planted, at most, where one planting makes fewer guesses than those
SHARED = 2.0  # players judge the same people by what was learnt on the same models: half as many tell as much
FEWEST = 4  # shadow models needed: one plays the target, and the others are its shadows
TOO_FEW = 2  # target models: how wide their interval is differs by factors from audit to audit, so no limit would hold


def players(game: Game, answered: Bools) -> Game:
    """The game in which shadow models play the targets.

    Targets that are shadow models of other targets come first, each with its own shadow models: so many learn as in the
    audit itself. Then shadow models of the first target, each with the others as its shadows. answered (N, M): where
    the attack has all it needs. Few people need more players: what one planted size recovers would be noisier than an
    audit of many targets.
    """
    own = np.flatnonzero(game.shadows[0])
    if len(own) < FEWEST:
        raise JaliError(f"it needs {FEWEST} shadow models, and there are {len(own)}")
    people = float(answered[game.scored[:, 0]][:, own].sum(axis=0).mean())
    many = min(MOST_PLAYERS, max(FEWEST_PLAYERS, math.ceil(GUESSES / max(people, 1.0))))
    turns = np.flatnonzero(game.shadows[:, game.targets].any(axis=0))
    first = _evenly(turns, many)
    others = _evenly(np.setdiff1d(own, game.targets[turns]), many - len(first))
    alone = np.repeat(game.shadows[:1], len(others), axis=0)
    alone[np.arange(len(others)), others] = False
    chosen = np.concatenate([game.targets[first], others])
    shadows = np.concatenate([game.shadows[first], alone])
    judged = _judged(game, chosen)
    return Game(game.member, chosen, shadows, np.repeat(judged[:, None], len(chosen), axis=1), game.asked, game.aside)


def _evenly(among: Ints, many: int) -> Ints:
    """So many of some numbers, evenly, or all."""
    if not len(among) or many <= 0:
        return among[:0]
    return among[np.unique(np.linspace(0, len(among) - 1, min(many, len(among))).round().astype(np.int64))]


def _judged(game: Game, chosen: Ints) -> Bools:
    """The records (N,) that are scored; where the shadow models trained on none of them, the adversary's own."""
    scored = game.scored[:, 0]
    others = ~scored if game.aside is None else ~scored & ~game.aside
    for rows in (scored, others):
        rows = rows & game.cells()[:, chosen].all(axis=1)
        mixed = [game.member[rows, j] for j in chosen]
        if rows.any() and all(side.any() and not side.all() for side in mixed):
            return rows
    raise JaliError("its shadow models have only members or only non-members among the records that they could judge")


def recover(
    evidence: Evidence,
    game: Game,
    trial: Trial,
    rng: Rng,
    records: Records | None = None,
    person: Ints | None = None,
    wider: float = 1.0,
) -> list[Planted]:
    """Plant additions and attack them; in order of size. Those that are too large to be possible are left out.

    Sizes grow until one is found often enough. The limit that follows is then planted itself, until it stays where it
    was: what one planted size recovers is about as noisy as an audit, and a limit that luck made low must not be named.
    Where there are few people, each size but zero is planted several times.
    wider: for an audit whose deviations and intervals are so many times as wide; what is recovered is known no better.
    """
    if len(game.targets) == TOO_FEW:
        raise JaliError("intervals over two target models are too wide to name an addition; take three or more")
    playing = players(game, np.asarray(evidence.pick(trial.names).observed.all(axis=0)))
    known = Known()

    def attacked(shift: float, one: Rng) -> tuple[ByMetric, Leak]:
        leak = plant(evidence, trial, shift, one)
        return guess_by_metric(leak.evidence, playing, trial, records, person, ("auc",), known), leak

    found, leak = attacked(0.0, rng.spawn(1)[0])
    alone = found.baseline["auc"]
    ideal = Ideal.of(alone)
    tried = [_tried(0.0, found, leak, ideal, playing)]
    made = _all_recovered(tried, evidence, game, trial, wider)
    times = min(MOST_TIMES, max(1, GUESSES // len(alone.score)))
    larger = [size for size in SIZES[1:] if float(aucs(alone).mean()) + size < 1]
    checked: list[float] = []
    while (size := _next_size(made, larger, checked)) is not None:
        for one in rng.spawn(times):
            shift = ideal.shift_for(size, one)
            if shift is None:
                return made
            found, leak = attacked(shift, one)
            tried.append(_tried(size, found, leak, ideal, playing))
        made = _all_recovered(tried, evidence, game, trial, wider)
    return made


def _next_size(made: Sequence[Planted], larger: list[float], checked: list[float]) -> float | None:
    """The addition to plant next, taken from those that are larger, or the limit; None where the limit is known."""
    limit = detectable(made) if len(made) > 1 else None
    if limit is None:
        # The last size that cannot be found is planted all the same: it shows how little is recovered of small ones.
        while len(larger) > 1 and made and larger[1] < least(made):
            larger.pop(0)
        return larger.pop(0) if larger else None
    stays = bool(checked) and 1 / NEAR <= limit / checked[-1] <= NEAR
    if stays or len(checked) == CHECKS:
        return None
    checked.append(limit)
    return limit


@dataclass(frozen=True)
class _Tried:
    """One planted addition: the guesses, and by player (P,) what the attack and the ideal attacker gained.

    known: how well the attack's gains are known.
    """

    size: float
    found: ByMetric
    attack: Floats
    known: Spread
    ideal: Floats


def _all_recovered(
    tried: Sequence[_Tried], evidence: Evidence, game: Game, trial: Trial, wider: float
) -> list[Planted]:
    """What was recovered of each size, in their order, for an audit of the real size."""
    follows = _follows(tried)
    ordered = sorted(tried, key=lambda one: one.size)
    sizes = [one.size for one in ordered]
    several = len(together(trial.attack, game)) > 1
    wide = foreseen([(one.attack, one.known) for one in ordered], len(game.targets))
    noises = _noise(ordered, follows, [one.deviation for one in wide])
    recovered = [_recovered(one, follows, several) for one in ordered]
    smaller = wider * math.sqrt(_people(tried) / _judged_people(evidence, game, trial))
    each = [
        Planted(size, mean, noise, smaller * one.deviation, tuple(smaller * one.half))
        for size, mean, noise, one in zip(sizes, recovered, noises, wide, strict=True)
    ]
    return [_mean([p for p in each if p.size == size]) for size in dict.fromkeys(sizes)]


def _mean(same: Sequence[Planted]) -> Planted:
    """What is known of one size that was planted several times."""
    recovered, noise, deviation = np.mean([(p.recovered, p.noise, p.deviation) for p in same], axis=0)
    half = np.mean([p.half for p in same], axis=0)
    return Planted(same[0].size, float(recovered), float(noise) / math.sqrt(len(same)), float(deviation), tuple(half))


def _tried(size: float, found: ByMetric, leak: Leak, ideal: Ideal, playing: Game) -> _Tried:
    mine = found.baseline["auc"]
    gained = ideal.gained(leak.shift[mine.record], leak.noise[mine.record, playing.targets[mine.unit]])
    return _Tried(size, found, *differences("auc", found.forced["auc"], mine), gained)


def _follows(tried: Sequence[_Tried]) -> float:
    """By how much the attack's gain follows that of the ideal attacker from player to player.

    Both see the same noise, so what chance gave the one can be taken off the other: a control variate.
    """
    over = sum(float(((one.ideal - one.ideal.mean()) ** 2).sum()) for one in tried)
    both = sum(float(((one.ideal - one.ideal.mean()) * one.attack).sum()) for one in tried)
    return min(max(both / over, 0.0), 1.0) if over > 0 else 0.0


def worth(members: Floats, others: Floats) -> float:
    """For how many people, half of them members, those of one target count, from the weights of either side (n,).

    The variance of an AUC is about proportional to 1 / m + 1 / n. With weights a side counts for (sum w)^2 / sum w^2.

    >>> worth(np.ones(50), np.ones(50)), worth(np.ones(50), np.array([1.0] * 25 + [0.0] * 10))
    (100.0, 66.66666666666667)
    """
    return float(4 / sum(1 / max(effective(side), 1.0) for side in (members, others)))


def _people(tried: Sequence[_Tried]) -> float:
    """For how many people those who are judged count, per player."""
    guesses = tried[0].found.forced["auc"]
    each = [guesses.truth[guesses.unit == u] for u in np.unique(guesses.unit)]
    return float(np.mean([worth(np.ones(truth.sum()), np.ones((~truth).sum())) for truth in each]))


def _judged_people(evidence: Evidence, game: Game, trial: Trial) -> float:
    """The same per target of the audit itself: people who are scored and have all signals, with their weights."""
    seen = evidence.pick(trial.names).observed[:, :, game.targets].all(axis=0) & game.scored
    weight = np.where(seen, 1.0 if game.weight is None else game.weight, 0.0)
    member = game.member[:, game.targets]
    return float(np.mean([worth(w[side], w[~side]) for w, side in zip(weight.T, member.T, strict=True)]))


def _recovered(one: _Tried, follows: float, several: bool) -> float:
    """The attack's mean gain, less what chance gave to it.

    several: an audit that learns several combinations counts no gain where it chooses not to use the explanation.
    """
    used = one.found.used["auc"].mean() if several else 1.0
    return float(used * (one.attack.mean() - follows * (one.ideal.mean() - one.size)))


def _noise(tried: Sequence[_Tried], follows: float, deviations: Sequence[float]) -> list[float]:
    """The standard deviation of what is recovered of each size, from the deviations of an audit's differences.

    What is recovered is known from the guesses that were made, however large the audit is. A few players tell little
    about the noise of one size; in deviations of an audit it is about the same for all sizes.
    """
    shares = []
    for one, deviation in zip(tried, deviations, strict=True):
        rest = one.attack - follows * one.ideal
        if len(rest) > 1 and deviation > 0:
            shares.append(float(rest.var(ddof=1)) * SHARED / len(rest) / deviation**2)
    share = math.sqrt(float(np.mean(shares))) if shares else 1.0
    return [share * deviation for deviation in deviations]


def control(trial: Trial, planted: Sequence[Planted]) -> PositiveControl:
    """What is recovered of each size, and the smallest addition that is found in 8 of 10 audits like this."""
    known = sorted(planted, key=lambda p: p.size)
    if len(known) < 2:
        return PositiveControl(explainer=trial.explainer, against=trial.against)
    told = [p for p in known if p.size in SIZES]  # others differ from control to control, and would fill a table
    return PositiveControl(
        explainer=trial.explainer,
        against=trial.against,
        sizes=[p.size for p in told],
        recovered=[p.recovered for p in told],
        power=power(np.array([p.size for p in told]), known).tolist(),
        detectable=detectable(known),
    )


def no_finer_than(measured: Row, found: PositiveControl) -> PositiveControl:
    """The control, with no smaller an addition than the interval of the audit's own difference could show.

    What was planted is the same in all models; a real addition differs from model to model, so its interval may be
    wider. An addition x is found in 8 of 10 where x = h + 0.84 sd, with h = 1.96 sd half the width of that interval.

    >>> measured = Row(kind="contrast", metric="auc", value=0.009, low=-0.003, high=0.021)
    >>> round(no_finer_than(measured, PositiveControl(explainer="e", against=None, detectable=0.005)).detectable, 4)
    0.0172
    """
    if found.detectable is None or measured.low is None or measured.high is None:
        return found
    half = (measured.high - measured.low) / 2
    shown = half * (1 + float(ndtri(POWER) / ndtri(0.975)))
    return found.model_copy(update={"detectable": max(found.detectable, shown)})
