from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jali.audit.quality import Measured, Quality
from jali.audit.summary import cells_of, combined, measures, sizes
from jali.core.values import Column, Dataset, Evidence, Game, Schema, SignalName
from jali.games.outsiders import Outsiders


def game(asked=None) -> Game:
    """Three targets with two scored records each, none of them shared, and one shadow."""
    scored = np.repeat(np.eye(3, dtype=bool), 2, axis=0)
    shadows = np.tile([False, False, False, True], (3, 1))
    return Game(np.zeros((6, 4), bool), [0, 1, 2], shadows, scored, asked)


def test_costs_are_averaged_per_target_then_over_targets():
    """Means 2, 4 and 8; the second cell of the last target has no answer. Models add with 2 degrees of freedom."""
    value = np.array([[1, 3, 4, 4, 8, 99], [1, 0, 1, 1, 1, 0]], dtype=np.float32)
    defined = np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]], dtype=bool)
    nothing = Evidence((), np.zeros((0, 6, 4)), np.zeros((0, 6, 4), bool), game().member)
    cost, share = measures(
        nothing, game(), Quality((Measured("cost_l1", "e"), Measured("validity", "e")), value, defined), {}
    )
    within = 0.5 / 9  # only the answers 1 and 3 of the first target differ
    excess = np.var([2, 4, 8], ddof=1) / 3 - (1 - 0.92 * 0.65) * within
    freedom = 2 / (0.5 - 1 / 5)  # of two people of five, with equal shares
    half = np.sqrt(stats.t.ppf(0.975, freedom) ** 2 * within + stats.t.ppf(0.975, 2) ** 2 * excess)
    assert cost.value == pytest.approx(14 / 3)
    assert (cost.low, cost.high) == pytest.approx((max(0, 14 / 3 - half), 14 / 3 + half))
    assert cost.high > 1
    assert (cost.explainer, cost.metric, cost.units) == ("e", "cost_l1", 3)
    assert share.value == pytest.approx(2 / 3)
    assert 0 <= share.low < share.high == 1


def test_a_measure_of_nobody_has_a_reason():
    nothing = Evidence((), np.zeros((0, 6, 4)), np.zeros((0, 6, 4), bool), game().member)
    [row] = measures(
        nothing, game(), Quality((Measured("cost_l1", "e"),), np.zeros((1, 6), np.float32), np.zeros((1, 6), bool)), {}
    )
    assert row.value is None
    assert row.reason


def test_the_share_answered_is_of_those_asked():
    asked = np.ones((6, 4), bool)
    asked[3:, 3] = False
    defined = asked.copy()
    defined[0, 0] = False
    evidence = Evidence(
        (SignalName("x", "whole"), SignalName("x", "gaps")),
        np.zeros((2, 6, 4)),
        np.stack([asked, defined]),
        game().member,
    )
    none = Quality((), np.zeros((0, 6), np.float32), np.zeros((0, 6), bool))
    whole, row = measures(evidence, game(asked), none, {})
    assert (whole.explainer, whole.metric, whole.value) == ("whole", "answered", 1.0)
    assert (row.explainer, row.metric, row.value) == ("gaps", "answered", pytest.approx(5 / 6))


def test_measures_count_people():
    """Six answers of three people: no case among three, and the spread of three sums."""
    value = np.array([[1, 3, 1, 3, 1, 3], [0] * 6], dtype=np.float32)
    nothing = Evidence((), np.zeros((0, 6, 4)), np.zeros((0, 6, 4), bool), game().member)
    quality = Quality((Measured("cost_l1", "e"), Measured("clamped", "e")), value, np.ones((2, 6), dtype=bool))
    rows, people = (measures(nothing, game(), quality, {}, p) for p in (None, np.array([0, 0, 1, 1, 2, 2])))
    assert rows[0].value == people[0].value == 2
    assert people[0].low == people[0].high == 2  # everybody has the same mean
    assert rows[0].high > 2
    assert people[1].high == pytest.approx(1 - 0.025 ** (1 / 3))


def test_sizes_say_how_many_people_there_are_where_they_have_several_rows():
    X, y, schema = np.zeros((6, 1)), np.zeros(6, dtype=int), Schema((Column("x"),))
    assert sizes(game(), Dataset(X, y, schema, [5, 5, 7, 7, 8, 9]))["people"] == 4
    assert "people" not in sizes(game(), Dataset(X, y, schema))


def test_sizes_say_how_many_are_scored_where_not_all_are_asked():
    assert "records scored per target" not in sizes(game())
    assert sizes(game(np.ones((6, 4), bool)))["records scored per target"] == 2


def test_what_generalising_costs_is_told_of_each_group():
    """Two targets, three records each; the first record is in the group."""
    nothing = Evidence((), np.zeros((0, 6, 2)), np.zeros((0, 6, 2), bool), np.zeros((6, 2), bool))
    scored = np.zeros((6, 2), dtype=bool)
    scored[:3] = True
    drawn = Game(np.arange(6)[:, None] >= [3, 3], [0, 1], np.zeros((2, 2), bool), scored)
    value = np.array([[0.1, 0.2, 0.3, 0.3, 0.2, 0.1]], np.float32)
    of = {"sex = f": np.arange(6) == 0}
    everybody, group = measures(nothing, drawn, Quality((Measured("ncp", "e"),), value, np.ones((1, 6), bool)), of)
    assert everybody.value == pytest.approx(0.2)
    assert (group.group, group.n) == ("sex = f", 2)
    assert group.value == pytest.approx(0.2)


def test_a_difference_is_taken_within_each_target():
    """Targets differ by far more than the explainers do: the models are the same, so that this does not count."""
    rng, n = np.random.default_rng(0), 40
    data = Dataset(np.zeros((n, 1)), np.zeros(n, dtype=int), Schema((Column("x"),)))
    game = Outsiders(targets=4, share=0.5).draw(data, rng)
    unit = np.nonzero(game.scored.T)[0]
    base = 10.0 * unit + rng.normal(size=len(unit))
    more = base + 0.3 + 0.01 * rng.normal(size=len(unit))
    defined = np.ones((2, len(unit)), dtype=bool)
    defined[0, ::7] = False
    quality = Quality((Measured("ncp", "a"), Measured("ncp", "b")), np.stack([more, base]).astype(np.float32), defined)
    mine, other = (cells_of(quality, Measured("ncp", name), None, game) for name in "ab")
    found = combined(game, (1, -1), (mine, other))
    each = [(more - base)[defined[0] & (unit == t)].mean() for t in range(4)]
    assert found.value == pytest.approx(np.mean(each), abs=1e-5)
    assert 0.28 < found.low < found.value < found.high < 0.32
    assert cells_of(quality, Measured("ncp", "c"), None, game) is None
    nobody = cells_of(quality, Measured("ncp", "a"), np.zeros(n, dtype=bool), game, "old")
    assert combined(game, (1, -1), (nobody, other)) is None


def test_groups_are_compared_within_each_target():
    rng, n = np.random.default_rng(1), 60
    data = Dataset(np.zeros((n, 1)), np.zeros(n, dtype=int), Schema((Column("x"),)))
    game = Outsiders(targets=5, share=0.5).draw(data, rng)
    unit, record = np.nonzero(game.scored.T)
    old = np.arange(n) % 3 == 0
    value = 10.0 * unit + old[record] + 0.1 * rng.normal(size=len(unit))
    quality = Quality((Measured("ncp", "a"),), value[None].astype(np.float32), np.ones((1, len(unit)), dtype=bool))
    ncp = Measured("ncp", "a")
    both = cells_of(quality, ncp, old, game, "old"), cells_of(quality, ncp, ~old, game, "young")
    found = combined(game, (1, -1), both)
    each = [value[(unit == t) & old[record]].mean() - value[(unit == t) & ~old[record]].mean() for t in range(5)]
    assert found.value == pytest.approx(np.mean(each), abs=1e-5)
    assert found.low < 1 < found.high
    assert found.high - found.low < 0.2


def test_a_gap_that_grows_is_a_signed_sum_within_each_target():
    """Old records lose 1 more than young ones now and .4 more before, whatever the target adds to all of them."""
    rng, n = np.random.default_rng(2), 60
    data = Dataset(np.zeros((n, 1)), np.zeros(n, dtype=int), Schema((Column("x"),)))
    game = Outsiders(targets=5, share=0.5).draw(data, rng)
    unit, record = np.nonzero(game.scored.T)
    old = np.arange(n) % 3 == 0
    noise = 0.02 * rng.normal(size=(2, len(unit)))
    value = np.stack([10.0 * unit + old[record], 3.0 * unit + 0.4 * old[record]]) + noise
    names = (Measured("ncp", "now"), Measured("ncp", "before"))
    quality = Quality(names, value.astype(np.float32), np.ones(value.shape, dtype=bool))
    cells = [cells_of(quality, name, who, game, "g") for name in names for who in (old, ~old)]
    found = combined(game, (1, -1, -1, 1), cells)
    assert found.value == pytest.approx(0.6, abs=0.02)
    assert found.low < 0.6 < found.high
    assert found.high - found.low < 0.06


def test_none_of_some_records_is_not_none_of_all():
    """Six answers without one that is clamped: the rate may still be 1 - .025 ** (1 / 6)."""
    value = np.zeros((2, 6), dtype=np.float32)
    nothing = Evidence((), np.zeros((0, 6, 4)), np.zeros((0, 6, 4), bool), game().member)
    names = (Measured("clamped", "e"), Measured("ncp", "e"))
    rows = measures(nothing, game(), Quality(names, value, np.ones((2, 6), dtype=bool)), {})
    assert (rows[0].value, rows[0].low) == (0, 0)
    assert rows[0].high == pytest.approx(1 - 0.025 ** (1 / 6))
    assert rows[1].high == 0
