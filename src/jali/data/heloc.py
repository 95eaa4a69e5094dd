"""Home equity lines of credit: will a borrower be 90 days late within two years."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

if TYPE_CHECKING:
    import pandas as pd

RISK = "RiskPerformance"
SCORE = "ExternalRiskEstimate"


@dataclass(frozen=True)
class Heloc:
    """FICO's home equity lines of credit: 9,871 rows, 23 whole-number columns, risk performance good or bad.

    The 588 rows of 10,459 that are -9 (no bureau record) in every column are dropped. The codes -7 (condition not
    met), -8 (nothing usable) and -9 in other rows are kept as numbers, and the one repeated row is kept. With target
    "ExternalRiskEstimate" the label is whether that score reaches its median over these rows (72), and both the score
    and the risk performance are left out: 22 columns, as in the code released by Pawelczyk et al. (2023).

    >>> Heloc(target="ExternalRiskEstimate").target
    'ExternalRiskEstimate'
    """

    target: Literal["RiskPerformance", "ExternalRiskEstimate"] = "RiskPerformance"
    origin: ClassVar[str] = "FICO Explainable Machine Learning Challenge (2018)"
    licence: ClassVar[str] = "terms of the challenge: research use, not an open licence"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "heloc/heloc_dataset_v1.csv",
            "f66d77f4e4e27c11205ba6258008f5e071f1f09724f4893e9ff2840a4e99f259",
            how="ask FICO for the HELOC data set of its Explainable Machine Learning Challenge",
        ),
    )

    def load(self) -> Dataset:
        """Read the file and drop the rows without any bureau record."""
        table = reading.read(self.files[0], missing=())
        table = table[(table.drop(columns=RISK) != -9).any(axis=1)]
        if self.target == SCORE:
            return frames.dataset(_by_score(table), SCORE, favourable=">=median")
        return frames.dataset(table, RISK, favourable="Good")


def _by_score(table: pd.DataFrame) -> pd.DataFrame:
    high = table[SCORE] >= table[SCORE].median()
    return table.drop(columns=RISK).assign(**{SCORE: high.map({False: "<median", True: ">=median"})})
