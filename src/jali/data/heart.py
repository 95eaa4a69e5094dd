"""Heart disease: are a patient's coronary vessels narrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

NAMES = {
    "sex": {0: "female", 1: "male"},
    "cp": {1: "typical angina", 2: "atypical angina", 3: "other pain", 4: "no symptoms"},
    "fbs": {0: "up to 120 mg/dl", 1: "above 120 mg/dl"},
    "restecg": {0: "normal", 1: "ST-T abnormal", 2: "thick left ventricle"},
    "exang": {0: "no", 1: "yes"},
    "slope": {1: "rising", 2: "flat", 3: "falling"},
    "ca": {0: "0", 1: "1", 2: "2", 3: "3"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
    "disease": {0: "absent", 1: "present", 2: "present", 3: "present", 4: "present"},
}
COLUMNS = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal", "disease"),
)


@dataclass(frozen=True)
class Heart:
    """Heart disease in Cleveland: 297 patients, 13 columns, disease absent (160) or present (137).

    The 6 of 303 rows with an unknown `ca` or `thal` are dropped; the four degrees of disease are one class. Columns:
    cp chest pain, trestbps resting blood pressure (mm Hg), chol cholesterol (mg/dl), fbs fasting blood sugar, restecg
    resting electrocardiogram, thalach highest heart rate, exang angina under exercise, oldpeak and slope of the ST
    segment, ca vessels seen by fluoroscopy (a category, as in Goethals et al. 2023), thal thallium scan.

    >>> Heart().files[0].path
    'heart/processed.cleveland.data'
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository, Heart Disease, Cleveland (Detrano et al. 1989)"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "heart/processed.cleveland.data",
            "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/processed.cleveland.data",
        ),
    )

    def load(self) -> Dataset:
        """Read the file, drop the rows with missing values and replace the codes by names."""
        return frames.dataset(
            reading.recode(reading.read(self.files[0], COLUMNS).dropna(), NAMES),
            "disease",
            favourable="absent",
            quasi=("age", "sex"),
            immutable=("age", "sex"),
            integers=("age", "trestbps", "chol", "thalach"),
            sensitive="sex",
        )
