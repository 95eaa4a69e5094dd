"""The user's own table, read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

from jali.core.errors import JaliError
from jali.core.values import Dataset, Kind
from jali.data.tables import frame_files, frames, schema_files

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """Your own table: a .csv or .tsv file (plain or .gz) or a .parquet file with a header and one row per record.

    Text and boolean columns become categories, whole numbers integers, other numbers numbers, and dates days since
    1970-01-01. A missing text is a category of its own; missing numbers are kept, and explainers that cannot read them
    say so. Columns that are different in each row are left out as identifiers. Nothing in the file is ever executed,
    and the path must be a file on this machine.

    Parameters
    ----------
    path
        The file.
    target
        The column to predict, 2 to 50 classes; the schema file may name it.
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
        taken from the rows are not private. `jali schema` writes one.
    drop
        Columns that are no inputs.
    immutable
        Columns that recourse must not change.
    kind
        The kinds of columns whose values do not show them, such as "postcode=category".
    bounds
        Natural limits of numbers, such as "income=0:200000".

    >>> Table("applicants.csv", "repaid", favourable="1", quasi=("age", "postcode")).path
    'applicants.csv'
    """

    path: str
    target: str = ""
    favourable: str = ""
    quasi: tuple[str, ...] = ()
    groups: str = ""
    sensitive: str = ""
    schema: str = ""
    drop: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    origin: ClassVar[str] = "a file of your own"
    licence: ClassVar[str] = "yours"
    files: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        for name in ("quasi", "drop", "immutable", "kind", "bounds"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise JaliError(f"table: {name} must be a list of columns, such as [{given!r}], not {given!r}.")
        kinds(self.kind)
        limits(self.bounds)

    def load(self) -> Dataset:
        """Read the file, and infer what of its schema is not declared."""
        return self.dataset(self.frame())

    def frame(self) -> pd.DataFrame:
        """The file as a table, with every column."""
        return frame_files.read(Path(self.path).expanduser())

    def dataset(self, frame: pd.DataFrame) -> Dataset:
        """The raw table of the file's rows."""
        declared = schema_files.given(self.schema) or schema_files.Declared()
        target = self.target or declared.target
        if not target:
            raise JaliError(f"{self.path} needs a target: name the column to predict with --target.")
        if target not in frame.columns:
            hint = frames.near(target, list(frame.columns))
            raise JaliError(f"{self.path} has no column {target!r}; {hint}")
        return frames.dataset(
            frame,
            target,
            favourable=self.favourable or declared.favourable,
            quasi=self.quasi,
            immutable=self.immutable,
            groups=self.groups or declared.groups or None,
            sensitive=self.sensitive or declared.sensitive or None,
            declared=declared,
            kinds=kinds(self.kind),
            bounds=limits(self.bounds),
            drop=(*self.drop, *declared.drop),
            own=True,
            identifiers=True,
        )


def kinds(given: Sequence[str]) -> dict[str, Kind]:
    """Kinds of columns, from texts such as "postcode=category".

    >>> kinds(["postcode=category"])
    {'postcode': 'category'}
    """
    out: dict[str, Kind] = {}
    for text in given:
        name, _, kind = text.rpartition("=")
        if not name or kind not in get_args(Kind):
            raise JaliError(f"kind must be NAME=number, NAME=integer or NAME=category, not {text!r}.")
        out[name] = kind  # type: ignore[assignment]
    return out


def limits(given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Bounds of columns, from texts such as "income=0:200000".

    >>> limits(["income=0:200000"])
    {'income': (0.0, 200000.0)}
    """
    out = {}
    for text in given:
        name, _, span = text.rpartition("=")
        low, _, high = span.partition(":")
        try:
            ends = float(low), float(high)
        except ValueError:
            ends = 0.0, 0.0
        if not name or not ends[0] < ends[1]:
            raise JaliError(f"bounds must be NAME=LOW:HIGH, such as income=0:200000, not {text!r}.")
        out[name] = ends
    return out
