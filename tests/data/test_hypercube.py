import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.data.hypercube import Hypercube


def test_standardised_and_balanced():
    data = Hypercube(n=3000, d=20).load()
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-12)
    assert abs(data.y.mean() - 0.5) < 0.02
    assert data.schema.favourable is None


def test_seed_settles_the_table():
    assert (Hypercube(n=50, d=5).load().X == Hypercube(n=50, d=5).load().X).all()
    assert (Hypercube(n=50, d=5).load().X != Hypercube(n=50, d=5, seed=1).load().X).any()


def test_far_corners_are_told_apart_up_to_the_random_labels():
    data = Hypercube(n=4000, d=10, class_sep=50.0).load()
    means = np.stack([data.X[data.y == c].mean(axis=0) for c in (0, 1)])
    nearest = ((data.X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    # 1 % of the labels is redrawn, half of them to the same class.
    assert (nearest == data.y).mean() == pytest.approx(0.995, abs=0.004)


@pytest.mark.parametrize(
    "fields", [{"n": 1}, {"d": 0}, {"classes": 1}, {"d": 1, "classes": 3}, {"seed": -1}, {"class_sep": 0.0}]
)
def test_refuses_what_cannot_be_drawn(fields):
    with pytest.raises(JaliError, match="hypercube"):
        Hypercube(**fields)


def test_many_dimensions():
    assert Hypercube(n=20, d=40).load().X.shape == (20, 40)
