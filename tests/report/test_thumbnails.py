"""Pictures written by hand against what another library reads, and colours against what they stand for."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest

from jali.report import thumbnails
from jali.results import Heat, Picture
from tests.report import sample

Image = pytest.importorskip("PIL.Image")


def grid(pixels: np.ndarray) -> Picture:
    return Picture(size=pixels.shape, pixels=base64.b64encode(pixels.astype(np.uint8).tobytes()).decode())


def seen(address: str) -> np.ndarray:
    """Pixels (height, width, 4) of the picture at a data address."""
    head, _, text = address.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(text))) as found:
        assert (found.format, found.mode) == ("PNG", "RGBA")
        return np.asarray(found)


@pytest.mark.parametrize("shape", [(3, 5, 7), (1, 8, 8), (3, 1, 1)])
def test_a_record_is_drawn_as_it_is(shape: tuple[int, int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape)
    found = seen(thumbnails.picture(grid(pixels)))
    np.testing.assert_array_equal(found[:, :, :3], np.moveaxis(np.broadcast_to(pixels, (3, *shape[1:])), 0, 2))
    assert (found[:, :, 3] == 255).all()


def test_other_numbers_of_channels_are_grey() -> None:
    pixels = np.array([[[10]], [[30]]])
    assert seen(thumbnails.picture(grid(pixels)))[0, 0].tolist() == [20, 20, 20, 255]


def test_hue_is_the_sign_and_opacity_the_size() -> None:
    drawn = grid(np.array([[[1, 128, 255], [128, 192, 64]]]))
    heat = Heat(explainer="e", model=0, member=True, prediction="a", chance=1.0, reach=2.0, drawn=drawn)
    found = seen(thumbnails.heat(heat))
    assert found[:, :, 3].tolist() == [[255, 0, 255], [0, 129, 129]]
    assert tuple(found[0, 0, :3]) == tuple(found[1, 2, :3]) == thumbnails.AGAINST
    assert tuple(found[0, 2, :3]) == tuple(found[1, 1, :3]) == thumbnails.FOR


def test_explainers_with_a_sign_have_a_legend_of_their_own() -> None:
    assert thumbnails.scales(sample.pictured()) == [(True, ["input_x_gradient"]), (False, ["saliency"])]
    assert thumbnails.scales(sample.full()) == []
