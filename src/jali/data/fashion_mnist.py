"""Grey images of pieces of clothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.values import Ints
from jali.data.tables.files import Remote
from jali.data.tables.images import PARTS, Bytes, Pictures


@dataclass(frozen=True)
class FashionMNIST(Pictures):
    """Fashion-MNIST: clothing in 28 × 28 grey pixels, ten classes; a draw of 2,000 unless `rows` says otherwise.

    From 10,000 of the 70,000 images, drawn at random: 8,000 training images are followed by 2,000 test images. No
    class is favourable.

    >>> FashionMNIST(classes=(0, 6)).labels[6]
    'shirt'
    """

    size: int = 28
    side: ClassVar[int] = 28
    labels: ClassVar[tuple[str, ...]] = (
        *("T-shirt", "trousers", "pullover", "dress", "coat"),
        *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
    )
    origin: ClassVar[str] = "Fashion-MNIST (Xiao, Rasul and Vollgraf 2017), a draw of 10,000 images"
    licence: ClassVar[str] = "MIT"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "fashion_mnist/fashion_mnist_10k.npz",
            "c0a0706174179e4bb0ec5bf0e07467cb68e26684cca7a67103b7c798a0d03dda",
            how="take the four IDX files of Fashion-MNIST, choose 8,000 training and 2,000 test images as for mnist, "
            "and write x_train, y_train, idx_train, x_test, y_test and idx_test in this order with "
            "numpy.savez_compressed",
        ),
    )

    def read(self, file: Mapping[str, Any]) -> tuple[Bytes, Ints, Ints | None]:
        """The images, labels and groups of both parts, which the file stores as plain arrays."""
        images, labels = (np.concatenate([file[f"{kind}_{part}"] for part in PARTS]) for kind in "xy")
        return images[..., None], labels.astype(np.int64), None
