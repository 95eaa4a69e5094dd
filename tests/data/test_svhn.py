import io

import numpy as np

from jali.data.svhn import SVHN


def test_digits(real):
    data = real("svhn(rows=0, size=8)")
    assert data.X.shape == (5000, 192)
    assert data.schema.classes == tuple("0123456789")
    assert np.bincount(data.y).argmax() == 1  # as among the digits of house numbers
    assert data.groups is None


def test_rows_are_the_images_of_the_file_channel_by_channel(real, real_data):
    from PIL import Image

    data = real("svhn(classes=[3, 8])")
    assert data.schema.classes == ("3", "8")
    assert len(data) == 898
    with np.load(real_data / SVHN.files[0].path) as file:
        last = int(np.flatnonzero(np.isin(file["y_test"], (3, 8)))[-1])
        with Image.open(io.BytesIO(file["webp_test"].tobytes())) as whole:
            down, across = divmod(last, 100)
            tile = np.asarray(whole.convert("RGB"))[32 * down : 32 * down + 32, 32 * across : 32 * across + 32]
        assert data.schema.classes[data.y[-1]] == str(file["y_test"][last])
    np.testing.assert_array_equal(data.X[-1].reshape(3, 32, 32), tile.transpose(2, 0, 1))
