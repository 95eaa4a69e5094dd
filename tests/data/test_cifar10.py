import numpy as np


def test_two_thousand_by_default(real):
    data = real("cifar10")
    assert data.X.shape == (2000, 3072)
    assert data.schema.image == (3, 32, 32)
    assert {(c.kind, c.low, c.high, c.centre, c.spread) for c in data.schema.columns} == {
        ("integer", 0.0, 255.0, 127.5, 127.5)
    }


def test_published_means(real):
    """Means by channel, as everybody normalises by; here over a draw."""
    data = real("cifar10")
    assert np.abs(np.bincount(data.y) / len(data) - 0.1).max() < 0.03
    means = data.X.reshape(len(data), 3, -1).mean(axis=(0, 2)) / 255
    np.testing.assert_allclose(means, [0.4914, 0.4822, 0.4465], atol=0.01)
