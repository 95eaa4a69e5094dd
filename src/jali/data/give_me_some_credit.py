"""Give Me Some Credit: will a borrower be 90 days late within two years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

LATE = "SeriousDlqin2yrs"


@dataclass(frozen=True)
class GiveMeSomeCredit:
    """Borrowers of a Kaggle competition: 120,269 rows, 10 columns, serious delinquency no (111,912) or yes (8,357).

    The row number is dropped, and so are the 29,731 of 150,000 rows without an income (those without a number of
    dependents are among them). The codes 96 and 98 in the three counts of late payments, an age of 0, debt ratios in
    the thousands and repeated rows are in the source and are kept. Called BANK by Naretto et al. (2024).

    >>> GiveMeSomeCredit().files[0].url
    ''
    """

    origin: ClassVar[str] = "Kaggle competition Give Me Some Credit (2011)"
    licence: ClassVar[str] = "rules of the competition: not an open licence"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "gmsc/cs-training.csv",
            "1bd46da486a5708c58c7b01a034fae2a13b327f6f7b62ea7ba4fe3b5824b24ac",
            how="accept the rules of the Kaggle competition GiveMeSomeCredit and download cs-training.csv",
        ),
    )

    def load(self) -> Dataset:
        """Read the file and drop the row numbers and the rows with gaps."""
        table = reading.read(self.files[0], missing=("NA",)).iloc[:, 1:].dropna()
        return frames.dataset(
            reading.recode(table, {LATE: {0: "no", 1: "yes"}}),
            LATE,
            favourable="no",
            quasi=("age", "NumberOfDependents"),
            immutable=("age",),
            integers=("MonthlyIncome", "NumberOfDependents"),
        )
