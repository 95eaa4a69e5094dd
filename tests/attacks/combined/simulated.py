"""Simulated audits with a known likelihood ratio: evidence, a game in which every model is a target, oracles."""

from __future__ import annotations

import numpy as np

from jali.attacks.joint import Joint
from jali.audit.trials import ByMetric, Trial, guess_by_metric
from jali.core.guesses import Guesses, Shadows, Target
from jali.core.values import Channel, Evidence, Floats, Game, SignalName, Unit
from jali.stats.roc import auc, metric

SHIFT = 0.75  # of the first signal, in deviations within a record


def everyone(member, targets: int | None = None) -> Game:
    """Every model in turn the target, or the first few, all others its shadows."""
    some = np.arange(targets or member.shape[1])
    shadows = ~np.eye(member.shape[1], dtype=bool)[some]
    return Game(member, some, shadows, np.ones((len(member), len(some)), dtype=bool))


def evidence(value: Floats, member, units: tuple[Unit, ...] = ()) -> Evidence:
    """Signals s0, s1, ... observed everywhere."""
    names = tuple(SignalName(f"s{i}") for i in range(len(value)))
    return Evidence(names, value, np.ones(value.shape, dtype=bool), member, units)


def two_signals(correlation: float, shift: float, seed: int = 10, n: int = 1500, models: int = 17):
    """A shifted signal and one with correlated noise: values (2, N, M), member, both oracles' scores (N, M)."""
    rng = np.random.default_rng(seed)
    member = rng.random((n, models)) < 0.5
    level = rng.normal(0, 2, (2, n, 1))
    first = rng.normal(size=member.shape)
    second = correlation * first + np.sqrt(1 - correlation**2) * rng.normal(size=member.shape)
    shifts = np.array([SHIFT, shift])
    rest = np.stack([SHIFT * member + first, shift * member + second])
    weight = np.linalg.solve([[1, correlation], [correlation, 1]], shifts)
    return level + rest, member, rest[0], np.tensordot(weight, rest, 1)


def combined(found: Evidence, base: int = 1, metrics=("auc",), game: Game | None = None) -> ByMetric:
    """The combined attack on all signals, the first `base` of which are the baseline's."""
    trial = Trial(Joint(), found.names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, base)
    return guess_by_metric(found, game or everyone(found.member), trial, metrics=metrics)


def mean(guesses: Guesses, name: str = "auc") -> float:
    """A metric, averaged over targets."""
    units = [guesses.pick(guesses.unit == u) for u in np.unique(guesses.unit)]
    return float(np.mean([metric(name)(g.score, g.truth) for g in units]))


def added(found: ByMetric) -> float:
    """By how much the explanation raises the AUC."""
    return mean(found.score["auc"]) - mean(found.baseline["auc"])


def truly_added(before: Floats, after: Floats, member, targets: int) -> float:
    """The same of the likelihood ratios (N, M), for the first few models."""
    each = range(targets)
    return float(np.mean([auc(after[:, t], member[:, t]) - auc(before[:, t], member[:, t]) for t in each]))


def target_and_shadows(value: Floats, member, units: tuple[Unit, ...] = (), observed=None) -> tuple[Target, Shadows]:
    """The first model attacked with the help of the others."""
    seen = np.ones(value.shape, dtype=bool) if observed is None else observed
    return Target(value[:, :, 0], seen[:, :, 0]), Shadows(value[:, :, 1:], seen[:, :, 1:], member[:, 1:], units)
