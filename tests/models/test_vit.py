from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.models.fitted.restore import restore
from jali.models.vit import ViT
from tests.pictures import bars, members, streams

pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
pytest.importorskip("transformers", reason="the extra jali-audit[vision] is not installed")

SMALL = ViT(patch=4, width=32, depth=1, epochs=12, lr=3e-3, batch=32)


def test_it_learns_and_comes_back_from_arrays():
    data = bars(240)
    member = members(len(data), 1)
    fitted = SMALL.fit(data, member, streams(1))
    right = fitted.logits(data.X).argmax(axis=2) == data.y[:, None]
    assert right[~member].mean() > 0.8
    back = restore(fitted.arrays(), Encoding(data.schema))
    np.testing.assert_array_equal(back.logits(data.X), fitted.logits(data.X))


def test_a_column_is_the_same_to_the_bit_in_any_block():
    data, member, part = bars(), members(90, 2), ViT(width=32, depth=1, epochs=1)
    whole = part.fit(data, member, streams(2)).arrays()
    alone = part.fit(data, member[:, [1]], [streams(2)[1]]).arrays()
    for name, array in alone.items():
        np.testing.assert_array_equal(array[0], whole[name][1])


def test_the_gradient_is_the_slope_of_the_logits():
    data = bars()
    model = ViT(width=32, depth=2, epochs=1).fit(data, members(90, 1), streams(1))[0]
    Z, step = Encoding(data.schema).encode(data.X[:4]), 1e-2
    along = np.random.default_rng(0).normal(size=Z.shape)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    up, down = (data.X[:4] + sign * 127.5 * step * along for sign in (1, -1))
    of, at = data.y[:4], np.arange(4)
    slope = (model.logits(up) - model.logits(down))[at, of] / (2 * step)
    np.testing.assert_allclose((model.gradient(Z, of) * along).sum(axis=1), slope, atol=2e-3)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (ViT(patch=3, width=32), "8 by 8: choose a patch that divides"),
        (lambda: ViT(width=48), "multiple of 32"),
        (lambda: ViT(depth=0), "depth = 0"),
    ],
)
def test_a_slip_is_one_sentence(part, words):
    with pytest.raises(JaliError, match=words):
        (part() if callable(part) else part).fit(bars(), members(90, 1), streams(1))
