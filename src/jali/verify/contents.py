"""The numbers in any value that a release returns, and the rest of it in words: its shape, type, keys and texts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from types import MemberDescriptorType
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.values import Floats

EXACT = 2**53  # whole numbers up to this one are exact as floats
HALF = 2**24 - 1
NUMBERS = "numbers of shape"
NO_NUMBERS = "which is not made of numbers"
DEEPEST = 8  # levels of lists in lists that are opened; what lies deeper is read as text
MOST_ITEMS = 100_000  # items that are taken from an iterator, which may have no end
LONGEST = 2000  # characters of a text that are kept; the others are known by a checksum
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object in memory
WRITTEN = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")  # a number in a text


def numbers_in(value: Any) -> tuple[Floats, str]:
    """The numbers (k,) in a value, and its kind: everything about it that is not one of them.

    >>> numbers_in(np.ones((1, 2)))
    (array([1., 1.]), 'numbers of shape (1, 2)')
    >>> numbers_in({"mean": 2, "notes": ["few"]})
    (array([2.]), "it returned dict: {'mean': number of type int, 'notes': [text 'few']}")
    >>> numbers_in("about 2.50 years")
    (array([16. ,  2.5]), 'it returned str: about # years')
    >>> numbers_in("yes")
    (array([], dtype=float64), 'it returned str, which is not made of numbers: yes')
    """
    plain = None if _labelled(value) else _array(value)
    if plain is not None:
        return plain
    found: list[Floats] = []
    words = _read(value, found) if isinstance(value, str | bytes) else _opened(value, found, 0)
    numbers = np.concatenate(found) if found else np.zeros(0)
    if not len(numbers):
        return numbers, f"it returned {type(value).__name__}, {NO_NUMBERS}: {words}"
    return numbers, f"it returned {type(value).__name__}: {words}"


def _array(value: Any) -> tuple[Floats, str] | None:
    """The numbers and the shape of an array of numbers, or of lists that are one; None for any other value."""
    try:
        raw = np.asarray(value)
        if raw.dtype.kind in "SUVmM":
            return None
        typed = "" if raw.dtype == np.float64 or raw.dtype.kind == "O" else f" of type {raw.dtype.name}"
        if raw.dtype.kind == "c":
            raw = np.stack([raw.real, raw.imag])
        if raw.dtype.kind in "iuO" and (exact := _whole(raw)) is not None:
            raw = exact
        numbers = raw.astype(np.float64)
    except Exception:  # whatever another library's array may raise
        return None
    return numbers.ravel(), f"{NUMBERS} {numbers.shape}{typed}"


def _opened(value: Any, found: list[Floats], depth: int) -> str:
    """The words for a value, whose numbers are appended to `found`."""
    if value is None:
        return "None"
    if isinstance(value, str | bytes):
        return f"text {_read(value, found)!r}"
    if isinstance(value, bool | int | float | np.generic) and (plain := _array(value)) is not None:
        found.append(plain[0])
        return f"number of type {type(value).__name__}"
    if isinstance(value, np.ndarray) and not _labelled(value) and (plain := _array(value)) is not None:
        found.append(plain[0])
        return plain[1]
    if isinstance(value, int):  # too large for any float
        return f"number {value:x}"
    inside = _inside(value) if depth < DEEPEST else None
    if inside is None:
        return f"{type(value).__name__} {_read(ADDRESS.sub('', repr(value)), found)}"
    items = [f"{_named(name, found, depth)}{_opened(item, found, depth + 1)}" for name, item in inside]
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}{', '.join(items)}{ends[1]}"


def _named(name: Any, found: list[Floats], depth: int) -> str:
    """The words for the name of an item; a name that is a number, or holds some, is opened like a value."""
    if name is None:
        return ""
    return f"{name!r}: " if isinstance(name, str | bytes) else f"{_opened(name, found, depth + 1)}: "


def _inside(value: Any) -> list[tuple[Any, Any]] | None:
    """What a value holds, each with its name, or None for one without; None if it cannot be opened."""
    if isinstance(value, dict):
        return list(value.items())
    if _labelled(value):
        return _parts(value)
    if isinstance(value, set | frozenset):
        return [(None, item) for item in sorted(value, key=repr)]
    if isinstance(value, np.ndarray):
        return [(None, item) for item in value.tolist()] if value.ndim else None
    if isinstance(value, Iterable):
        return [*((None, item) for item in islice(value, MOST_ITEMS)), *_fields(value)]
    return _fields(value) or None


def _fields(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, in a dictionary or in slots; empty if it has none."""
    slots = {
        name: member
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, MemberDescriptorType) and not name.endswith("__")
    }
    found: list[tuple[str, Any]] = []
    for name, member in slots.items():
        with suppress(AttributeError):  # a slot that was never filled
            found.append((name, member.__get__(value)))
    with suppress(TypeError):  # an object without a dictionary
        found += vars(value).items()
    return found


def _labelled(value: Any) -> bool:
    """Whether a value is an array with more than numbers: a mask, names of fields, or the labels of a pandas table."""
    if isinstance(value, np.ma.MaskedArray):
        return True
    if isinstance(value, np.ndarray | np.void):
        return value.dtype.names is not None
    if not type(value).__module__.startswith("pandas"):
        return False
    from pandas import DataFrame, Series

    return isinstance(value, DataFrame | Series)


def _parts(value: Any) -> list[tuple[Any, Any]]:
    """The numbers of such an array, and what it has beside them."""
    if isinstance(value, np.ma.MaskedArray):
        return [("data", value.data), ("mask", np.ma.getmaskarray(value))]
    if isinstance(value, np.ndarray | np.void):
        return [(name, value[name]) for name in value.dtype.names or ()]
    labels = [(None, list(axis)) for axis in value.axes]
    return [("values", value.to_numpy()), *labels, (str(value.dtypes), None)]


def _read(value: str | bytes, found: list[Floats]) -> str:
    """A text without its numbers; they and the length of the text are appended to `found`, if there are any."""
    words = value if isinstance(value, str) else value.decode(errors="backslashreplace")
    numbers = [float(each) for each in WRITTEN.findall(words)]
    if numbers:
        found.append(np.array([float(len(words)), *numbers]))
    rest = WRITTEN.sub("#", words)
    if len(rest) <= LONGEST:
        return rest
    return f"{rest[:LONGEST]} (checksum {zlib.crc32(rest.encode(errors='backslashreplace')):x})"


def _whole(raw: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Whole numbers that are too large for a float, split into three parts; None if all of them fit."""
    if raw.dtype.kind in "iu" and (raw.size == 0 or np.abs(raw.astype(np.float64)).max() < EXACT):
        return None
    values = [int(v) for v in raw.ravel()]
    if all(abs(v) <= EXACT for v in values):
        return None
    return np.array([[v >> 48, (v >> 24) & HALF, v & HALF] for v in values], dtype=object)
