"""Target by target gives what all guesses together give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core.guesses import Guesses, rows_by_unit
from jali.stats import influence, one_model, people
from jali.stats.intervals import average, estimate, over_targets
from jali.stats.judged import Judged, Paired

METRICS = ("auc", "balanced_accuracy", "tpr@0.1", "tnr@0.1", "precision", "recall")
WEIGHABLE = METRICS[:4]


def guesses(rng, kind: str) -> Guesses:
    """Guesses about three targets: people with one row each, with several, with weights, or with tied scores."""
    unit = np.repeat([2, 5, 7], [150, 180, 160])
    record = np.concatenate([np.sort(rng.permutation(200)[:n]) for n in (150, 180, 160)])
    person = record // 2 if kind == "people" else record
    truth = (rng.random((10, 200)) < 0.5)[unit, person]
    score = rng.normal(size=len(unit)) + truth
    score = np.round(score) if kind == "ties" else score
    weight = rng.random(len(unit)) + 0.5 if kind == "weights" else np.empty(0)
    return Guesses(score, truth, unit, record, person * (10**7 if kind == "far numbers" else 1), weight)


@pytest.mark.parametrize("kind", ["plain", "people", "weights", "ties", "far numbers"])
def test_values_and_spread_are_those_of_all_guesses_at_once(rng, kind):
    mine = guesses(rng, kind)
    metrics = WEIGHABLE if kind == "weights" else METRICS
    judged = Judged(mine, metrics)
    group = mine.group if mine.grouped else None
    for metric in metrics:
        value = []
        effect = []
        for r in rows_by_unit(mine.unit):
            weight = None if mine.weights is None else mine.weights[r]
            of = None if group is None else group[r]
            value.append(one_model.metric_of(metric, mine.score[r], mine.truth[r], of, weight))
            effect.append(influence.influence(metric, mine.score[r], mine.truth[r], weight))
        assert judged.values(metric) == pytest.approx(value, abs=1e-14)
        assert judged.effects(metric) == pytest.approx(np.concatenate(effect), abs=1e-14)
        known = influence.spread(np.concatenate(effect), mine.unit, mine.group)
        assert vars(judged.spread_of(metric)) == pytest.approx(vars(known), rel=1e-10)
    sides = [
        people.people(mine.group[s], None if mine.weights is None else mine.weights[s])
        for s in (~mine.truth, mine.truth)
    ]
    assert judged.measured(metrics[0]).people == pytest.approx(sides)


def test_metrics_asked_together_are_those_asked_alone(rng):
    mine = guesses(rng, "plain")
    together = Judged(mine, METRICS)
    for metric in METRICS:
        assert estimate(metric, together, rng) == estimate(metric, mine, rng)


@pytest.mark.parametrize("kind", ["plain", "people", "weights"])
def test_a_pair_has_the_differences_of_its_sides(rng, kind):
    mine = guesses(rng, kind)
    other = replace(mine, score=mine.score + rng.normal(size=len(mine.score)))
    pair = Paired(Judged(mine), Judged(other), WEIGHABLE)
    for metric in WEIGHABLE:
        values, spread = pair.difference(metric)
        assert values == pytest.approx(Judged(mine).values(metric) - Judged(other).values(metric), abs=1e-14)
        effect = Judged(mine).effects(metric) - Judged(other).effects(metric)
        assert vars(spread) == pytest.approx(vars(influence.spread(effect, mine.unit, mine.group)), rel=1e-10)


def test_a_metric_that_one_target_cannot_resolve_has_a_reason(rng):
    mine = guesses(rng, "plain")
    found = Judged(mine, ("auc", "tpr@0.01")).measured("auc")
    number, how = over_targets("tpr@0.01", found)
    assert (number.value, how) == (None, "")
    assert number.reason.startswith("FPR 1 % needs at least 299 non-members; there are ")
    assert list(found.values) == ["auc"]


def test_no_precision_where_nobody_is_flagged(rng):
    mine = guesses(rng, "plain")
    low = Guesses(np.where(mine.unit == 5, -1.0, mine.score), mine.truth, mine.unit, mine.record)
    assert (
        estimate("precision", low, rng)[0].reason == "No record is flagged as a member in 1 of 3 targets: no precision."
    )


def test_an_average_has_the_spread_of_its_people(rng):
    mine = guesses(rng, "people")
    x = mine.score > 1
    count = {u: np.count_nonzero(mine.unit == u) for u in (2, 5, 7)}
    mean = {u: x[mine.unit == u].mean() for u in count}
    effect = np.array([(xi - mean[u]) / count[u] for xi, u in zip(x, mine.unit.tolist(), strict=True)])
    found = average(x, mine.unit, mine.group)
    assert found.value == pytest.approx(np.mean(list(mean.values())))
    one = mine.unit == 5
    alone = average(x[one], mine.unit[one], mine.group[one])
    half = 1.959964 * np.sqrt((np.bincount(mine.group[one], effect[one]) ** 2).sum())
    assert alone.high - alone.value == pytest.approx(half, rel=1e-6)
