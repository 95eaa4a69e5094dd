from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.explanation import Attribution
from jali.core.values import Column, Schema, Seen
from jali.signals._moves import largest, log_odds, peak
from jali.signals.attribution_perturbation import AttributionPerturbation
from jali.signals.attribution_removal import AttributionRemoval
from jali.signals.confidence_perturbation import ConfidencePerturbation

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 90, 40, 10),
        Column("income", low=0.0, centre=100.0, spread=50.0),
        Column("job", "category", categories=("a", "b", "c")),
    )
)


@pytest.mark.parametrize("signal", [AttributionPerturbation(), AttributionRemoval()])
def test_attributions_of_another_width_are_refused_in_one_sentence(signal):
    x = np.array([[40.0, 100.0, 0.0]])
    with pytest.raises(JaliError, match="gives 7 numbers per record, not one for each column"):
        signal(seen(x, lambda rows: np.zeros((len(rows), 2)), np.ones((1, 7))))


def seen(x: np.ndarray, ask, attribution: np.ndarray) -> Seen:
    given = {"x": x, "y": np.zeros(len(x), dtype=np.int64), "schema": SCHEMA, "attribution": Attribution(attribution)}
    return Seen({name: (lambda v=value: v) for name, value in (given | {"ask": ask}).items()})


class Recorder:
    """Logits that grow with income, and the rows that were asked about."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.rows.append(rows)
        return np.stack([rows[:, 1] / 50.0, np.zeros(len(rows))], axis=1)


def test_ties_go_to_the_first_features_and_one_is_always_moved():
    np.testing.assert_array_equal(largest(np.ones((1, 5)), 0.01), [[True, False, False, False, False]])
    np.testing.assert_array_equal(largest(np.array([[0.0, -2.0, 1.0]]), 1.0), [[True, True, True]])


def test_log_odds_of_three_classes():
    p = np.array([[0.2, 0.5, 0.3]])
    np.testing.assert_allclose(log_odds(np.log(p), np.array([1])), [0.0], atol=1e-12)


def test_a_linear_score_has_no_peak_where_no_bound_is_met():
    ask = Recorder()
    x = np.array([[40.0, 100.0, 1.0]])
    assert abs(peak(x, np.array([0]), ask, SCHEMA, [np.array([[0.0, 0.5, 0, 0, 0]])])[0]) < 1e-12


def test_a_linear_score_has_no_peak_at_a_bound_either():
    ask = Recorder()
    x = np.array([[40.0, 3.0, 1.0]])  # income cannot fall by half a spread
    assert abs(peak(x, np.array([0]), ask, SCHEMA, [np.array([[0.5, 0.5, 0, 0, 0]])])[0]) < 1e-12
    assert {row[1] for rows in ask.rows for row in rows} == {3.0}


def test_whole_numbers_move_by_one_at_least():
    ask = Recorder()
    peak(np.array([[40.0, 100.0, 1.0]]), np.array([0]), ask, SCHEMA, [np.array([[0.01, 0.0, 0, 0, 0]])])
    assert {row[0] for rows in ask.rows for row in rows} == {39.0, 40.0, 41.0}


@pytest.mark.parametrize(
    "signal", [AttributionPerturbation(step=3.0), AttributionRemoval(), ConfidencePerturbation(step=3.0)]
)
def test_only_legal_rows_are_asked_about_and_as_many_as_it_says(signal):
    ask = Recorder()
    x = np.array([[40.0, 10.0, 1.0], [20.0, 400.0, 2.0]])
    attribution = np.array([[1.0, -4.0, 0.0, 2.0, 0.0], [0.5, 3.0, 0.0, 0.0, -1.0]])
    signal(seen(x, ask, attribution).only(signal.needs))
    asked = np.concatenate(ask.rows)
    assert len(ask.rows) == 1 + signal.queries
    assert (asked[:, 0] == np.rint(asked[:, 0])).all()
    assert (asked[:, 0] >= 18).all()
    assert (asked[:, 1] >= 0).all()
    assert np.isin(asked[:, 2], [0, 1, 2]).all()


def test_removal_puts_the_features_with_the_largest_attribution_at_their_centre():
    ask = Recorder()
    AttributionRemoval(shares=(0.2, 0.4))(
        seen(np.array([[30.0, 300.0, 2.0]]), ask, np.array([[1.0, 9.0, 0.0, 0.0, 5.0]]))
    )
    asked = {tuple(row) for rows in ask.rows for row in rows}
    assert asked == {(30.0, 300.0, 2.0), (30.0, 100.0, 2.0), (30.0, 100.0, 0.0)}


def test_the_random_directions_are_the_same_for_every_record():
    ask = Recorder()
    x = np.tile([[40.0, 200.0, 1.0]], (3, 1))
    ConfidencePerturbation()(seen(x, ask, np.zeros((3, 5))))
    assert all((rows == rows[0]).all() for rows in ask.rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AttributionPerturbation(shares=()),
        lambda: AttributionPerturbation(step=0.0),
        lambda: AttributionRemoval(shares=(1.5,)),
        lambda: ConfidencePerturbation(directions=0),
    ],
)
def test_impossible_settings_are_refused(make):
    with pytest.raises(JaliError, match="must"):
        make()
