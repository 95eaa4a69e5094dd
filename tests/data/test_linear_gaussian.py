import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.data.linear_gaussian import LinearGaussian, _rule


def test_rule_is_sparse_and_has_length_one():
    rule = _rule(100, np.random.default_rng(3))
    drawn = np.random.default_rng(3).uniform(-1, 1, 100)
    assert np.linalg.norm(rule) == pytest.approx(1)
    assert np.count_nonzero(rule[:10]) == 10
    assert not rule[10:].any()
    largest = np.sort(np.abs(drawn))[-10:]
    np.testing.assert_allclose(np.sort(np.abs(rule[:10])), largest / np.sqrt((largest**2).sum()))


def test_share_of_noisy_labels_is_that_of_variance_one_hundredth():
    """For independent normal s and e, P(sign(s + e) != sign(s)) = arctan(sd(e) / sd(s)) / π."""
    source = LinearGaussian(n=60_000, d=10)
    data = source.load()
    rule = _rule(10, np.random.default_rng(source.seed))
    wrong = ((data.X @ rule > 0) != data.y).mean()
    want = np.arctan(0.1) / np.pi
    assert abs(wrong - want) < 4 * np.sqrt(want * (1 - want) / len(data))


def test_standardised_and_balanced():
    data = LinearGaussian(n=4000, d=30).load()
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-12)
    assert abs(data.y.mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)
    assert (data.schema.columns[0].centre, data.schema.columns[0].spread) == (0, 1)


def test_seed_settles_the_table():
    assert (LinearGaussian(n=50, d=5).load().X == LinearGaussian(n=50, d=5).load().X).all()
    assert (LinearGaussian(n=50, d=5).load().X != LinearGaussian(n=50, d=5, seed=1).load().X).any()


@pytest.mark.parametrize("fields", [{"n": 1}, {"d": 0}, {"seed": -1}])
def test_refuses_what_cannot_be_drawn(fields):
    with pytest.raises(JaliError, match="linear_gaussian"):
        LinearGaussian(**fields)
