"""Tables in plain data: lists of lists or records, columns by name, and what plotting libraries write."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

from jali.audit.scan.pieces import Piece, array_pieces, single, table

LONG = 3  # values from which on a list of names and values is one person's row


def normal(name: Any) -> str:
    """A column's name as it is compared.

    >>> normal(" Marital-Status ")
    'marital status'
    """
    return " ".join(str(name).lower().replace("-", " ").replace("_", " ").split())


def from_dict(value: dict[Any, Any], where: str, library: str, names: frozenset[str]) -> list[Piece]:
    """The tables that a dictionary is: columns by name, one record, split data, a typed array, or shap's force plot."""
    found: list[Piece | None] = []
    if "bdata" in value and "dtype" in value:
        found += _typed(value, where, library)
    elif isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        rows = [row for row in value["data"] if isinstance(row, list)]
        if rows and all(len(row) == len(value["columns"]) for row in rows):
            found.append(table(where, list(zip(*rows, strict=True)), value["columns"], library, 1))
    elif isinstance(value.get("features"), dict):
        found.append(_force(value["features"], value.get("featureNames"), where, library))
    elif value and all(single(v) for v in value.values()):
        if len({normal(k) for k in value} & names) >= min(LONG, len(names)):
            found.append(table(where, [[v] for v in value.values()], list(value), library))
    elif value and all(isinstance(v, dict) for v in value.values()):
        found.append(_nested(value, where, library, names))
    if "bdata" not in value:
        found += _columns(value, where, library)
    return [piece for piece in found if piece is not None]


def _columns(value: dict[Any, Any], where: str, library: str) -> list[Piece | None]:
    """Columns by name among the entries of a dictionary: lists of one length, at least two of them."""
    lists = {k: typed(v) if isinstance(v, dict) else v for k, v in value.items()}
    plain = {k: v for k, v in lists.items() if _flat(v)}
    lengths = sorted({len(v) for v in plain.values()})
    groups = [{k: v for k, v in plain.items() if len(v) == length} for length in lengths]
    return [table(where, list(group.values()), list(group), library) for group in groups if len(group) > 1]


def from_list(items: list[Any], where: str, library: str, names: frozenset[str]) -> list[Piece]:
    """The tables that a list is: rows of one length, records, or names with values."""
    if not items:
        return []
    first = items[0]
    found: Piece | None = None
    if isinstance(first, dict):
        if all(isinstance(v, dict) and v.keys() == first.keys() for v in items):
            found = table(where, [[v[k] for v in items] for k in first], list(first), library)
    elif _flat(first):
        flat = [list(v) for v in items if _flat(v) and len(v) == len(first)]
        if len(flat) == len(items):
            found = _long(flat, where, library, names) or table(where, list(zip(*flat, strict=True)), None, library)
    return [] if found is None else [found]


def _flat(value: Any) -> bool:
    """Whether a value is a list of single values; a nested one is never flattened, since it may unfold without end."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and len(value) > 0
    return isinstance(value, list | tuple) and len(value) > 0 and all(single(v) for v in value)


def _long(rows: list[Any], where: str, library: str, names: frozenset[str]) -> Piece | None:
    """One person's row that is written as a list of names and values, as LIME does."""
    if len(rows[0]) < 2 or len(rows) < LONG or not all(isinstance(row[0], str) for row in rows):
        return None
    named = {normal(row[0]): row[1] for row in rows if single(row[1])}
    if len(set(named) & names) < max(LONG, len(rows) // 2):
        return None
    return table(where, [[v] for v in named.values()], list(named), library)


def _nested(value: dict[Any, Any], where: str, library: str, names: frozenset[str]) -> Piece | None:
    """A table as a dictionary of dictionaries: columns outside and rows inside, or the other way round."""
    first = next(iter(value.values()))
    if not first or not all(v.keys() == first.keys() for v in value.values()):
        return None
    if {normal(k) for k in first} & names and not {normal(k) for k in value} & names:
        return table(where, [[row[k] for row in value.values()] for k in first], list(first), library)
    return table(where, [list(column.values()) for column in value.values()], list(value), library)


def _force(features: dict[Any, Any], names: Any, where: str, library: str) -> Piece | None:
    """One person in shap's force plot: a value for each feature."""
    shown = {k: v["value"] for k, v in features.items() if isinstance(v, dict) and single(v.get("value"))}
    if len(shown) < 2:
        return None
    labels = [_label(k, names) for k in shown]
    return table(where, [[v] for v in shown.values()], labels, library or "shap")


def _label(key: Any, names: Any) -> str:
    try:
        return str(names[int(key)])
    except (TypeError, ValueError, IndexError, KeyError):
        return str(key)


def _typed(value: dict[str, Any], where: str, library: str) -> list[Piece]:
    """A table as plotly writes it."""
    array = typed(value)
    return [] if array is None or array.ndim < 2 else array_pieces(where, array, library)


def typed(value: dict[str, Any]) -> Any:
    """An array as plotly writes it: its type, its bytes as text, and its shape; None where it is none.

    >>> typed({"dtype": "i1", "bdata": "AQID"}), typed({"a": 1})
    (array([1, 2, 3], dtype=int8), None)
    """
    kinds = {"f8", "f4", "i4", "i2", "i1", "u4", "u2", "u1", "i8", "u8"}
    if value.get("dtype") not in kinds or not isinstance(value.get("bdata"), str):
        return None
    try:
        flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=f"<{value['dtype']}")
        shape = [int(n) for n in str(value.get("shape", len(flat))).split(",")]
        return flat.reshape(shape) if math.prod(shape) == len(flat) else None
    except (ValueError, binascii.Error):
        return None
