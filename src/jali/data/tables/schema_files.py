"""Schema files: what is known about a table's columns without looking at its rows."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from jali.core.errors import JaliError
from jali.core.values import Column, Floats, Kind

NUMBERS = ("kind", "low", "high", "centre", "spread")
CATEGORIES = ("kind", "categories")


@dataclass(frozen=True)
class Declared:
    """The declared columns by name, and the classes of the target; everything else is taken from the rows.

    >>> Declared().columns, Declared().classes
    ({}, ())
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    classes: tuple[str, ...] = ()


def given(schema: str | Mapping[str, Any]) -> Declared | None:
    """What a schema file declares, or a mapping of the same form; None where nothing is given.

    >>> given({"columns": {"age": {"kind": "integer", "low": 18, "high": 90}}}).columns["age"].centre
    54.0
    """
    if not schema:
        return None
    return read(Path(schema).expanduser()) if isinstance(schema, str) else _of("The schema", schema)


def read(path: Path) -> Declared:
    """The declarations in a TOML file: `classes`, and for each column a table `columns.NAME`.

    A number or integer has kind, low and high, and both or neither of centre and spread; without these, the bounds are
    encoded as -1 and 1. A category has kind and categories.
    """
    try:
        entry = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise JaliError(f"Cannot read the schema file {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested too deeply
        raise JaliError(f"The schema file {path} is not valid TOML: {error}.") from None
    return _of(f"The schema file {path}", entry)


def check_values(x: Floats, column: Column) -> None:
    """Refuse values (N,) that a declared number does not allow; the error counts them and shows none."""
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
    if unknown := sorted(set(entry) - {"classes", "columns"}):
        raise JaliError(f"{where} may contain classes and columns.NAME, not {unknown[0]!r}.")
    columns = entry.get("columns", {})
    if not isinstance(columns, dict):
        raise JaliError(f"{where}: write one table [columns.NAME] for each column.")
    classes = _texts(where, "classes", entry["classes"]) if "classes" in entry else ()
    return Declared({name: _column(where, name, words) for name, words in columns.items()}, classes)


def _column(origin: str, name: str, entry: Any) -> Column:
    where = f"{origin}, column {name!r}"
    kind: Any = entry.get("kind") if isinstance(entry, dict) else None
    if kind not in get_args(Kind):
        raise JaliError(
            f"{where}: kind must be {', '.join(get_args(Kind)[:-1])} or {get_args(Kind)[-1]}, not {kind!r}."
        )
    known = CATEGORIES if kind == "category" else NUMBERS
    if unknown := sorted(set(entry) - set(known)):
        raise JaliError(f"{where}: a {kind} column has {', '.join(known)}, not {unknown[0]!r}.")
    if kind == "category":
        return Column(name, "category", categories=_texts(where, "categories", entry.get("categories")))
    return _number(where, name, kind, entry)


def _number(where: str, name: str, kind: Kind, entry: Mapping[str, Any]) -> Column:
    for field_name in NUMBERS[1:]:
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
