"""Hospital discharges in New York: does a stay cost more than the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

COSTS = "Total Costs"
QUASI = ("Age Group", "Zip Code - 3 digits", "Gender", "Race", "Ethnicity")
PRIVATE = (
    "Length of Stay",
    "Type of Admission",
    "Patient Disposition",
    "CCS Diagnosis Description",
    "CCS Procedure Description",
    "APR MDC Description",
    "APR Severity of Illness Description",
    "APR Risk of Mortality",
    "APR Medical Surgical Description",
    "Payment Typology 1",
    "Payment Typology 2",
    "Payment Typology 3",
    "Birth Weight",
    "Abortion Edit Indicator",
    "Emergency Department Indicator",
)


@dataclass(frozen=True)
class Hospital:
    """Inpatient discharges in New York State, 2016: a sample of 1,000, 20 columns, total costs above their mean or not.

    A sample drawn by the author of the repository it comes from (Goethals et al. 2023 used the year 2015). No row is
    dropped: unknown zip codes (17) and absent second and third payers (376, 748) are the category "missing". These
    columns are dropped: the row number, everything about the hospital, codes that repeat a description, charges, the
    constant year, and the APR DRG description, whose 203 groups of diagnoses are too many for 1,000 rows; the major
    diagnostic category (MDC) groups them. Costs above the mean (14,993 dollars, 272 stays) are favourable by that
    paper's convention. Birth weight is 0 for everyone but newborns.

    >>> Hospital().files[0].path
    'hospital/sparcs2016_sample1000.csv'
    """

    origin: ClassVar[str] = "New York State Department of Health, SPARCS inpatient discharges 2016, a public sample"
    licence: ClassVar[str] = "open data terms of New York State"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "hospital/sparcs2016_sample1000.csv",
            "32246a57c1eadf3a010d897d8c5c1dae9e68fdabd78760c6c0642d4776e7e6b9",
            "https://raw.githubusercontent.com/mengyao36/descriptives-nydischarges"
            "/2f1f90b81aabc8fc1d5b41913fe27c5953d23bb9/data/sparcs.csv",
        ),
    )

    def load(self) -> Dataset:
        """Read the file and compare the costs with their mean."""
        table = reading.read(self.files[0], missing=("",))[[*QUASI, *PRIVATE, COSTS]]
        costs = table[COSTS].str.replace(",", "").astype(float)
        return frames.dataset(
            reading.name_missing(reading.above_mean(table.assign(**{COSTS: costs}), COSTS)),
            COSTS,
            favourable=">mean",
            quasi=QUASI,
            immutable=("Age Group", "Gender", "Race", "Ethnicity", "Birth Weight"),
            sensitive="Gender",
        )
