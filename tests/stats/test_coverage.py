"""Simulated coverage of 95 % intervals over targets; `benchmarks/bench_coverage.py` has more settings and draws."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.guesses import Guesses
from jali.core.values import Rng
from jali.stats.influence import Spread
from jali.stats.intervals import contrast, estimate, over_units

BOUNDS = (-np.inf, np.inf)


def normal_values(targets: int, excess: float, shared: float, draws: int = 1500) -> tuple[float, float]:
    """Coverage, and mean half-width by sd, where people cause a variance of 1 in each target and models add `excess`.

    shared: covariance of two targets, by the variance of a mean of independent ones.
    """
    rng = np.random.default_rng(0)
    covariance = shared / targets
    known = Spread(within=1 / targets + covariance / targets, shared=covariance)
    values = np.sqrt(1 + excess) * rng.normal(size=(draws, targets)) + np.sqrt(covariance) * rng.normal(size=(draws, 1))
    found = [over_units(v, 0.95, BOUNDS, known) for v in values]
    sd = np.sqrt((1 + excess) / targets + covariance)
    width = np.mean([e.high - e.value for e in found]) / sd
    return float(np.mean([e.low <= 0 <= e.high for e in found])), float(width)


@pytest.mark.parametrize("targets", [2, 3, 5, 8, 16])
@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_models_that_differ_are_covered_however_much_they_do(targets: int, shared: float):
    """With one exact variance for the people, an estimated excess of zero must not make the interval collapse."""
    covered = [normal_values(targets, excess, shared)[0] for excess in (0.0, 1.0, 4.0, 20.0, 400.0)]
    assert min(covered) >= 0.925
    assert covered[0] >= 0.95


@pytest.mark.parametrize(
    ("targets", "shared", "most", "t_alone"),
    [(2, 0.0, 10.0, 14.8), (3, 0.0, 3.9, 4.9), (5, 0.0, 2.65, 3.08), (8, 0.0, 2.4, 2.58), (16, 0.0, 2.25, 2.27),
     (2, 1.0, 7.2, 14.0), (3, 1.0, 2.9, 4.7), (5, 1.0, 2.3, 2.95), (8, 1.0, 2.2, 2.5), (16, 1.0, 2.1, 2.22)],
)  # fmt: skip
def test_half_width_by_sd_where_models_do_not_differ(targets: int, shared: float, most: float, t_alone: float):
    """t_alone: with T - 1 degrees of freedom for everything. What covers 95 % always is never below 10.2 at T = 2."""
    assert normal_values(targets, 0.0, shared)[1] < most < t_alone


def audit(
    rng: Rng,
    targets: int,
    models: float = 0.0,
    rows: int = 1,
    tails: float = np.inf,
    same: bool = False,
    people: int = 120,
) -> Guesses:
    """People judged under each target: noise that lasts from target to target, and is common to a person's rows."""
    shape = (targets, people, rows)
    half = np.arange(people) < people // 2
    drawn = [rng.permutation(half) for _ in range(1 if same else targets)]
    member = np.broadcast_to(np.stack(drawn)[:, :, None], shape)
    noise = rng.normal(size=(1, people, 1)) + rng.normal(size=(targets, people, 1)) + 0.5 * rng.normal(size=shape)
    if np.isfinite(tails):
        noise = noise / np.sqrt(rng.chisquare(tails, size=(targets, people, 1)) / tails)
    score = noise + (0.8 + models * rng.normal(size=(targets, 1, 1))) * member
    unit, person, row = np.indices(shape)
    record = person * rows + row
    return Guesses(score.ravel(), member.ravel(), unit.ravel(), record.ravel(), person.ravel())


def better(guesses: Guesses, rng: Rng) -> Guesses:
    """A second attack on the same people that knows a little more."""
    score = guesses.score + 0.4 * guesses.truth + 0.7 * rng.normal(size=guesses.group.max() + 1)[guesses.group]
    return Guesses(score, guesses.truth, guesses.unit, guesses.record, guesses.group)


SETTINGS = {
    "two models that differ": {"targets": 2, "models": 0.5},
    "two models, clustered noise": {"targets": 2, "rows": 5, "same": True},
    "three models, heavy tails": {"targets": 3, "tails": 2.0},
    "three models that differ": {"targets": 3, "models": 0.5},
    "five models, clustered noise": {"targets": 5, "rows": 5, "same": True, "people": 60},
    "eight models, heavy tails": {"targets": 8, "tails": 2.0, "people": 60},
    "sixteen models that differ": {"targets": 16, "models": 0.3, "people": 60},
}


@pytest.mark.parametrize("paired", [False, True], ids=["auc", "difference"])
@pytest.mark.parametrize("name", SETTINGS)
def test_simulated_audits_are_covered(name: str, paired: bool):
    """An AUC is unbiased, so the mean over the draws is its true value."""
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        guesses = audit(rng, **SETTINGS[name])
        more = better(guesses, rng)
        found.append(contrast("auc", more, guesses, rng)[0] if paired else estimate("auc", guesses, rng)[0])
    true = np.mean([e.value for e in found])
    assert np.mean([e.low <= true <= e.high for e in found]) >= 0.92
