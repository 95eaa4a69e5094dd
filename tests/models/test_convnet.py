from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.models.convnet import ConvNet
from tests.pictures import bars, members, streams

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")


def test_it_learns_and_leaves_torch_as_it_was():
    data, state = bars(200), torch.get_rng_state()
    member = members(len(data), 2)
    fitted = ConvNet(width=8, epochs=8).fit(data, member, streams(2))
    right = fitted.logits(data.X).argmax(axis=2) == data.y[:, None]
    assert right[~member].mean() > 0.9
    assert torch.equal(torch.get_rng_state(), state)


def test_a_column_is_the_same_to_the_bit_in_any_block():
    data, member, part = bars(), members(90, 3), ConvNet(width=4, epochs=2)
    whole = part.fit(data, member, streams(3)).arrays()
    for j in range(3):
        alone = part.fit(data, member[:, [j]], [streams(3)[j]]).arrays()
        for name, array in alone.items():
            np.testing.assert_array_equal(array[0], whole[name][j])
    assert (whole["state000"][0] != whole["state000"][1]).any()


@pytest.mark.parametrize(("size", "features"), [(8, 16 * 4 * 4), (28, 16 * 7 * 7), (32, 16 * 4 * 4), (16, 16 * 4 * 4)])
def test_pictures_are_halved_down_to_four_pixels(size, features):
    net = ConvNet(width=4).network(bars(3, size).schema)
    assert net.head.in_features == features
    assert not any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in net.modules())


def test_no_picture_depends_on_its_company():
    data = bars()
    model = ConvNet(width=4, epochs=1).fit(data, members(90, 1), streams(1))[0]
    np.testing.assert_allclose(model.logits(data.X[:1]), model.logits(data.X)[:1], atol=1e-5)


def test_a_slip_is_one_sentence():
    rows = Dataset(np.zeros((4, 1)), [0, 1, 0, 1], Schema((Column("x"),)))
    with pytest.raises(JaliError, match="convnet needs images"):
        ConvNet().fit(rows, np.ones((4, 1), bool), streams(1))
    with pytest.raises(JaliError, match="multiple of 4"):
        ConvNet(width=6)
    with pytest.raises(JaliError, match="at least 1, not epochs = 0"):
        ConvNet(epochs=0)
    with pytest.raises(JaliError, match=r"convnet: lr must not be below 0, not -1.0"):
        ConvNet(lr=-1.0)
    with pytest.raises(JaliError, match="diverged"):
        ConvNet(width=4, epochs=3, lr=1e30).fit(bars(), members(90, 1), streams(1))
