"""German credit: is a loan applicant a good or a bad risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

NAMES: dict[str, Mapping[Any, str]] = {
    "status": {"A11": "overdrawn", "A12": "below 200 DM", "A13": "200 DM or more, or salary", "A14": "no account"},
    "credit-history": {
        "A30": "none, or all repaid",
        "A31": "all repaid at this bank",
        "A32": "repaid so far",
        "A33": "late in the past",
        "A34": "critical, or credits elsewhere",
    },
    "purpose": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture",
        "A43": "radio or television",
        "A44": "household appliance",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "savings": {
        "A61": "below 100 DM",
        "A62": "100 to 500 DM",
        "A63": "500 to 1000 DM",
        "A64": "1000 DM or more",
        "A65": "none or unknown",
    },
    "employment": {
        "A71": "unemployed",
        "A72": "below 1 year",
        "A73": "1 to 4 years",
        "A74": "4 to 7 years",
        "A75": "7 years or more",
    },
    "personal-status": {
        "A91": "man, divorced or separated",
        "A92": "woman, not single",
        "A93": "man, single",
        "A94": "man, married or widowed",
        "A95": "woman, single",
    },
    "debtors": {"A101": "none", "A102": "joint applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate",
        "A122": "building savings or life insurance",
        "A123": "car or other",
        "A124": "none or unknown",
    },
    "installments": {"A141": "bank", "A142": "shop", "A143": "none"},
    "housing": {"A151": "rented", "A152": "owned", "A153": "free of charge"},
    "job": {
        "A171": "none, or unskilled non-resident",
        "A172": "unskilled resident",
        "A173": "skilled or official",
        "A174": "manager, self-employed or expert",
    },
    "telephone": {"A191": "no", "A192": "yes"},
    "foreign": {"A201": "yes", "A202": "no"},
    "credit": {1: "good", 2: "bad"},
}
COLUMNS = (
    *("status", "duration", "credit-history", "purpose", "amount", "savings", "employment", "installment-rate"),
    *("personal-status", "debtors", "residence-time", "property", "age", "installments", "housing"),
    *("existing-credits", "job", "liable-people", "telephone", "foreign", "credit"),
)


@dataclass(frozen=True)
class German:
    """German credit: 1,000 rows, 20 columns, a good (700) or a bad (300) risk.

    Nothing is dropped or missing. The codes of the file are replaced by names. One column combines sex and marital
    status: it is the sensitive one, and it is immutable because it includes sex. Amounts are in Deutsche Mark,
    `installment-rate` in classes of the share of income. Quasi-identifiers as in Goethals et al. (2023).

    >>> German().files[0].path
    'german/german.data'
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository, Statlog German credit data (Hofmann 1994)"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "german/german.data",
            "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
        ),
    )

    def load(self) -> Dataset:
        """Read the file and replace its codes by names."""
        return frames.dataset(
            reading.recode(reading.read(self.files[0], COLUMNS, separator=" "), NAMES),
            "credit",
            favourable="good",
            quasi=(
                *("age", "personal-status", "foreign", "residence-time", "employment"),
                *("property", "housing", "job"),
            ),
            immutable=("age", "personal-status", "foreign"),
            sensitive="personal-status",
        )
