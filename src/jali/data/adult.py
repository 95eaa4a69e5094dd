"""Adult census income: does a person earn more than 50,000 dollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)


@dataclass(frozen=True)
class Adult:
    """Adult census income of 1994: 48,842 rows, 14 columns, income above 50,000 dollars or not.

    The 32,561 training rows are followed by the 16,281 test rows; nothing is dropped. Unknown workclass, occupation and
    native country are the category "missing". Repeated rows are kept (24 in the training file). `fnlwgt` is a survey
    weight: it describes the sample, so it is immutable. Quasi-identifiers as in Goethals et al. (2023).

    >>> [file.path for file in Adult().files]
    ['adult/adult.data', 'adult/adult.test']
    """

    origin: ClassVar[str] = "UCI Machine Learning Repository, Adult (Becker and Kohavi 1996)"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "adult/adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            UCI + "adult.data",
        ),
        Remote(
            "adult/adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            UCI + "adult.test",
        ),
    )

    def load(self) -> Dataset:
        """Read both files; the test file starts with a comment line, and its labels end in a full stop."""
        import pandas as pd

        train = reading.read(self.files[0], COLUMNS)
        test = reading.read(self.files[1], COLUMNS, skip=1)
        table = pd.concat([train, test], ignore_index=True)
        return frames.dataset(
            reading.name_missing(table.assign(income=table["income"].str.rstrip("."))),
            "income",
            favourable=">50K",
            quasi=("age", "marital-status", "relationship", "race", "sex"),
            immutable=("age", "fnlwgt", "race", "sex", "native-country"),
            sensitive="sex",
        )
