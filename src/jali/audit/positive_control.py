"""Would this audit have seen a leak? Known additions are planted in an explanation, and the same attack is run on them.

The explanation's own signals are shuffled between the models of each record, so that they tell nothing, and one of them
is replaced by noise around the record's level with a shift for members. How much such a shift adds to the AUC of the
baseline is known. Shadow models play the targets, so that the target itself is not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from jali.audit.trials import ByMetric, Trial, guess_by_metric
from jali.core.errors import JaliError
from jali.core.guesses import Guesses, Records
from jali.core.protocols import Combination
from jali.core.values import Bools, Evidence, Floats, Game, Ints, Rng, Unit
from jali.results import PositiveControl
from jali.stats.intervals import foreseen
from jali.stats.roc import auc

SIZES = (0.0, 0.005, 0.05)  # additions in AUC that are planted; the first tells how strong the baseline is
PLAYERS = 8  # shadow models that play the targets, at most
FEWEST = 4  # shadow models needed: one plays the target, and the others are its shadows
POWER = 0.8
EXACT = 1e-9
MOST = 0.3  # largest addition that is thought about


@dataclass(frozen=True)
class Planted:
    """What the attack, made to use the explanation, recovers of one planted size.

    recovered: its mean difference to the baseline. noise: the standard deviation of that mean. deviation, half: for an
    audit of the size of the real one, the standard deviation of the difference and half the width of its interval.
    """

    size: float
    recovered: float
    noise: float
    deviation: float
    half: float


def players(game: Game) -> Game:
    """The game in which shadow models of the first target play the targets, each with the others as its shadows."""
    own = np.flatnonzero(game.shadows[0])
    if len(own) < FEWEST:
        raise JaliError(f"it needs {FEWEST} shadow models, and there are {len(own)}")
    chosen = own[np.unique(np.linspace(0, len(own) - 1, min(PLAYERS, len(own))).round().astype(np.int64))]
    shadows = np.repeat(game.shadows[:1], len(chosen), axis=0)
    shadows[np.arange(len(chosen)), chosen] = False
    judged = _judged(game, chosen)
    return Game(game.member, chosen, shadows, np.repeat(judged[:, None], len(chosen), axis=1), game.asked, game.aside)


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


def shift_for(size: float, baseline: float) -> float | None:
    """The shift d, in deviations, of an independent normal signal that adds so much to the AUC of a baseline.

    With d0 = sqrt(2) ndtri(AUC), the two together have sqrt(d0^2 + d^2). None where the AUC would reach 1.

    >>> round(shift_for(0.1, 0.5), 3)
    0.358
    """
    if baseline + size >= 1:
        return None
    start = math.sqrt(2) * float(ndtri(min(max(baseline, 0.5), 1 - EXACT)))
    end = math.sqrt(2) * float(ndtri(min(max(baseline, 0.5) + size, 1 - EXACT)))
    return math.sqrt(max(end**2 - start**2, 0.0))


def plant(evidence: Evidence, trial: Trial, shift: float, rng: Rng) -> Evidence:
    """The signals of a trial with the explanation's shuffled, and the first of them replaced by noise with a shift."""
    found = evidence.pick(trial.names)
    value = found.value.copy()
    some = np.asarray(found.observed[trial.base :].all(axis=0))
    order = shuffled(some, rng)
    for s in range(trial.base, len(value)):
        value[s] = np.take_along_axis(value[s], order, axis=1)
    first = trial.base
    cells = np.maximum(some.sum(axis=1, keepdims=True), 1)
    level = np.where(some, value[first], 0.0).sum(axis=1, keepdims=True) / cells
    rest = np.where(some, value[first] - level, 0.0)
    deviation = math.sqrt(float((rest**2).sum()) / max(float((some.sum(axis=1) - 1).clip(0).sum()), 1.0)) or 1.0
    noise = rng.normal(size=some.shape) + shift * found.member
    value[first] = np.where(some, level + deviation * noise, 0.0)
    observed = np.concatenate([found.observed[:first], np.repeat(some[None], len(value) - first, axis=0)])
    units = (*found.units[:first], Unit.PLAIN, *found.units[first + 1 :])
    return Evidence(found.names, np.where(observed, value, 0.0), observed, found.member, units)


def shuffled(some: Bools, rng: Rng) -> Ints:
    """For each cell (N, M) the model of the same record from which it takes its value; only cells in `some` move."""
    drawn = np.where(some, rng.random(some.shape), np.inf)
    places = np.argsort(~some, axis=1, kind="stable")
    sources = np.argsort(drawn, axis=1, kind="stable")
    moving = np.arange(some.shape[1]) < some.sum(axis=1, keepdims=True)
    out = np.broadcast_to(np.arange(some.shape[1]), some.shape).copy()
    np.put_along_axis(out, places, np.where(moving, sources, places), axis=1)
    return out


def recover(
    evidence: Evidence,
    game: Game,
    trial: Trial,
    rngs: Sequence[Rng],
    records: Records | None = None,
    person: Ints | None = None,
) -> list[Planted]:
    """Plant additions of each size and attack them; sizes that are too large to be possible are left out."""
    playing = players(game)
    learnt: dict[int, Combination] = {}
    baseline = 0.5
    out = []
    for size, rng in zip(SIZES, rngs, strict=True):
        shift = shift_for(size, baseline)
        if shift is not None:
            planted = plant(evidence, trial, shift, rng)
            found = guess_by_metric(planted, playing, trial, records, person, ("auc",), learnt)
            baseline = _auc(found.baseline["auc"])
            out.append(_recovered(size, found, game, playing))
    return out


def _auc(guesses: Guesses) -> float:
    """The mean over targets."""
    each = [guesses.unit == u for u in np.unique(guesses.unit)]
    return float(np.mean([auc(guesses.score[mine], guesses.truth[mine]) for mine in each]))


def _recovered(size: float, found: ByMetric, game: Game, playing: Game) -> Planted:
    """What was recovered, and how well an audit of the real size would know it."""
    sides = found.forced["auc"], found.baseline["auc"]
    mean, noise, _ = foreseen("auc", *sides, len(playing.targets))
    _, deviation, half = foreseen("auc", *sides, len(game.targets))
    people = len(sides[0].score) / len(playing.targets)
    judged = max(1.0, float(game.scored.sum()) / len(game.targets))
    smaller = math.sqrt(people / judged)
    return Planted(size, mean, noise, deviation * smaller, half * smaller)


def control(trial: Trial, planted: Sequence[Planted]) -> PositiveControl:
    """What is recovered of each size, and the smallest addition that is found in 8 of 10 audits like this."""
    known = sorted(planted, key=lambda p: p.size)
    if len(known) < 2:
        return PositiveControl(explainer=trial.explainer, against=trial.against)
    share, lost = _line(known)
    return PositiveControl(
        explainer=trial.explainer,
        against=trial.against,
        sizes=[p.size for p in known],
        recovered=[p.recovered for p in known],
        power=[float(_power(np.array([p.size]), known, share, lost)[0]) for p in known],
        detectable=_detectable(known, share, lost),
    )


def _line(planted: Sequence[Planted]) -> tuple[float, float]:
    """Share and loss of the line recovered = share * size - lost, by least squares weighted with the noise.

    Lost is what a combination costs where the explanation tells nothing. One planted size is as noisy as an audit; the
    line uses all of them.
    """
    size = np.array([p.size for p in planted])
    weight = 1 / np.maximum([p.noise for p in planted], EXACT)
    design = np.stack([size, -np.ones(len(size))], axis=1) * weight[:, None]
    share, lost = np.linalg.lstsq(design, weight * [p.recovered for p in planted], rcond=None)[0]
    return float(share), float(max(lost, 0.0))


def _power(size: Floats, planted: Sequence[Planted], share: float, lost: float) -> Floats:
    """The probability that the interval of an audit like this lies above zero, at sizes (n,)."""
    at = [p.size for p in planted]
    half = np.interp(size, at, [p.half for p in planted])
    deviation = np.interp(size, at, [p.deviation for p in planted])
    return np.asarray(ndtr((share * size - lost - half) / np.maximum(deviation, EXACT)))


def _detectable(planted: Sequence[Planted], share: float, lost: float) -> float | None:
    """Where the power reaches 8 of 10, between the planted sizes or beyond; None if nowhere."""
    largest = planted[-1].size
    grid = np.concatenate([np.linspace(0.0005, largest, 200), np.linspace(largest, MOST, 100)])
    enough = np.flatnonzero(_power(grid, planted, share, lost) >= POWER)
    return float(grid[enough[0]]) if len(enough) else None
