"""Digits of house numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.data.tables.files import Remote
from jali.data.tables.images import Pictures


@dataclass(frozen=True)
class SVHN(Pictures):
    """Street View House Numbers: digits of 32 × 32 pixels in colour; a draw of 2,000 unless `rows` says otherwise.

    From 5,000 digits, drawn at random: 4,000 training digits are followed by 1,000 test digits. They were cut out of
    the full-number images as the official set of single digits describes, and are not byte-identical to it. Digits
    of one house number are separate rows. No digit is favourable.

    >>> SVHN(classes=(3, 8), size=16).size
    16
    """

    labels: ClassVar[tuple[str, ...]] = tuple("0123456789")
    target: ClassVar[str] = "digit"
    origin: ClassVar[str] = "Street View House Numbers (Netzer et al. 2011), a draw of 5,000 digits, cut out anew"
    licence: ClassVar[str] = "non-commercial use only"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "svhn/svhn_5k_32px.npz",
            "875d231a15a26e8953034fc4311eeb819956eec58f96a0ced59a9a662b0e2393",
            how="take the full-number images of SVHN, widen the box of each digit to a square, resize it to 32 pixels "
            "(bicubic), choose 4,000 training and 1,000 test digits as for cifar10, and write webp_train (one lossless "
            "WebP picture of all, 100 to a row, as bytes), y_train, idx_train and the same of test with "
            "numpy.savez_compressed",
        ),
    )
