"""German traffic signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.values import Ints
from jali.data.tables.files import Remote
from jali.data.tables.images import Bytes, Pictures, mosaic

LIMITS = tuple(f"{speed} km/h" for speed in (20, 30, 50, 60, 70, 80))
WARNINGS = """
crossroads with priority, priority road, give way, stop, no vehicles, no lorries, no entry, danger, bend to the left,
bend to the right, double bend, bumpy road, slippery road, narrow road, road works, traffic lights, pedestrians,
children, cyclists, ice, animals
"""
ORDERS = """
end of limits, right only, left only, ahead only, ahead or right, ahead or left, keep right, keep left, roundabout,
overtaking again, lorries may overtake again
"""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(","))


@dataclass(frozen=True)
class GTSRB(Pictures):
    """German Traffic Sign Recognition Benchmark: photographs brought to 32 × 32 pixels, 43 signs; 2,000 drawn.

    From 4,000 training images, drawn at random. Up to 30 frames show the same physical sign: they are one group,
    which games keep together. It is not known which test images show the same sign, so they are left out. No sign is
    favourable.

    >>> GTSRB(rows=0).labels[14]
    'stop'
    """

    labels: ClassVar[tuple[str, ...]] = (
        *LIMITS,
        *("end of 80 km/h", "100 km/h", "120 km/h", "no overtaking", "no overtaking by lorries"),
        *_listed(WARNINGS),
        *_listed(ORDERS),
    )
    target: ClassVar[str] = "sign"
    origin: ClassVar[str] = "German Traffic Sign Recognition Benchmark (Stallkamp et al. 2012), a draw of 4,000 images"
    licence: ClassVar[str] = "none stated, free for research; cite Stallkamp et al. 2012"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "gtsrb/gtsrb_5k_32px.npz",
            "cb5f466008e7554e9f5406b9977a6206e296bbeebded2c904294bb512b493806",
            how="take the images of GTSRB, resize them to 32 pixels (bilinear), choose 4,000 training and 1,000 test "
            "images as for cifar10, and write webp_train (one lossless WebP picture of all, 100 to a row, as bytes), "
            "y_train, track_train, idx_train and the same of test, which has no tracks, with numpy.savez_compressed",
        ),
    )

    def read(self, file: Mapping[str, Any]) -> tuple[Bytes, Ints, Ints | None]:
        """The training images, their classes, and the physical sign (group) that each one shows."""
        sign, track = (file[f"{name}_train"].astype(np.int64) for name in ("y", "track"))
        return mosaic(file, "train"), sign, sign * (track.max() + 1) + track
