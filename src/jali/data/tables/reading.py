"""Reading of the built-in data sets: delimited text with declared names, codes and markers of missing values."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jali.data.tables import files, frames

if TYPE_CHECKING:
    import pandas as pd


def read(
    remote: files.Remote,
    names: Sequence[str] = (),
    separator: str = ",",
    missing: Sequence[str] = ("?",),
    skip: int = 0,
) -> pd.DataFrame:
    """The table in a file; without `names` its first line is the header. Only the texts in `missing` mean missing."""
    import pandas as pd

    return pd.read_csv(
        io.BytesIO(files.read(remote)),
        sep=separator,
        header=None if names else 0,
        names=list(names) or None,
        na_values=list(missing),
        keep_default_na=False,
        skipinitialspace=True,
        skiprows=skip,
        low_memory=False,
    )


def recode(table: pd.DataFrame, names: Mapping[str, Mapping[Any, str]]) -> pd.DataFrame:
    """Replace the codes of the named columns by readable names; a code without a name becomes missing.

    >>> import pandas as pd
    >>> recode(pd.DataFrame({"sex": [1, 0]}), {"sex": {0: "female", 1: "male"}})["sex"].tolist()
    ['male', 'female']
    """
    return table.assign(**{column: table[column].map(dict(codes)) for column, codes in names.items()})


def name_missing(table: pd.DataFrame) -> pd.DataFrame:
    """Make missing text a category of its own, "missing"; missing numbers are left missing.

    >>> import pandas as pd
    >>> name_missing(pd.DataFrame({"job": ["cook", None]}))["job"].tolist()
    ['cook', 'missing']
    """
    text = [name for name in table.columns if frames.is_text(table[name])]
    return table.assign(**{name: table[name].fillna("missing") for name in text})


def above_mean(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Replace a number by whether it is above its mean: "<=mean" or ">mean".

    >>> import pandas as pd
    >>> above_mean(pd.DataFrame({"pay": [1.0, 2.0, 6.0]}), "pay")["pay"].tolist()
    ['<=mean', '<=mean', '>mean']
    """
    above = table[column] > table[column].mean()
    return table.assign(**{column: above.map({False: "<=mean", True: ">mean"})})
