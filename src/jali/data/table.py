"""The user's own table, read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.tables import frame_files, frames, schema_files


@dataclass(frozen=True)
class Table:
    """Your own table: a .csv or .tsv file (plain or .gz) or a .parquet file with a header and one row per record.

    Text and boolean columns become categories, whole numbers integers, other numbers numbers; no cell may be missing.
    Nothing in the file is ever executed, and the path must be a file on this machine.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict, 2 to 50 classes.
    favourable
        The class that people want, as it is written in the file; empty where no class is favourable.
    quasi
        The quasi-identifiers: columns by which a row can be linked to a person, such as age and postcode.
    groups
        The column that says which rows belong to one person: these are kept together, and the model does not read it.
    sensitive
        The column whose groups are compared.
    schema
        A schema file (TOML): kind, bounds, scale or categories of columns and the classes of the target, as they are
        known without looking at these rows. A guarantee of differential privacy needs it, because constants that are
        taken from the rows are not private.

    >>> Table("applicants.csv", "repaid", favourable="1", quasi=("age", "postcode")).path
    'applicants.csv'
    """

    path: str
    target: str
    favourable: str = ""
    quasi: tuple[str, ...] = ()
    groups: str = ""
    sensitive: str = ""
    schema: str = ""
    origin: ClassVar[str] = "a file of your own"
    licence: ClassVar[str] = "yours"
    files: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        if isinstance(self.quasi, str):
            raise JaliError(f"table: quasi must be a list of columns, such as [{self.quasi!r}], not {self.quasi!r}.")

    def load(self) -> Dataset:
        """Read the file, and infer what of its schema is not declared."""
        frame = frame_files.read(Path(self.path).expanduser())
        if self.target not in frame.columns:
            hint = frames.near(self.target, list(frame.columns))
            raise JaliError(f"{self.path} has no column {self.target!r}; {hint}")
        return frames.dataset(
            frame,
            self.target,
            favourable=self.favourable,
            quasi=self.quasi,
            groups=self.groups or None,
            sensitive=self.sensitive or None,
            declared=schema_files.given(self.schema),
        )
