"""What explanations add, from evidence to words: both sides on the same people, and no reassurance by weakness."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from jali.audit.signal_attacks import attack_evidence
from jali.core.values import Evidence, Game, SignalName
from jali.report.audit import text
from jali.results import Results, Row
from jali.stats.roc import METRICS

REASSURING = re.compile(r"at most|adds? nothing|measurabl|hinder", re.IGNORECASE)
TARGETS = 6


def audit(explain, records: int = 700, there=None) -> Results:
    """Made-up scores, larger for members, beside an explanation made from membership, score and noise.

    The first models are targets, all others shadows; there (N,): who gets an explanation.
    """
    rng = np.random.default_rng(0)
    models = TARGETS + 10
    member = rng.random((records, models)) < 0.5
    score = rng.normal(size=(records, 1)) + rng.normal(size=(records, models)) + 0.8 * member
    told = explain(member, score, rng.normal(size=(records, models)))
    observed = np.ones((2, records, models), dtype=bool)
    if there is not None:
        observed[1] = there[:, None]
    shadows = np.arange(models)[None] >= np.full((TARGETS, 1), TARGETS)
    game = Game(member, np.arange(TARGETS), shadows, np.ones((records, TARGETS), dtype=bool))
    names = (SignalName("confidence"), SignalName("size", "e"))
    attacked = attack_evidence(Evidence(names, np.stack([score, told]), observed, member), game)
    more = {"exposed": attacked.exposed, "sanity": attacked.checks, "controls": attacked.controls}
    return Results(rows=attacked.rows, curves=attacked.curves, **more)


def said(results: Results) -> str:
    summary = text.summary(results)
    assert not REASSURING.search(summary)
    return summary


def the(results: Results, metric: str, **want: str) -> Row:
    (row,) = results.find(metric=metric, explainer="e", against="score", **want)
    return row


@pytest.fixture(scope="module")
def partly() -> Results:
    """An explanation for 250 of 700 records."""
    there = np.arange(700) < 250
    return audit(lambda member, score, noise: noise + 1.0 * member, there=there)


@pytest.mark.parametrize("metric", METRICS)
def test_with_minus_without_is_what_is_added_on_the_same_people(partly, metric):
    added = the(partly, metric, kind="contrast")
    with_ = the(partly, metric, kind="paired", channel="score+explanation")
    without = the(partly, metric, kind="paired", channel="score")
    assert with_.n == without.n == added.n == 250
    assert with_.coverage == without.coverage == pytest.approx(250 / 700)
    if added.value is None:
        assert with_.value is None
        assert without.value is None
    else:
        assert with_.value - without.value == pytest.approx(added.value, abs=1e-12)


def test_the_baseline_on_everybody_is_another_number(partly):
    (everybody,) = partly.find(kind="attack", channel="score", attack="joint", metric="auc")
    same = the(partly, "auc", kind="paired", channel="score")
    assert everybody.n == 700
    assert everybody.value != same.value


def test_curves_are_drawn_on_the_same_people_too(partly):
    floors = {(c.explainer, c.label): c.floor for c in partly.curves}
    assert floors["e", "score"] == floors["e", "score + explanation"]
    assert floors["", "score"] < floors["e", "score"]


def test_where_everybody_is_explained_both_sides_are_the_attacks_themselves():
    results = audit(lambda member, score, noise: noise + 1.5 * member)
    for channel, explainer in (("score", ""), ("score+explanation", "e")):
        (alone,) = results.find(kind="attack", channel=channel, explainer=explainer, attack="joint", metric="auc")
        same = the(results, "auc", kind="paired", channel=channel)
        assert (alone.value, alone.low, alone.high) == pytest.approx((same.value, same.low, same.high))
    assert not [c for c in results.curves if (c.explainer, c.label) == ("e", "score")]
    assert "the explanation adds between" in said(results)


def limited(results: Results, row: Row) -> bool:
    """Whether the summary says less than x, with x as large as the interval and the positive control ask for."""
    x = re.search(r"adds less than (0\.\d+) in AUC", said(results))
    assert row.detectable is not None
    return x is not None and float(x[1]) >= max(row.high, row.detectable)


def test_an_explanation_that_repeats_the_score_is_judged_by_the_combination_made_to_use_it():
    results = audit(lambda member, score, noise: score + 0.3 * noise, records=1400)
    row = the(results, "auc", kind="contrast")
    assert abs(row.value) < 0.003
    assert row.low <= 0 <= row.high
    assert limited(results, row)
    assert "0.000 to 0.000" not in text.plain(results)


def test_noise_is_not_called_harmless():
    results = audit(lambda member, score, noise: noise, records=1400)
    row = the(results, "auc", kind="contrast")
    assert row.low <= 0 <= row.high
    assert limited(results, row)


def test_an_explanation_that_misleads_the_combination_protects_nobody():
    """It tells members from others under shadow models only, so that what was learnt there hurts here."""
    told = np.arange(TARGETS + 10) >= TARGETS
    results = audit(lambda member, score, noise: noise + 1.5 * told * member)
    assert the(results, "auc", kind="contrast").high < 0
    assert "it combines badly. An attacker may ignore what hurts: read this as no finding, not as protection" in said(
        results
    )


def test_few_people_are_too_small_to_tell():
    results = audit(lambda member, score, noise: noise + 0.3 * member, records=100)
    found = re.search(
        r"this audit is too small to tell: it finds additions of (0\.\d+) in AUC or more in 8 of 10 cases.*; to find "
        r"0\.02, about ([\d,]+) people or ([\d,]+) target models are needed",
        said(results),
    )
    assert found
    assert float(found[1]) > 0.02
    assert int(found[2].replace(",", "")) > 100
    assert int(found[3].replace(",", "")) > TARGETS


def test_very_few_people_are_too_small_to_say_what_it_takes():
    results = audit(lambda member, score, noise: noise + 0.3 * member, records=12)
    assert "this audit is too small to tell" in said(results)
    assert "how many people it takes to find 0.02 cannot be said" in said(results)


def test_results_of_older_versions_are_read():
    row = {"kind": "contrast", "metric": "auc", "value": 0.0, "low": 0.0, "high": 0.0, "against": "score"}
    old = {"schema_version": "jali.results/2", "rows": [row, row | {"explainer": "b", "ignored_below": 0.002}]}
    results = Results.model_validate_json(json.dumps(old))
    assert [(r.unchanged, r.detectable) for r in results.rows] == [(None, None)] * 2
    assert "made no use of" in said(results)
