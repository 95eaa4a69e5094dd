"""Breast cancer: is a tumour benign or malignant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames


@dataclass(frozen=True)
class BreastCancer:
    """Wisconsin diagnostic breast cancer: 569 tumours, 30 numeric columns, benign (357) or malignant (212).

    Mean, standard error and worst value of ten measures of cell nuclei, as in the copy that comes with scikit-learn;
    nothing is missing. No column describes a person beyond the tumour.

    >>> data = BreastCancer().load()
    >>> data.X.shape, data.schema.classes, data.schema.favourable
    ((569, 30), ('benign', 'malignant'), 0)
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository (Wolberg et al. 1995), as shipped with scikit-learn"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[()]] = ()

    def load(self) -> Dataset:
        """Read scikit-learn's copy."""
        from sklearn.datasets import load_breast_cancer

        bunch = load_breast_cancer(as_frame=True)
        table = bunch.data.assign(diagnosis=bunch.target_names[bunch.target])
        return frames.dataset(table, "diagnosis", favourable="benign")
