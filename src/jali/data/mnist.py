"""Handwritten digits of 28 by 28 pixels."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Schema
from jali.data.tables import files as _files
from jali.data.tables.files import Remote

SIDE = 28


@dataclass(frozen=True)
class MNIST:
    """Some of the digits of MNIST: images of 28 × 28 pixels, each a number from 0 to 255; 3 against 8 by default.

    From 20,000 of the 70,000 images, drawn at random: 15,000 training images are followed by 5,000 test images, and
    those of other digits are left out. 3 against 8 leaves 3,995 rows. Pixels r0c0 … r27c27 are row by row; many at
    the edge are always 0. No digit is favourable.

    >>> MNIST(digits=(4, 9)).digits
    (4, 9)
    """

    digits: tuple[int, ...] = (3, 8)
    origin: ClassVar[str] = "MNIST (LeCun, Cortes and Burges 1998), a draw of 20,000 images"
    licence: ClassVar[str] = "CC BY-SA 3.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "mnist/mnist_20k.npz",
            "bdf00a35c84830cc722bfad0d71b4b71e5a0be99ebd94316fd1405fbfa8cb98f",
            how="take the four IDX files of MNIST, choose the images idx_train = "
            "sort(numpy.random.default_rng(0).choice(60000, 15000, replace=False)) and idx_test = "
            "sort(numpy.random.default_rng(0).choice(10000, 5000, replace=False)), make both int32, and write x_train, "
            "y_train, idx_train, x_test, y_test and idx_test in this order with numpy.savez_compressed",
        ),
    )

    def __post_init__(self) -> None:
        digits = set(self.digits)
        if len(digits) < 2 or len(digits) < len(self.digits) or not digits <= set(range(10)):
            raise JaliError(f"mnist: digits must be two or more different ones from 0 to 9, not {list(self.digits)}.")

    def load(self) -> Dataset:
        """Read the file and keep the images of the chosen digits."""
        with np.load(io.BytesIO(_files.read(self.files[0])), allow_pickle=False) as file:
            images, labels = (np.concatenate([file[f"{kind}_train"], file[f"{kind}_test"]]) for kind in "xy")
        digits = sorted(self.digits)
        kept = np.isin(labels, self.digits)
        X = images[kept].reshape(-1, SIDE * SIDE).astype(np.float64)
        schema = Schema(_pixels(X), tuple(map(str, digits)), target="digit", image=(1, SIDE, SIDE))
        return Dataset(X, np.searchsorted(digits, labels[kept]), schema)


def _pixels(X: Floats) -> tuple[Column, ...]:
    """One column per pixel of X (N, 784), with its mean and standard deviation, or 1 where it never changes."""
    names = [f"r{i}c{j}" for i in range(SIDE) for j in range(SIDE)]
    scales = zip(X.mean(axis=0).tolist(), X.std(axis=0).tolist(), strict=True)
    both = zip(names, scales, strict=True)
    return tuple(Column(n, "number", 0.0, 255.0, m, s or 1.0, known="bounds") for n, (m, s) in both)
