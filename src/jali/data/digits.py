"""Handwritten digits of 8 by 8 pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames


@dataclass(frozen=True)
class Digits:
    """Handwritten digits: 1,797 images of 8 × 8 pixels, each a whole number from 0 to 16, ten classes.

    The test part of the set of Alpaydin and Kaynak, as in the copy that comes with scikit-learn. Three pixels at the
    edge are always 0. No digit is favourable.

    >>> data = Digits().load()
    >>> data.X.shape, len(data.schema.classes), data.schema.favourable
    ((1797, 64), 10, None)
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository (Alpaydin and Kaynak 1998), as shipped with scikit-learn"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[()]] = ()

    def load(self) -> Dataset:
        """Read scikit-learn's copy."""
        from sklearn.datasets import load_digits

        bunch = load_digits(as_frame=True)
        pixels = list(bunch.data.columns)
        data = frames.dataset(bunch.frame, "target", integers=pixels, bounds=dict.fromkeys(pixels, (0.0, 16.0)))
        return replace(data, schema=replace(data.schema, image=(1, 8, 8)))
