"""Whether an explanation is given at all: a leak of its own where the decision does not determine it."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.plan import plan, with_gaps
from jali.audit.signal_attacks import attack_evidence
from jali.core import registry
from jali.core.values import Channel, Evidence, Game, SignalName
from jali.report.audit import headline, text, verdicts
from jali.report.audit.html import render
from jali.results import Results

PEOPLE, MODELS = 600, 8
NAMES = (SignalName("confidence"), SignalName("correctness"), SignalName("size", "e"))


def made(inside: float, outside: float, seed: int = 0, by_decision: bool = False) -> tuple[Evidence, Game]:
    """A score and a decision that leak, and an explanation that tells nothing but by who gets it."""
    rng = np.random.default_rng(seed)
    member = rng.random((PEOPLE, MODELS)) < 0.5
    score = rng.normal(0, 2, (PEOPLE, 1)) + rng.normal(size=member.shape) + 0.75 * member
    right = rng.random(member.shape) < np.where(member, 0.95, 0.8)
    label = rng.random((PEOPLE, 1)) < 0.5
    given = rng.random(member.shape) < np.where(member, inside, outside)
    if by_decision:
        given = right == label
    observed = np.stack([np.ones_like(given), np.ones_like(given), given])
    value = np.where(observed, np.stack([score, right, rng.normal(size=member.shape)]), 0.0)
    shadows = ~np.eye(MODELS, dtype=bool)
    return Evidence(NAMES, value, observed, member), Game(member, np.arange(MODELS), shadows, np.ones_like(member))


def attacked(evidence: Evidence, game: Game) -> Results:
    found = attack_evidence(evidence, game, [registry.build("attack", "threshold")])
    return Results(rows=found.rows, sanity=found.checks, controls=found.controls)


@pytest.fixture(scope="module")
def leaking() -> Results:
    return attacked(*made(0.75, 0.45))


def availability(results: Results, against: Channel):
    [row] = results.find(kind="availability", metric="auc", against=against)
    return row


def test_a_few_members_who_get_no_explanation_are_recognised():
    # 1.5 % of members, and nobody else: less than 1 % of all cells, and as many members are known for certain.
    evidence, game = made(0.985, 1.0)
    assert len(plan(with_gaps(evidence, game), game).availability) == 2
    assert availability(attacked(evidence, game), Channel.SCORE).low > 0


def test_what_follows_from_the_decision_is_not_counted_again():
    evidence, game = made(0, 0, by_decision=True)
    assert plan(with_gaps(evidence, game), game).availability == ()
    evidence, game = made(0.6, 0.6)
    assert [trial.against for trial in plan(with_gaps(evidence, game), game).availability] == [
        Channel.SCORE,
        Channel.DECISION,
    ]


def test_without_gaps_there_is_nothing_to_ask():
    evidence, game = made(1.0, 1.0)
    assert plan(with_gaps(evidence, game), game).availability == ()


@pytest.mark.parametrize("against", [Channel.SCORE, Channel.DECISION])
def test_members_who_get_more_explanations_are_recognised_by_that(leaking, against):
    """The likelihood ratio adds log(.75/.45) or log(.25/.55) to that of the score: about .05 in AUC over everybody."""
    row = availability(leaking, against)
    assert row.low > 0.02
    assert row.coverage == 1.0
    assert row.n == PEOPLE


def test_it_is_said_and_nothing_reassures_beside_it(leaking):
    [verdict] = verdicts.verdicts(leaking)
    said = " ".join(verdict.sentences)
    assert verdict.tag == "helps to infer membership"
    assert "Whether it is given at all adds" in said
    assert "less than" not in said
    assert all("Whether an explanation is given at all adds to AUC" in s for s in headline.headline(leaking).additions)
    assert "Whether <code>e</code> is given adds over" in render(leaking)
    labels = [label for lines in text._lines(leaking).values() for label, _ in lines]
    assert "whether given adds over score" in labels


@pytest.mark.parametrize("seed", range(3))
def test_explanations_that_are_missing_by_chance_add_nothing(seed):
    results = attacked(*made(0.6, 0.6, seed))
    for against in (Channel.SCORE, Channel.DECISION):
        row = availability(results, against)
        assert row.low <= 0 <= row.high
        assert abs(row.value) < 0.01
    assert "given at all" not in " ".join(headline.headline(results).additions)
