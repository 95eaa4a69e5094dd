"""Pictures as features of a frozen network: bounds that hold, a cache that is read, and what is refused."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.data import features
from jali.data.cifar10 import CIFAR10
from jali.data.features import Features
from jali.data.lending import Lending
from jali.data.tables import images
from jali.data.tables.files import Remote

torch = pytest.importorskip("torch")
WIDTH = 128


class Few(CIFAR10):
    """Eight drawn pictures."""

    def load(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 256, size=(8, 3 * 16 * 16)).astype(float)
        schema = images.Schema(images.pixels(3, 16), ("a", "b"), image=(3, 16, 16))
        return images.Dataset(X, np.arange(8) % 2, schema, np.arange(8) // 2)


@pytest.fixture
def part(tmp_path, monkeypatch):
    """Features by a small network with random weights, in a data folder of its own."""
    from safetensors.torch import save

    from tests.models.fitted.test_vit_small import weights

    raw = save(weights())
    (tmp_path / "w.safetensors").write_bytes(raw)
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Features, "weights", Remote("w.safetensors", hashlib.sha256(raw).hexdigest()))
    return Features(Few(), side=42)


def test_features_lie_within_the_bounds_of_the_weights_and_keep_classes_and_groups(part):
    made = part.load()
    whole = Few().load()
    assert made.X.shape == (8, WIDTH)
    low, high, centre, spread = (
        np.array([getattr(c, name) for c in made.schema.columns]) for name in ("low", "high", "centre", "spread")
    )
    assert ((low <= made.X) & (high >= made.X)).all()
    # After a LayerNorm without weight and bias every row has mean 0 and mean square 1.
    plain = (made.X - centre) / np.where(spread > 0, spread, 1.0)
    np.testing.assert_allclose(np.square(plain).mean(axis=1), 1.0, rtol=1e-3)
    np.testing.assert_array_equal(made.y, whole.y)
    np.testing.assert_array_equal(made.groups, whole.groups)
    assert all(c.known == "declared" for c in made.schema.columns)


def test_features_are_computed_once(part, monkeypatch):
    first = part.load()
    monkeypatch.setattr(features.vit_small, "body", lambda _: pytest.fail("computed again"))
    np.testing.assert_array_equal(part.load().X, first.X)


def test_a_picture_has_the_same_features_in_any_company(part):
    tensors = features._tensors(features._files.read(part.weights))
    alone = features._computed(Few().load().rows(np.array([5])), tensors, 42)
    np.testing.assert_allclose(alone[0], part.load().X[5], rtol=1e-4, atol=1e-5)


def test_tables_grey_pictures_and_odd_sides_are_refused():
    with pytest.raises(JaliError, match="public set of pictures"):
        Features(Lending())
    with pytest.raises(JaliError, match="multiple of 14 pixels, not 90"):
        Features(CIFAR10(), side=90)
