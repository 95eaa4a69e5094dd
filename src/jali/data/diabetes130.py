"""Diabetes in 130 US hospitals: is a patient readmitted within 30 days."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

DROPPED = ["encounter_id", "weight", "payer_code", "medical_specialty"]
DIAGNOSES = ("diag_1", "diag_2", "diag_3")
CHAPTERS = {
    1: "infectious",
    140: "neoplasms",
    240: "endocrine",
    280: "blood",
    290: "mental",
    320: "nervous system",
    390: "circulatory",
    460: "respiratory",
    520: "digestive",
    580: "genitourinary",
    630: "pregnancy",
    680: "skin",
    710: "musculoskeletal",
    740: "congenital",
    760: "perinatal",
    780: "symptoms",
    800: "injury",
}


@dataclass(frozen=True)
class Diabetes130:
    """Diabetic patients in 130 US hospitals, 1999 to 2008: 101,766 stays, 44 columns, readmitted within 30 days or not.

    71,518 patients: the rows of one patient form a group. Both ids and three columns that are mostly empty are
    dropped (weight, payer_code, medical_specialty). The three diagnoses are grouped by ICD-9 chapter, diabetes (250)
    apart; unknown race and diagnoses are the category "missing"; "None" in the two laboratory columns means not
    measured. The three `_id` columns keep the codes of the source. 11,357 stays are followed by another within 30
    days (yes); a later readmission counts as no.

    >>> Diabetes130().files[0].path
    'diabetes130/diabetic_data.csv'
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository, Diabetes 130-US Hospitals (Strack et al. 2014)"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "diabetes130/diabetic_data.csv",
            "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
            how="download the data set Diabetes 130-US Hospitals from archive.ics.uci.edu, unpack diabetic_data.csv",
        ),
    )

    def load(self) -> Dataset:
        """Read the file, drop what is mostly empty and group the diagnoses."""
        table = reading.read(self.files[0]).drop(columns=DROPPED)
        chapters = {name: {code: _chapter(code) for code in table[name].dropna().unique()} for name in DIAGNOSES}
        back = {"readmitted": {"<30": "yes", ">30": "no", "NO": "no"}}
        return frames.dataset(
            reading.name_missing(reading.recode(table, chapters | back)),
            "readmitted",
            favourable="no",
            quasi=("race", "gender", "age"),
            immutable=("race", "gender", "age"),
            categories=("admission_type_id", "discharge_disposition_id", "admission_source_id"),
            sensitive="gender",
            groups="patient_nbr",
        )


def _chapter(code: str) -> str:
    """The chapter of an ICD-9 code.

    >>> _chapter("250.83"), _chapter("428"), _chapter("V27"), _chapter("999.9")
    ('diabetes', 'circulatory', 'other contact', 'injury')
    """
    if code[0] in "EV":
        return {"E": "external cause", "V": "other contact"}[code[0]]
    number = int(float(code))
    return "diabetes" if number == 250 else list(CHAPTERS.values())[bisect_right(list(CHAPTERS), number) - 1]
