from __future__ import annotations

import numpy as np
import pytest

from jali.core.values import Column, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate import genetic
from jali.explain._surrogate.genetic import evolved
from jali.explain._surrogate.records import Records

SCHEMA = Schema(
    (
        Column("a", "number", -3, 3),
        Column("b", "integer", -9, 9, 0, 3),
        Column("c", "category", categories=("x", "y", "z")),
        Column("d", "number", -3, 3),
    )
)


class Line:
    """The second class from a + b / 3 + [c = z] > 1 on; counts what it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def logits(self, X):
        self.calls += 1
        score = X[:, 0] + X[:, 1] / 3 + (X[:, 2] == 2) - 1
        return np.stack([-score, score], axis=1)


def population(n: int = 500, seed: int = 0):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.uniform(-3, 3, n), rng.integers(-9, 10, n), rng.integers(0, 3, n), rng.uniform(-3, 3, n)]
    )


def records(n: int = 12) -> Records:
    return Records(Line(), population(n, 1), Marginals.of(population(), SCHEMA))


def test_distance_by_hand():
    here = Records(Line(), np.array([[0.0, 0.0, 0.0, 1.0]]), Marginals.of(population(), SCHEMA))
    rows = np.array([[[2.0, 6.0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], [9, -99, 2, 9]]])
    np.testing.assert_allclose(here.distance(rows), [[np.sqrt((0.25 + 0.25) / 4), 0.5, 0, 1]])


@pytest.mark.parametrize("alike", ["label", "probabilities"])
def test_half_the_rows_have_the_class_of_the_record_and_half_do_not(alike):
    some = records()
    rows, labels = evolved(some, 200, 10, alike, np.random.default_rng(0))
    own = some.own[1][:, None]
    assert rows.shape == (12, 200, 4)
    assert (labels[:, :100] == own).mean() > 0.97
    assert (labels[:, 100:] != own).mean() > 0.97
    np.testing.assert_array_equal(labels, some.ask(rows)[1])


def test_rows_come_nearer_from_generation_to_generation():
    some = records()
    far = [some.distance(evolved(some, 200, g, "label", np.random.default_rng(0))[0]).mean() for g in (3, 10, 20)]
    assert far == sorted(far, reverse=True)
    drawn = some.marginals.draw((200,), np.random.default_rng(0))[None].repeat(12, axis=0)
    assert far[1] < 0.6 * some.distance(drawn).mean()


def test_rows_are_legal_and_no_two_are_alike():
    rows = evolved(records(), 200, 10, "label", np.random.default_rng(0))[0]
    assert set(np.unique(rows[..., 2])) <= {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(rows[..., 1], np.rint(rows[..., 1]))
    assert np.abs(rows[..., [0, 3]]).max() <= 3
    groups = rows.reshape(24, 100, 4)
    assert np.mean([len(np.unique(group, axis=0)) for group in groups]) > 99


def test_the_black_box_is_asked_once_in_a_generation_whatever_the_number_of_records():
    for n in (1, 12):
        some = records(n)
        evolved(some, 200, 10, "label", np.random.default_rng(0))
        assert some.model.calls == 1 + 1 + 1 + 10  # the records, a pool of other people, the start, the generations


def test_a_record_gets_the_same_rows_in_any_company():
    whole = records()
    rows = evolved(whole, 200, 5, "label", np.random.default_rng(0))[0]
    for some in ([3], [11, 0, 3]):
        alone = Records(Line(), whole.X[some], whole.marginals)
        np.testing.assert_array_equal(evolved(alone, 200, 5, "label", np.random.default_rng(0))[0], rows[some])


def test_the_fittest_survive_and_twins_go_first():
    rows = np.array([[1.0], [2.0], [1.0], [3.0]]).reshape(1, 1, 4, 1)
    fitness = np.array([[[2.0, -0.5, 2.0, 1.0]]])
    herd = genetic._Population(rows, np.zeros((1, 1, 4), dtype=int), fitness, genetic._mark(rows))
    np.testing.assert_array_equal(genetic._fittest(herd, 3)[0, 0], [0, 3, 1])


def test_crossing_exchanges_and_loses_nothing():
    rows = np.random.default_rng(0).normal(size=(3, 2, 9, 5))
    crossed = genetic._crossed(rows, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(crossed, axis=2), np.sort(rows, axis=2))
    assert (crossed != rows).any()


def test_the_search_starts_from_the_record_and_from_the_nearest_people_of_another_class():
    some = records()
    rows = genetic._start(some, 100, np.random.default_rng(0))
    copies = np.broadcast_to(some.X[:, None], (12, 50, 4))
    np.testing.assert_array_equal(rows[:, 0, ::2], copies)
    np.testing.assert_array_equal(rows[:, 1, 1::2], copies)
    people, pool = rows[:, 1, ::2], some.marginals.draw((2000,), np.random.default_rng(0))
    assert (some.ask(people)[1] != some.own[1][:, None]).all()
    assert (np.diff(some.distance(people), axis=1) >= 0).all()
    for i, x in enumerate(some.X):
        one = Records(Line(), x[None], some.marginals)
        others = np.sort(one.distance(pool[None])[0][one.ask(pool)[1] != one.own[1]])
        np.testing.assert_allclose(some.distance(people)[i], others[:50])


def test_the_other_class_is_met_although_it_is_rare():
    """One in sixty: copies of the record alone would have to mutate there."""

    class Rare:
        def logits(self, X):
            score = 10.0 * ((X[:, 0] > 2.4) & (X[:, 3] > 2.4)) - 5
            return np.stack([-score, score], axis=1)

    some = Records(Rare(), np.zeros((4, 4)), Marginals.of(population(), SCHEMA))
    labels = evolved(some, 400, 10, "label", np.random.default_rng(0))[1]
    assert (labels[:, 200:] == 1).mean() > 0.9
