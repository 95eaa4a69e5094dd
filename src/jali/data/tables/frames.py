"""Conversion between pandas tables and raw tables: the only place that turns dtypes into a schema, and back."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Ints, Kind, Schema
from jali.data.tables import columns, written
from jali.data.tables.columns import is_text as is_text
from jali.data.tables.schema_files import Declared, check_values
from jali.data.tables.schema_files import label as label

if TYPE_CHECKING:
    import pandas as pd

    Values = pd.Series[Any]

CLASSES = 50
RARE = 20  # rows of a class
TRUTH = {"False", "True"}
NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?([eE][-+]?\d+)?")


def dataset(
    table: pd.DataFrame,
    target: str,
    *,
    favourable: str = "",
    quasi: Collection[str] = (),
    immutable: Collection[str] = (),
    categories: Collection[str] = (),
    integers: Collection[str] = (),
    sensitive: str | None = None,
    groups: str | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    declared: Declared | None = None,
    kinds: Mapping[str, Kind] | None = None,
    drop: Collection[str] = (),
    own: bool = False,
    identifiers: bool = False,
) -> Dataset:
    """The raw table of a pandas table, with a schema inferred from the dtypes.

    Text, booleans and pandas categories become categories; integer dtypes become integers, floats numbers. Bounds are
    those declared, otherwise those observed; centre and spread are mean and standard deviation. What a schema file
    declares has precedence and is not taken from the rows.

    Parameters
    ----------
    table
        One row per record, every cell filled.
    target
        The column to predict. Its 2 to 50 different values are the classes, in ascending or alphabetical order.
    favourable
        The class that people want; empty where no class is favourable.
    quasi, immutable
        Quasi-identifiers, by which a row can be linked to a person, and columns that cannot change.
    categories, integers
        Columns whose dtype does not show their kind: codes stored as numbers, whole numbers stored as floats.
    sensitive
        The column whose groups are compared.
    groups
        The column that says which rows belong to one person; it is not an input.
    bounds
        Natural limits of columns of numbers.
    declared
        What a schema file declares about columns and classes.
    kinds
        The kinds of columns by name, where their dtypes do not show them.
    drop
        Columns that are no inputs.
    own
        A user's own table: missing values are kept and dates become days since 1970-01-01.
    identifiers
        Leave out columns that are different in each row, and say so in the notes of the schema.

    >>> import pandas as pd
    >>> data = dataset(pd.DataFrame({"age": [30, 50], "sex": ["m", "f"], "y": [0, 1]}), "y", immutable=["sex"])
    >>> data.X.tolist(), data.schema.columns[1].categories
    ([[30.0, 1.0], [50.0, 0.0]], ('f', 'm'))
    """
    inputs = _inputs(table, target, groups, drop, own)
    known = declared or Declared()
    quasi = {*quasi, *known.quasi}
    immutable = {*immutable, *known.immutable}
    asked = _Asked(
        known, {**known.kinds, **(kinds or {})}, set(categories), set(integers), dict(bounds or {}), own, identifiers
    )
    marked = {"quasi": quasi, "immutable": immutable, "categories": categories, "integers": integers}
    marked |= {"kind": asked.kinds, "bounds": asked.bounds, "schema file": known.columns}
    for option, some in {**marked, "sensitive": [sensitive] if sensitive else []}.items():
        _check_marked(option, some, inputs, target)
    y, classes = _outcome(table[target], known.classes)
    X, found = _raw(table, inputs, asked)
    read = [replace(c, mutable=c.name not in immutable, role="quasi" if c.name in quasi else "private") for c in found]
    favoured = _favoured(favourable, target, classes)
    asked.notes.extend(_rare(y, classes) if own else ())
    source: Literal["declared", "observed"] = "declared" if known.classes else "observed"
    notes = tuple(asked.notes)
    schema = Schema(tuple(read), classes, favoured, sensitive, target, outcome=source, notes=notes)
    return Dataset(X, y, schema, None if groups is None else columns.coded(table[groups])[0])


@dataclass(frozen=True)
class _Asked:
    """What is known or asked of the columns of a table, and what was decided about them, in sentences."""

    declared: Declared
    kinds: dict[str, Kind]
    categories: set[str]
    integers: set[str]
    bounds: dict[str, tuple[float, float]]
    own: bool
    identifiers: bool
    notes: list[str] = field(default_factory=list)

    def column(self, values: Values) -> tuple[Floats, Column] | None:
        """The raw values (N,) of a column and its entry in the schema; None if it is left out."""
        name = str(values.name)
        declared = self.declared.columns.get(name)
        stated = name in self.kinds or name in self.categories or name in self.integers
        as_text = "category" in (self.kinds.get(name), declared and declared.kind) or name in self.categories
        if self.identifiers and not as_text:
            values = written.meant(values)
        unknown = self.identifiers and not stated and declared is None
        if unknown:
            written.check(values)
        if unknown and columns.is_identifier(values):
            keep = "" if is_text(values) else f"; --kind {name}=integer keeps it"
            self.notes.append(f"Column {name!r} is different in each row and was left out as an identifier{keep}.")
            return None
        if self.own and not as_text and (days := columns.days(values)) is not None:
            self.notes.append(f"Column {name!r} holds dates, which are read as days since 1970-01-01.")
            values = days
        else:
            days = None
        if declared is not None:
            return columns.within(values, declared), replace(declared, date=days is not None)
        kind = self.kinds.get(name) or columns.kind_of(values, name in self.categories, name in self.integers)
        found = columns.observed(values, kind, self.bounds.get(name))
        if self.own and name in self.bounds:
            check_values(*found)
        x, column = found
        return x, replace(column, date=days is not None)


def _raw(table: pd.DataFrame, inputs: Sequence[str], asked: _Asked) -> tuple[Floats, list[Column]]:
    """The raw table (N, D) and its columns; it is filled column by column, so that no second copy is made."""
    X = np.empty((len(table), len(inputs)))
    found: list[Column] = []
    for values, column in _kept(table, inputs, asked):
        X[:, len(found)] = values
        found.append(column)
    if not found:
        raise JaliError("All columns were left out as identifiers: say which are none, such as --kind amount=integer.")
    X = X if len(found) == len(inputs) else X[:, : len(found)].copy()
    X.setflags(write=False)
    return X, found


def _kept(table: pd.DataFrame, inputs: Sequence[str], asked: _Asked) -> Iterator[tuple[Floats, Column]]:
    for name in inputs:
        if (found := asked.column(table[name])) is not None:
            yield found


def frame(X: Floats, schema: Schema) -> pd.DataFrame:
    """Raw rows (n, D) as a pandas table: int64, float64, text, and bool where the categories are False and True.

    >>> schema = Schema((Column("age", "integer"), Column("sex", "category", categories=("f", "m"))))
    >>> frame(np.array([[30.0, 1.0]]), schema).to_dict("records")
    [{'age': 30, 'sex': 'm'}]
    """
    import pandas as pd

    return pd.DataFrame({c.name: _decoded(X[:, j], c) for j, c in enumerate(schema.columns)})


class Like:
    """The layout of a table: names, values and dtypes, without its rows.

    columns: name, dtype, and for a column of texts the original value of each text. sample: the first rows, for
    checking that a model predicts the same for rebuilt rows. Not a dataclass, because the registry takes
    dataclasses for parts.
    """

    def __init__(self, columns: tuple[LikeColumn, ...], sample: pd.DataFrame | None = None) -> None:
        self.columns = columns
        self.sample = sample

    def __repr__(self) -> str:
        return f"Like({len(self.columns)} columns)"

    @classmethod
    def of(cls, table: pd.DataFrame, rows: int = 0) -> Like:
        """The layout of a table, with this many of its first rows as sample."""
        columns = []
        for j, name in enumerate(table.columns):
            column = table.iloc[:, j]
            columns.append(LikeColumn(name, column.dtype, _originals(column) if is_text(column) else None))
        return cls(tuple(columns), table.head(rows) if rows else None)

    def without_rows(self) -> Like:
        """The layout without the sample."""
        return Like(self.columns)


class LikeColumn(NamedTuple):
    """One column of a layout."""

    name: Any
    dtype: Any
    names: dict[str, Any] | None


def _originals(column: Values) -> dict[str, Any]:
    """The original value of each different text of a column."""
    texts = columns.texts(column.reset_index(drop=True)).drop_duplicates(keep="last")
    return dict(zip(texts, column.iloc[texts.index], strict=True))


def restored(table: pd.DataFrame, like: Like) -> pd.DataFrame:
    """A decoded table with the names, values and dtypes of another one; category names become the original codes.

    >>> import pandas as pd
    >>> like = Like.of(pd.DataFrame({"k": pd.Series([3, 1], dtype="category")}))
    >>> restored(pd.DataFrame({"k": ["1", "3"]}), like)["k"].tolist()
    [1, 3]
    """
    import pandas as pd

    columns = []
    for name, wanted in zip(table.columns, like.columns, strict=True):
        column = table[name]
        if wanted.names is not None and is_text(column):
            values = [wanted.names.get(text, text) for text in column.astype(str)]
            column = pd.Series(values, dtype=object)  # without it, the other rows would decide the type of a value
        columns.append(column.astype(wanted.dtype))
    out: pd.DataFrame = pd.concat(columns, axis=1).set_axis([column.name for column in like.columns], axis=1)
    return out


def check_names(names: Sequence[object]) -> None:
    """Raise if a column has no name, or the name of another column."""
    seen: set[object] = set()
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            raise JaliError(f"Column {place} has no name ({name!r}): name it, or drop it if it holds row numbers.")
        if name in seen:
            raise JaliError(f"Column names must be unique, but {name!r} occurs more than once: rename or drop one.")
        seen.add(name)


def near(name: str, names: Sequence[str]) -> str:
    """Advice about a name that no column has.

    >>> near("aeg", ["age", "sex"])
    "did you mean 'age'?"
    """
    values = _is_row(names)
    alike = difflib.get_close_matches(name, names, n=3, cutoff=0.7 if values else 0.5)
    if alike:
        return f"did you mean {' or '.join(map(repr, alike))}?"
    if values:
        return "its first line looks like a row of values: write a line with the names of the columns above it."
    if len(names) == 1:
        return f"its only column is {names[0]!r}: are the values separated by something else?"
    return f"it has {', '.join(map(repr, names[:10]))}{' and more' if len(names) > 10 else ''}."


def _is_row(names: Sequence[str]) -> bool:
    """Whether names look like somebody's values, which must not be shown: one is a number and does not count columns.

    >>> _is_row(["33", "2906.00", "cook"]), _is_row(["0", "1", "2"]), _is_row(["33;cook"]), _is_row(["age", "x1"])
    (True, False, True, False)
    """
    if len(names) == 1:
        names = re.split(r"[,;\t|]", names[0])
    counts = [str(place) for place in range(len(names) + 1)]
    return any(NUMBER.fullmatch(str(name).strip()) and str(name) not in counts for name in names)


def _check_marked(option: str, some: Collection[str], inputs: list[str], target: str) -> None:
    """Raise if an option names a column that is not an input, or does not exist."""
    for name in some:
        if name == target:
            raise JaliError(f"{option}: {name!r} is the target, which the model predicts: name columns it reads.")
        if name not in inputs:
            raise JaliError(f"{option}: the table has no column {name!r} among its inputs; {near(name, inputs)}")


def _inputs(
    table: pd.DataFrame, target: str, groups: str | None, drop: Collection[str] = (), own: bool = False
) -> list[str]:
    """The names of the input columns; raises if the table as a whole is not usable."""
    names = list(table.columns)
    check_names(names)
    if groups is not None and (groups not in names or groups == target):
        others = [name for name in names if name != target]
        raise JaliError(f"groups: the table has no column {groups!r} beside the target; {near(groups, others)}")
    _check_marked("drop", drop, [name for name in names if name != target], target)
    inputs = [name for name in names if name not in (target, groups, *drop)]
    if not len(table) or not inputs:
        raise JaliError(f"The table needs rows and at least one column beside {target!r}; it is {table.shape}.")
    for name in (*inputs, target, *([groups] if groups else [])):
        gaps = columns.infinite(table[name])
        gaps += 0 if own and name in inputs else columns.gaps(table[name])
        if gaps:
            raise JaliError(f"Column {name!r} holds {gaps} missing or infinite values: fill or drop these rows first.")
    return inputs


def _outcome(values: Values, declared: tuple[str, ...] = ()) -> tuple[Ints, tuple[str, ...]]:
    """Class numbers (N,) and the names of the classes: those declared, otherwise those observed."""
    if declared:
        y, classes = columns.codes_of(values, declared, f"The target {values.name!r}", "classes"), declared
    else:
        y, classes = columns.coded(values)
    if len(classes) < 2:
        raise JaliError(f"The target {values.name!r} has one class only; at least two are needed.")
    if len(classes) > CLASSES:
        raise JaliError(
            f"The target {values.name!r} has {len(classes)} different values, but a class for each row was expected, "
            f"at most {CLASSES} in all: cut it into classes first, such as above or below a threshold."
        )
    return y, classes


def _rare(y: Ints, classes: tuple[str, ...]) -> list[str]:
    """Advice about classes with so few rows that nothing can be said about them."""
    count = np.bincount(y, minlength=len(classes))
    few = [f"{name!r} ({n})" for name, n in zip(classes, count, strict=True) if 0 < n < RARE]
    if not few:
        return []
    shown = f"{', '.join(few[:3])}{f' and {len(few) - 3} more' if len(few) > 3 else ''}"
    which, them = ("This class has", "it") if len(few) == 1 else ("These classes have", "them")
    return [
        f"{which} fewer than {RARE} rows: {shown}. Results are hardly about {them}: add rows of {them}, or merge "
        f"{them} with another class."
    ]


def _favoured(favourable: str, target: str, classes: tuple[str, ...]) -> int | None:
    if not favourable:
        return None
    if favourable not in classes:
        raise JaliError(
            f"The favourable class {favourable!r} is none of the {len(classes)} classes of {target!r}: "
            "write it as in the data."
        )
    return classes.index(favourable)


def _decoded(x: Floats, column: Column) -> npt.NDArray[Any] | Values:
    import pandas as pd

    if column.kind == "number" or (column.kind == "integer" and column.missing):
        return x
    whole = np.rint(x).astype(np.int64)
    if column.kind == "integer":
        return whole
    names = np.array(column.categories, dtype=object)[whole]
    return names == "True" if TRUTH.issuperset(column.categories) else pd.Series(names, dtype=str)
