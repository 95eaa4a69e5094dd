"""Factors on numbers, for tables with and without any."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.query_attacks.aloa import ALOA
from jali.query_attacks.boundary_distance import BoundaryDistance
from jali.query_attacks.label_only import LabelOnly

from .planted import TREE


def test_the_share_that_keeps_its_label_is_known_for_one_column():
    """Label 1 above 1: of x = 1.3 half go up, and of those that go down, by .1 to .5, those by less than 3/13 stay."""
    rows = Dataset(np.linspace(0.5, 1.5, 200)[:, None], np.zeros(200, int), Schema((Column("x"),)))
    oracle = Oracle(rows.schema, lambda X: np.hstack([1 - X, X - 1]))
    asked = Dataset(np.array([[1.3], [0.9]]), [0, 0], rows.schema)
    score = ALOA(perturbations=20_000, shadow=TREE).run(oracle, rows, asked, np.random.default_rng(0)).score
    first, second = 0.5 + 0.5 * (3 / 13 - 0.1) / 0.4, 0.5 + 0.5 * (1 / 9 - 0.1) / 0.4
    assert score[0] - score[1] == pytest.approx(first - second, abs=0.015)


def test_a_record_of_zeros_keeps_its_label_whoever_it_is():
    rows = Dataset(np.linspace(-1, 1, 50)[:, None], np.zeros(50, int), Schema((Column("x"),)))
    asked = Dataset(np.array([[0.0], [1.0]]), [0, 0], rows.schema)
    oracle = Oracle(rows.schema, lambda X: np.hstack([X, 0.3 - X]))
    score = ALOA(perturbations=200, shadow=TREE).run(oracle, rows, asked, np.random.default_rng(0)).score
    assert score[0] == score.max()


@pytest.mark.parametrize(
    ("query_attack", "match"), [(ALOA(), "choose label_only"), (BoundaryDistance(), "choose label_only")]
)
def test_without_numbers_there_is_nothing_to_move(query_attack, match):
    schema = Schema((Column("c", "category", categories=("a", "b")),))
    rows = Dataset(np.arange(8.0)[:, None] % 2, np.zeros(8, int), schema)
    oracle = Oracle(schema, lambda X: np.hstack([X, 1 - X]))
    with pytest.raises(JaliError, match=match):
        query_attack.run(oracle, rows, rows, np.random.default_rng(0))
    assert np.isfinite(LabelOnly(shadow=TREE).run(oracle, rows, rows, np.random.default_rng(0)).score).all()


def test_bad_fields_are_refused():
    for make, match in (
        (lambda: ALOA(low=0.5, high=0.1), "in order"),
        (lambda: ALOA(perturbations=0), "aloa: perturbations"),
        (lambda: LabelOnly(perturbations=0), "label_only: perturbations"),
        (lambda: LabelOnly(scale=-1.0), "scale must not be negative"),
        (lambda: LabelOnly(flip=2.0), "flip must be a share"),
        (lambda: BoundaryDistance(probes=0), "probes must be at least 1"),
    ):
        with pytest.raises(JaliError, match=match):
            make()
