"""Pictures as rows: tiles of a mosaic, smaller pictures, draws, and the order of the columns."""

import io

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Schema
from jali.data.cifar10 import CIFAR10
from jali.data.fashion_mnist import FashionMNIST
from jali.data.tables import images as _images

Image = pytest.importorskip("PIL.Image")


def tiles(n):
    return np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3)).astype(np.uint8)


def file(images, across=4):
    """A file as it lies in the data folder: tiles side by side in one lossless picture, the last row not full."""
    rows = -(-len(images) // across)
    full = np.zeros((rows * across, 32, 32, 3), dtype=np.uint8)
    full[: len(images)] = images
    whole = full.reshape(rows, across, 32, 32, 3).swapaxes(1, 2).reshape(rows * 32, across * 32, 3)
    packed = io.BytesIO()
    Image.fromarray(whole).save(packed, "WEBP", lossless=True)
    return {"webp_train": np.frombuffer(packed.getvalue(), dtype=np.uint8), "y_train": np.zeros(len(images))}


def test_tiles_come_back_to_the_bit():
    images = tiles(10)
    np.testing.assert_array_equal(_images.mosaic(file(images), "train"), images)


def test_a_smaller_picture_is_the_mean_over_squares():
    images = tiles(3)
    small = _images.squares(images, 8)
    assert small.dtype == np.uint8
    for i, j in ((0, 0), (5, 7)):
        mean = images[1, 4 * i : 4 * i + 4, 4 * j : 4 * j + 4].reshape(16, 3).mean(axis=0)
        assert (np.abs(small[1, i, j] - mean) <= 0.5).all()
    assert _images.squares(images, 32) is images


def test_a_smaller_draw_is_part_of_a_larger_one_and_in_order():
    wanted = np.arange(100) % 3 > 0
    few, more = (_images.drawn(wanted, rows) for rows in (10, 40))
    assert set(few) < set(more) <= set(np.flatnonzero(wanted))
    assert (np.diff(more) > 0).all()
    assert len(_images.drawn(wanted, 0)) == len(_images.drawn(wanted, 10**6)) == wanted.sum()


def test_columns_are_shared_and_fit_the_picture():
    columns = _images.pixels(3, 32)
    assert columns is _images.pixels(3, 32)
    assert len(columns) == 3072
    assert columns[32 * 32 + 33].name == "green r1c1"
    Schema(columns, image=(3, 32, 32))
    with pytest.raises(JaliError, match="has 3072 columns, and the table has 1024"):
        Schema(_images.pixels(1, 32), image=(3, 32, 32))


@pytest.mark.parametrize("fields", [{"rows": -1}, {"size": 12}, {"size": 0}])
def test_bad_sizes(fields):
    with pytest.raises(JaliError, match="size divide 32"):
        CIFAR10(**fields)


@pytest.mark.parametrize("classes", [(3,), (3, 3), (3, 10)])
def test_bad_classes(classes):
    with pytest.raises(JaliError, match="two or more different ones from 0 to 9"):
        FashionMNIST(classes=classes)


def test_fields_come_back():
    text = "cifar10(rows=100, classes=[3, 5], size=16)"
    assert registry.spec(registry.build("data", text)) == text
