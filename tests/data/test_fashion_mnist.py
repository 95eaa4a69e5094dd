import numpy as np

from jali.data.fashion_mnist import FashionMNIST


def test_rows_are_the_images_of_the_file(real, real_data):
    data = real("fashion_mnist(rows=0)")
    assert data.X.shape == (10000, 784)
    assert data.schema.image == (1, 28, 28)
    with np.load(real_data / FashionMNIST.files[0].path) as file:
        np.testing.assert_array_equal(data.X[0], file["x_train"][0].ravel())
        np.testing.assert_array_equal(data.X[-1], file["x_test"][-1].ravel())
        assert data.schema.classes[data.y[-1]] == FashionMNIST.labels[file["y_test"][-1]]


def test_half_the_side(real):
    data = real("fashion_mnist(size=14)")
    assert data.X.shape == (2000, 196)
