"""Small photographs of ten kinds of things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.data.tables.files import Remote
from jali.data.tables.images import Pictures


@dataclass(frozen=True)
class CIFAR10(Pictures):
    """CIFAR-10: photographs of 32 × 32 pixels in colour, ten classes; a draw of 2,000 unless `rows` says otherwise.

    From 20,000 of the 60,000 images, drawn at random: 15,000 training images are followed by 5,000 test images. The
    data of Huang, Pawelczyk and Lakkaraju, 2024, who take the first 20,000. No class is favourable.

    >>> CIFAR10(rows=4000, classes=(3, 5)).labels[3]
    'cat'
    """

    labels: ClassVar[tuple[str, ...]] = (
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    )
    origin: ClassVar[str] = "CIFAR-10 (Krizhevsky 2009), a draw of 20,000 images"
    licence: ClassVar[str] = "none stated; cite Krizhevsky 2009"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "cifar10/cifar10_20k.npz",
            "3452c253351ce72e5d6cfade6903edd337ac0bcb61d5ba9a1b700738f515f896",
            how="take the six batches of CIFAR-10, choose the images idx_train = "
            "sort(numpy.random.default_rng(0).choice(50000, 15000, replace=False)) and idx_test = "
            "sort(numpy.random.default_rng(0).choice(10000, 5000, replace=False)), and write webp_train (one lossless "
            "WebP picture of all, 100 to a row, as bytes), y_train, idx_train and the same of test with "
            "numpy.savez_compressed",
        ),
    )
