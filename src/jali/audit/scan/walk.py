"""Tables and counts inside objects: attributes, dictionaries, lists, closures, and what a pickle would have made.

Only what an object stores is read: no property and no method of it runs.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jali.audit.scan import records
from jali.audit.scan.counts import counts_named
from jali.audit.scan.pickle_machine import Made, Name
from jali.audit.scan.pickle_values import array_of, scalar_of, table_of
from jali.audit.scan.pieces import Counts, Piece, array_pieces, single, table

DEEP = 40
NODES = 2_000_000  # objects that are looked at
LEAVES = (str, bytes, bytearray, int, float, complex, type(None), type, types.ModuleType, Name)
Found = Piece | Counts


@dataclass
class Walk:
    """A search through an object; names: the training table's columns, which tell records from other dictionaries.

    stopped: whether it ended before everything was seen.
    """

    names: frozenset[str] = frozenset()
    seen: set[int] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)  # objects made on the way, so that their identity stays theirs
    stopped: bool = False

    def through(self, thing: Any, where: str, library: str = "") -> Iterator[Found]:
        """Everything that is found in an object, from the outside in."""
        todo = [(thing, where, library, 0)]
        while todo:
            value, path, owner, depth = todo.pop()
            if isinstance(value, LEAVES) or id(value) in self.seen:
                continue
            if depth > DEEP or len(self.seen) > NODES:
                self.stopped = True
                continue
            self.seen.add(id(value))
            self.kept.append(value)
            owner = _library(value) or owner
            found, children = self._look(value, path, owner)
            yield from found
            todo.extend((child, where, owner, depth + 1) for child, where in reversed(children))

    def _look(self, value: Any, path: str, owner: str) -> tuple[list[Found], list[tuple[Any, str]]]:
        """What one object holds itself, and the objects to look at next with their paths."""
        if isinstance(value, np.ndarray) and value.dtype.names:
            named = {name: np.ravel(value[name]) for name in value.dtype.names if value[name].ndim == value.ndim}
            made = table(path, list(named.values()), list(named), owner, 1)
            return [] if made is None else [made], []
        if isinstance(value, np.ndarray):
            return _array(value, path, owner), _inside(value, path)
        if isinstance(value, Made):
            return _made(value, path, owner)
        if _is_table(value):
            made = table(path, [_plain(value[c]) for c in value.columns], [str(c) for c in value.columns], owner, 1)
            return [] if made is None else [made], []
        if (numbers := _numbers(value)) is not None:
            return _array(numbers, path, owner), []
        if isinstance(value, dict):
            found = records.from_dict(value, path, owner, self.names)
            whole = bool(found) and ("features" in value or {"columns", "data"} <= value.keys())
            return list(found), [] if whole else [(v, _key(path, k)) for k, v in value.items()]
        if isinstance(value, list | tuple | set | frozenset):
            items = list(value)
            found = records.from_list(items, path, owner, self.names)
            counted = counts_named(path, items, owner)
            # A table that was read whole is not searched again row by row.
            rest = [] if found or all(single(v) for v in items[:50]) else items
            return [*found, *counted], [(v, f"{path}[]") for v in rest]
        return [], _stored(value, path)


def _array(value: Any, path: str, owner: str) -> list[Found]:
    """An array as a table, as one row, or as counts."""
    if value.ndim == 1 and value.dtype.kind in "biuf" and len(value) >= 3:
        row = table(path, [[v] for v in value.tolist()], None, owner) if len(value) <= 2000 else None
        return [*([row] if row else []), *counts_named(path, value, owner)]
    return [*array_pieces(path, value, owner), *counts_named(path, value, owner)]


def _inside(value: Any, path: str) -> list[tuple[Any, str]]:
    """The objects in an array of objects."""
    if value.dtype != object or value.size > 100_000:
        return []
    return [(v, f"{path}[]") for v in value.ravel().tolist() if not single(v)]


def _made(value: Made, path: str, owner: str) -> tuple[list[Found], list[tuple[Any, str]]]:
    """What a pickle would have made: an array, a table, or an object with a state."""
    columns = table_of(value)
    if columns is not None:
        made = table(path, [_listed(c) for c in columns.values()], list(columns), owner, 1)
        return [] if made is None else [made], []
    array = array_of(value)
    if array is not None:
        return _array(array, path, owner), _inside(array, path)
    if scalar_of(value) is not None:
        return [], []
    state = value.state
    parts = list(state) if isinstance(state, tuple) else [state]
    children: list[tuple[Any, str]] = []
    for part in parts:
        children += [(v, _key(path, k)) for k, v in part.items()] if isinstance(part, dict) else [(part, path)]
    return [], [*children, *((v, path) for v in (*value.args, *value.items))]


def _listed(values: Any) -> Any:
    """A column of a pickled table; objects in it become single values where they are."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return [scalar_of(v) if isinstance(v, Made) else v for v in values.tolist()]
    return values


def _stored(value: Any, path: str) -> list[tuple[Any, str]]:
    """What an object stores: its dictionary, slots, a function's closure and defaults, the object of a method."""
    out: list[tuple[Any, str]] = []
    if isinstance(value, functools.partial):
        out += [(value.func, path), (value.args, f"{path}.args"), (value.keywords, f"{path}.keywords")]
    if isinstance(value, types.MethodType):
        out += [(value.__self__, f"{path}.__self__"), (value.__func__, path)]
    if isinstance(value, types.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
        out += [(_content(cell), f"{path}.{name}") for name, cell in cells]
        out += [(value.__defaults__, f"{path}.defaults")]
    kept = _dictionary(value)
    out += [(v, f"{path}.{k}") for k, v in kept.items()]
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            member = kind.__dict__.get(name)
            if isinstance(member, types.MemberDescriptorType) and name != "__dict__":
                out.append((_slot(member, value), f"{path}.{name}"))
    return out


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _slot(member: Any, value: Any) -> Any:
    try:
        return member.__get__(value)
    except AttributeError:
        return None


def _dictionary(value: Any) -> dict[str, Any]:
    """The attributes that an object stores, without asking its class."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return dict(found) if isinstance(found, dict) else {}


def _is_table(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "DataFrame"


def _plain(column: Any) -> Any:
    """A column of a pandas table as numbers or texts."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(np.float64, na_value=np.nan)
    return [None if v != v else (v if isinstance(v, int | float | str | bool) else str(v)) for v in column.tolist()]


def _numbers(value: Any) -> Any:
    """The array in a tensor, a sparse matrix, a Series or a tree of neighbours; None for anything else."""
    root = type(value).__module__.partition(".")[0]
    name = type(value).__name__
    if root == "torch" and name in ("Tensor", "Parameter"):
        return value.detach().cpu().numpy()
    if root == "scipy" and name.endswith(("_matrix", "_array")) and np.prod(value.shape) <= 1e8:
        return value.toarray()
    if root == "pandas" and name == "Series":
        return value.to_numpy()
    if root == "sklearn" and name in ("KDTree", "BallTree", "KDTree64", "BallTree64", "KDTree32", "BallTree32"):
        return np.asarray(value.data)
    if root == "scipy" and name in ("KDTree", "cKDTree"):
        return np.asarray(value.data)
    return None


def _key(path: str, key: Any) -> str:
    """The path of an entry of a dictionary; keys that are numbers or long texts may be people's values."""
    if isinstance(key, str) and len(key) <= 40 and key.isprintable() and any(c.isalpha() for c in key):
        return f"{path}.{key}"
    return f"{path}[]"


def _library(value: Any) -> str:
    """The library of an object, where it is one that explains or predicts."""
    named = value.name if isinstance(value, Made) else f"{type(value).__module__}.{type(value).__name__}"
    root = named.partition(".")[0]
    return root if root not in ("", "builtins", "numpy", "pandas", "collections", "functools", "scipy") else ""
