import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.data.mnist import MNIST


def test_three_against_eight(real):
    data = real("mnist")
    assert data.X.shape == (3995, 784)
    assert data.schema.classes == ("3", "8")
    assert np.bincount(data.y).tolist() == [2067, 1928]
    assert data.schema.favourable is None
    assert data.schema.image == (1, 28, 28)
    assert {(c.kind, c.low, c.high) for c in data.schema.columns} == {("number", 0.0, 255.0)}
    assert {c.known for c in data.schema.columns} == {"bounds"}  # mean and deviation are those of these rows


def test_rows_are_the_images_of_the_file_in_order(real, real_data):
    data = real("mnist")
    with np.load(real_data / MNIST.files[0].path) as file:
        first = np.flatnonzero(np.isin(file["y_train"], (3, 8)))[0]
        last = np.flatnonzero(np.isin(file["y_test"], (3, 8)))[-1]
        np.testing.assert_array_equal(data.X[0], file["x_train"][first].ravel())
        np.testing.assert_array_equal(data.X[-1], file["x_test"][last].ravel())
        assert data.schema.classes[data.y[-1]] == str(file["y_test"][last])
    names = [c.name for c in data.schema.columns]
    assert (names[0], names[29], names[-1]) == ("r0c0", "r1c1", "r27c27")


def test_other_digits(real):
    data = real("mnist(digits=[0, 1, 7])")
    assert data.schema.classes == ("0", "1", "7")
    assert len(data) > 5000


@pytest.mark.parametrize("digits", [(3,), (3, 3), (3, 10), ()])
def test_bad_digits(digits):
    with pytest.raises(JaliError, match="two or more different ones from 0 to 9"):
        MNIST(digits)


def test_how_to_make_the_file_is_one_sentence():
    text = "mnist(digits=[4, 9])"
    assert registry.spec(registry.build("data", text)) == text
    assert "savez_compressed" in MNIST.files[0].how
