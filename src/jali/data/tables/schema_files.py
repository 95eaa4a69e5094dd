"""Schema files: what is known about a table's columns without looking at its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from jali.core import files
from jali.core.errors import JaliError
from jali.core.values import Column, Floats, Kind, Role, Schema
from jali.text import toml

NUMBERS = ("low", "high", "centre", "spread")
MARKS = ("kind", "mutable", "role", "missing")
TEXTS = ("target", "favourable", "groups", "sensitive")


@dataclass(frozen=True)
class Declared:
    """The declared columns by name, and the classes of the target; everything else is taken from the rows.

    kinds: columns of which only the kind is declared. immutable and quasi: names of columns. drop: columns that are no
    inputs. target, favourable, groups and sensitive as for `table`, empty where the file does not say.

    >>> Declared().columns, Declared().classes
    ({}, ())
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    immutable: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    target: str = ""
    favourable: str = ""
    groups: str = ""
    sensitive: str = ""


def given(schema: str | Mapping[str, Any]) -> Declared | None:
    """What a schema file declares, or a mapping of the same form; None where nothing is given.

    >>> given({"columns": {"age": {"kind": "integer", "low": 18, "high": 90}}}).columns["age"].centre
    54.0
    """
    if not schema:
        return None
    return read(Path(schema).expanduser()) if isinstance(schema, str) else _of("The schema", schema)


def read(path: Path) -> Declared:
    """The declarations in a TOML file: about the table as a whole, and for each column a table `columns.NAME`.

    The table may have classes, target, favourable, groups, sensitive and drop. A number or integer has kind, low and
    high, and both or neither of centre and spread; without these, the bounds are encoded as -1 and 1. A category has
    kind and categories. With a kind alone, the rest is taken from the rows. `mutable = false` says that recourse must
    not change a column, `role = "quasi"` that people can be found by it, `missing = true` that a number may be missing.
    """
    try:
        entry = toml.parsed(files.content(path).decode("utf-8"))
    except OSError as error:
        raise JaliError(f"Cannot read the schema file {path}: {error.strerror}.") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise JaliError(f"The schema file {path} is not valid TOML: {error}.") from None
    return _of(f"The schema file {path}", entry)


def check_values(x: Floats, column: Column) -> None:
    """Refuse values (N,) that a declared number does not allow; the error counts them and shows none."""
    import numpy as np

    x = x[~np.isnan(x)]
    outside = int(((x < column.low) | (x > column.high)).sum())
    if outside:
        raise JaliError(
            f"Column {column.name!r}: {outside} rows lie outside the declared {column.low:g} to {column.high:g}: clip "
            "them, or declare wider bounds that do not depend on the rows."
        )
    broken = int((x % 1 != 0).sum()) if column.kind == "integer" else 0
    if broken:
        raise JaliError(f"Column {column.name!r} is declared as integer, but {broken} rows are not whole numbers.")


def _of(where: str, entry: Mapping[str, Any]) -> Declared:
    """The declarations in a table."""
    known = ("classes", "drop", *TEXTS, "columns")
    if unknown := sorted(set(entry) - set(known)):
        raise JaliError(f"{where} may contain {', '.join(known[:-1])} and columns.NAME, not {unknown[0]!r}.")
    columns = entry.get("columns", {})
    if not isinstance(columns, dict):
        raise JaliError(f"{where}: write one table [columns.NAME] for each column.")
    for name in TEXTS:
        if not isinstance(entry.get(name, ""), str | int | float):
            raise JaliError(f"{where}: {name} must be a text, not {entry[name]!r}.")
    made = {name: _column(where, name, words) for name, words in columns.items()}
    return Declared(
        {name: column for name, column in made.items() if _is_whole(columns[name])},
        _texts(where, "classes", entry["classes"]) if "classes" in entry else (),
        {name: column.kind for name, column in made.items() if not _is_whole(columns[name])},
        tuple(name for name, column in made.items() if not column.mutable),
        tuple(name for name, column in made.items() if column.role == "quasi"),
        _texts(where, "drop", entry["drop"]) if entry.get("drop") else (),
        **{name: label(entry[name]) for name in TEXTS if name in entry},
    )


def _is_whole(entry: Mapping[str, Any]) -> bool:
    """Whether more than the kind of a column is declared."""
    return bool(set(entry) - set(MARKS))


def _column(origin: str, name: str, entry: Any) -> Column:
    where = f"{origin}, column {name!r}"
    kind: Any = entry.get("kind") if isinstance(entry, dict) else None
    if kind not in get_args(Kind):
        raise JaliError(
            f"{where}: kind must be {', '.join(get_args(Kind)[:-1])} or {get_args(Kind)[-1]}, not {kind!r}."
        )
    known = (*MARKS, "categories") if kind == "category" else (*MARKS, *NUMBERS)
    if unknown := sorted(set(entry) - set(known)):
        raise JaliError(f"{where}: a {kind} column has {', '.join(known)}, not {unknown[0]!r}.")
    mutable, role, missing = entry.get("mutable", True), entry.get("role", "private"), entry.get("missing", False)
    if not isinstance(mutable, bool) or not isinstance(missing, bool) or role not in get_args(Role):
        raise JaliError(f"{where}: mutable and missing must be true or false, and role quasi or private.")
    if not _is_whole(entry):
        return Column(name, kind, mutable=mutable, role=role)
    if kind == "category":
        names = _texts(where, "categories", entry.get("categories"))
        return Column(name, "category", categories=names, mutable=mutable, role=role)
    return replace(_number(where, name, kind, entry), mutable=mutable, role=role, missing=missing)


def _number(where: str, name: str, kind: Kind, entry: Mapping[str, Any]) -> Column:
    for field_name in NUMBERS:
        value = entry.get(field_name, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
            raise JaliError(f"{where}: {field_name} must be a finite number, not {value!r}.")
    if "low" not in entry or "high" not in entry or not entry["low"] < entry["high"]:
        raise JaliError(f"{where}: give low and high, low below high.")
    if ("centre" in entry) != ("spread" in entry) or not entry.get("spread", 1.0) > 0:
        raise JaliError(f"{where}: give both centre and spread, spread above 0, or neither.")
    low = float(entry["low"])
    high = float(entry["high"])
    centre = float(entry.get("centre", (low + high) / 2))
    spread = float(entry.get("spread", (high - low) / 2))
    return Column(name, kind, low, high, centre, spread)


def entries(schema: Schema, drop: Sequence[str], groups: str = "", show_values: bool = False) -> dict[str, Any]:
    """A schema as a schema file says it; what was observed in people's rows is left out unless values may be shown."""
    shown = show_values or schema.outcome == "declared"
    out: dict[str, Any] = {"target": schema.target, "groups": groups, "sensitive": schema.sensitive or ""}
    out["favourable"] = "" if schema.favourable is None else schema.classes[schema.favourable]
    out |= {"drop": list(drop), "classes": list(schema.classes) if shown else []}
    out = {name: value for name, value in out.items() if value}
    return out | {"columns": {column.name: _entry(column, show_values) for column in schema.columns}}


def _entry(column: Column, show_values: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": column.kind}
    if column.kind == "category" and (show_values or column.known == "declared"):
        out["categories"] = list(column.categories)
    elif column.kind != "category" and (show_values or column.known != "observed"):
        out |= {"low": column.low, "high": column.high}
        scaled = column.known == "declared" or show_values
        out |= {"centre": column.centre, "spread": column.spread} if scaled else {}
    out |= {"missing": True} if column.missing else {}
    out |= {} if column.mutable else {"mutable": False}
    return out | ({"role": "quasi"} if column.role == "quasi" else {})


def _texts(where: str, what: str, given: Any) -> tuple[str, ...]:
    """A list of different texts; numbers are converted to text."""
    plain = isinstance(given, list) and all(isinstance(v, str | int | float) for v in given)
    texts = tuple(label(v) for v in given) if plain else ()
    if len(texts) < 1 or len(set(texts)) < len(texts):
        raise JaliError(f"{where}: {what} must be a list of different texts, such as {what} = ['no', 'yes'].")
    return texts


def label(value: object) -> str:
    """The name of a class or category: whole numbers without a decimal point, whatever their type.

    >>> import numpy as np
    >>> label(1.0), label(np.float32(2)), label(True), label("yes")
    ('1', '2', 'True', 'yes')
    """
    import numpy as np

    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]
