from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.values import Column, Schema
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.linearity import probed

COLUMNS = (
    Column("a", centre=3.0, spread=2.0),
    Column("b", "integer", 0.5, 7.5, 3.0, 2.0),
    Column("c", "category", 0, 2, categories=("x", "y", "z")),
    Column("d", low=0.0, centre=-9.0),
    Column("e", "category", 0, 0, categories=("only",)),
    Column("f", low=4.0, high=4.0),
)
ENCODING = Encoding(Schema(COLUMNS))


@dataclass
class Formula:
    score: Any

    def logits(self, X):
        assert (X[:, 1] == np.rint(X[:, 1])).all()
        assert ((X[:, 1] >= 1) & (X[:, 1] <= 7) & (X[:, 3] >= 0) & (X[:, 5] == 4)).all()
        return np.column_stack([np.zeros(len(X)), self.score(X)])


def test_an_affine_formula_is_read_off():
    found = probed(
        Formula(lambda X: 2 * X[:, 0] - X[:, 1] + np.array([1.0, 2.0, 6.0])[X[:, 2].astype(int)] + 5), ENCODING
    )
    np.testing.assert_allclose(found.coef[:, 1], [4, -2, -2, -1, 3, 0, 0, 0], atol=1e-12)
    assert found.intercept[1] == pytest.approx(5 + 3 + 2 * 3 - 3)


def test_a_linear_model_comes_back_up_to_the_level_of_a_category():
    rng = np.random.default_rng(0)
    model = LinearModel(ENCODING, rng.normal(size=(8, 3)), rng.normal(size=3))
    X = np.column_stack(
        [rng.normal(size=9), rng.integers(1, 8, 9), rng.integers(0, 3, 9), rng.random(9), [0] * 9, [4] * 9]
    )
    np.testing.assert_allclose(probed(model, ENCODING).logits(X), model.logits(X), atol=1e-10)


@pytest.mark.parametrize(
    "score",
    [
        lambda X: X[:, 0] ** 2,
        lambda X: X[:, 0] * (X[:, 2] == 1),
        lambda X: np.maximum(X[:, 1], 4),
        lambda X: X[:, 0] > 3,
    ],
    ids=["square", "product", "bend", "step"],
)
def test_anything_else_is_refused(score):
    assert probed(Formula(score), ENCODING) is None
