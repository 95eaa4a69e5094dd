"""Images as rows of a table: raw columns are whole numbers from 0 to 255, channel by channel, in row-major order."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Ints, Schema
from jali.data.tables import files as _files
from jali.data.tables.files import Remote

Bytes = npt.NDArray[np.uint8]
MIDDLE = 127.5  # centre and spread of every pixel, so that encoded features are from -1 to 1 for all images
TILE = 32
PARTS = ("train", "test")


@dataclass(frozen=True)
class Pictures:
    """A data set of images: how many, of which classes, and how large.

    rows: the most rows to draw at random, 0 for all; they keep their order, and a smaller draw is part of a larger one.
    classes: the class numbers to keep, () for all. size: side in pixels; smaller images are rounded means over squares.
    """

    rows: int = 2000
    classes: tuple[int, ...] = ()
    size: int = TILE
    labels: ClassVar[tuple[str, ...]]
    target: ClassVar[str] = "class"
    side: ClassVar[int] = TILE
    files: ClassVar[tuple[Remote, ...]]

    def __post_init__(self) -> None:
        name = type(self).__name__.lower()
        kept = set(self.classes)
        if self.rows < 0 or self.size < 1 or self.side % self.size:
            raise JaliError(
                f"{name}: rows must be 0 or more and size divide {self.side}, not {self.rows}, {self.size}."
            )
        if len(kept) == 1 or len(kept) < len(self.classes) or not kept <= set(range(len(self.labels))):
            raise JaliError(
                f"{name}: classes must be two or more different ones from 0 to {len(self.labels) - 1}, or none for "
                f"all, not {list(self.classes)}."
            )

    def load(self) -> Dataset:
        """Read the file, keep the chosen classes and draw the rows."""
        with np.load(io.BytesIO(_files.read(self.files[0])), allow_pickle=False) as file:
            images, labels, groups = self.read(file)
        kept = np.sort(np.array(self.classes or range(len(self.labels))))
        rows = drawn(np.isin(labels, kept), self.rows)
        shrunk = squares(images[rows], self.size)
        X = shrunk.transpose(0, 3, 1, 2).reshape(len(rows), -1).astype(np.float64)
        columns = pixels(shrunk.shape[3], self.size)
        classes = tuple(self.labels[c] for c in kept)
        schema = Schema(columns, classes, target=self.target, image=(shrunk.shape[3], self.size, self.size))
        return Dataset(X, np.searchsorted(kept, labels[rows]), schema, None if groups is None else groups[rows])

    def read(self, file: Mapping[str, Any]) -> tuple[Bytes, Ints, Ints | None]:
        """Images (N, side, side, channels), labels (N,) and groups (N,) of a file: training before test images."""
        images = np.concatenate([mosaic(file, part) for part in PARTS])
        return images, np.concatenate([file[f"y_{part}"] for part in PARTS]).astype(np.int64), None


@functools.cache
def pixels(channels: int, size: int) -> tuple[Column, ...]:
    """One column per pixel, shared by all data sets of this shape.

    >>> [c.name for c in pixels(3, 2)][:5]
    ['red r0c0', 'red r0c1', 'red r1c0', 'red r1c1', 'green r0c0']
    """
    prefixes = {1: ("",), 3: ("red ", "green ", "blue ")}[channels]
    names = [f"{prefix}r{i}c{j}" for prefix in prefixes for i in range(size) for j in range(size)]
    return tuple(Column(name, "integer", 0.0, 255.0, MIDDLE, MIDDLE) for name in names)


def mosaic(file: Mapping[str, Any], part: str) -> Bytes:
    """Images (n, 32, 32, 3) of one part of a file, which stores them as tiles of one lossless WebP image."""
    from PIL import Image

    with Image.open(io.BytesIO(file[f"webp_{part}"].tobytes())) as picture:
        whole = np.asarray(picture.convert("RGB"))
    down, across = whole.shape[0] // TILE, whole.shape[1] // TILE
    tiles = whole.reshape(down, TILE, across, TILE, 3).swapaxes(1, 2).reshape(-1, TILE, TILE, 3)
    return np.asarray(tiles[: len(file[f"y_{part}"])])


def squares(images: Bytes, size: int) -> Bytes:
    """Images (n, side, side, channels) reduced to size by the rounded mean over squares of pixels.

    >>> squares(np.array([[[[0], [3]], [[1], [2]]]], dtype=np.uint8), 1).tolist()
    [[[[2]]]]
    """
    n, side, _, channels = images.shape
    if side == size:
        return images
    blocks = images.reshape(n, size, side // size, size, side // size, channels)
    return np.asarray(np.rint(blocks.mean(axis=(2, 4), dtype=np.float64)), dtype=np.uint8)


def drawn(wanted: npt.NDArray[np.bool_], rows: int) -> Ints:
    """Positions of `rows` random rows among those wanted (N,), in order; all of them for 0, or where there are fewer.

    >>> drawn(np.array([True, False, True, True]), 2).tolist(), drawn(np.array([True, False]), 5).tolist()
    ([0, 3], [0])
    """
    at = np.flatnonzero(wanted)
    return np.sort(np.random.default_rng(0).permutation(at)[: rows or len(at)])
