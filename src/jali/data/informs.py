"""INFORMS contest demographics: is a person's income above the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

DROPPED = ["DUID", "PID", "DUPERSID", "RACEAX", "RACEBX", "RACEWX", "RACETHNX"]
NAMES = {
    "SEX": {1: "male", 2: "female"},
    "RACEX": {1: "white", 2: "black", 3: "American Indian", 4: "Asian", 5: "Pacific Islander", 6: "several"},
    "HISPANX": {1: "yes", 2: "no"},
    "marry": {
        **{1: "married", 2: "widowed", 3: "divorced", 4: "separated", 5: "never married", 6: "under 16"},
        **{-7: "refused", -8: "not known", -9: "not ascertained"},
    },
    "poverty": {1: "poor", 2: "near poor", 3: "low income", 4: "middle income", 5: "high income"},
}


@dataclass(frozen=True)
class Informs:
    """Demographics of the 2008 INFORMS contest, year 2005: 33,961 people, 10 columns, income above its mean or not.

    The three ids and the four race columns derived from RACEX are dropped; income itself is the target (mean 18,605
    dollars, 11,856 people above). -1, -7, -8 and -9 in EDUCYEAR are codes for no answer and are kept as numbers;
    HISPCAT keeps the codes of the survey; Year is constant in this part of the file. `poverty` is computed from the
    income of the family and nearly determines the target. Columns and quasi-identifiers as in Goethals et al. (2023).

    >>> Informs().files[0].path
    'informs/informs_demographics_2005.csv'
    """

    origin: ClassVar[str] = "INFORMS Data Mining Contest 2008, from the Medical Expenditure Panel Survey of 2005"
    licence: ClassVar[str] = "none stated; the survey is data of the US government"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "informs/informs_demographics_2005.csv",
            "4427129f7f4d939190dc659a66afed2d0fd4a5128bd3cb05ef987b0fd1371111",
            "https://raw.githubusercontent.com/qiyuangong/Mondrian/f649d5f22e16a8094e62cdeb23a455fd75c579c3"
            "/data/demographics05test.csv",
        ),
    )

    def load(self) -> Dataset:
        """Read the file, replace its codes by names and compare the income with its mean."""
        table = reading.read(self.files[0], missing=()).drop(columns=DROPPED)
        return frames.dataset(
            reading.recode(reading.above_mean(table, "income"), NAMES),
            "income",
            favourable=">mean",
            quasi=("DOBMM", "DOBYY", "SEX", "EDUCYEAR", "marry", "RACEX"),
            immutable=("DOBMM", "DOBYY", "SEX", "RACEX", "HISPANX", "HISPCAT", "Year"),
            categories=("HISPCAT",),
            sensitive="RACEX",
        )
