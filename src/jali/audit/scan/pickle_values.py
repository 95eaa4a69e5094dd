"""Arrays and tables from what a pickle would have made: numpy arrays, pandas tables, and nothing else."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.audit.scan.pickle_machine import Made, Name

PLAIN = re.compile(r"[<>=|]?[biufSU]\d{1,9}")  # types of arrays that hold plain values
RECONSTRUCTED = ("numpy._core.multiarray._reconstruct", "numpy.core.multiarray._reconstruct")
FROM_BUFFER = ("numpy._core.numeric._frombuffer", "numpy.core.numeric._frombuffer")
SCALARS = ("numpy._core.multiarray.scalar", "numpy.core.multiarray.scalar")
TABLES = ("pandas.core.frame.DataFrame", "pandas.DataFrame")
BLOCKS = ("pandas._libs.internals._unpickle_block",)
Table = dict[str, Any]  # columns by name


def bytes_of(value: Any) -> bytes | None:
    """Bytes as they are, or as old pickles write them: a text and its encoding."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if not isinstance(value, Made) or not value.args:
        return None
    if value.name == "_codecs.encode" and isinstance(value.args[0], str):
        return value.args[0].encode("latin1", "replace")
    if value.name.endswith(".bytearray"):
        text = value.args[0]
        return text.encode("latin1", "replace") if isinstance(text, str) else bytes_of(text)
    return bytes_of(value.args[0]) if value.name.endswith("pyarrow.lib.py_buffer") else None


def dtype_of(value: Any) -> np.dtype[Any] | None:
    """The type of an array, where it is a plain one or that of objects."""
    if not isinstance(value, Made) or value.name != "numpy.dtype" or not value.args:
        return None
    text = str(value.args[0])
    if text.lstrip("|") in ("O8", "O"):
        return np.dtype(object)
    if not PLAIN.fullmatch(text):
        return None
    order = value.state[1] if isinstance(value.state, tuple) and len(value.state) > 1 else "="
    kind = np.dtype(text)
    return kind.newbyteorder(">" if order == ">" else "<") if order in ("<", ">") else kind


def width_of(value: Any) -> int | None:
    """How many bytes a value of an array's type takes; None where that is not said."""
    if not isinstance(value, Made) or value.name != "numpy.dtype" or not value.args:
        return None
    parts = re.fullmatch(r"[<>=|]?([A-Za-z])(\d{1,9})", str(value.args[0]))
    if parts is None:
        return None
    return int(parts[2]) * (4 if parts[1] == "U" else 1)


def array_of(made: Made) -> npt.NDArray[Any] | None:
    """The array that a pickle describes; None where it is none, or where its parts do not fit each other."""
    if made.value is not None:
        return made.value if isinstance(made.value, np.ndarray) else None
    state = made.state
    found: npt.NDArray[Any] | None = None
    if made.name in RECONSTRUCTED and isinstance(state, tuple) and len(state) >= 5:
        found = _filled(state[4], dtype_of(state[2]), state[1], "F" if state[3] else "C")
    elif made.name in FROM_BUFFER and len(made.args) >= 4:
        found = _filled(made.args[0], dtype_of(made.args[1]), made.args[2], str(made.args[3]))
    made.value = found
    return found


def scalar_of(made: Made) -> Any:
    """The single number or text that a pickle describes; None where it is none."""
    if made.name not in SCALARS or len(made.args) < 2:
        return None
    found = _filled(made.args[1], dtype_of(made.args[0]), (), "C")
    return None if found is None else found.item()


def table_of(made: Made) -> Table | None:
    """The columns of a pandas table that a pickle describes; None where it is none or cannot be read."""
    if made.name not in TABLES or not isinstance(made.state, dict):
        return None
    manager = made.state.get("_mgr", made.state.get("_data"))
    if not isinstance(manager, Made):
        return None
    try:
        blocks, axes = _parts(manager)
        names = _texts(axes[0])
        columns: Table = {}
        for values, place in blocks:
            for name, column in zip(names[_placed(place)], _rows(values), strict=False):
                columns[str(name)] = column
        return {name: columns[name] for name in map(str, names) if name in columns} or None
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return None


def _filled(raw: Any, kind: np.dtype[Any] | None, shape: Any, order: str) -> npt.NDArray[Any] | None:
    """An array from its bytes or its objects; the declared shape must fit what is there."""
    if kind is None or not isinstance(shape, tuple) or not all(isinstance(n, int) and n >= 0 for n in shape):
        return None
    if len(shape) > 32:
        return None
    size = math.prod(shape)
    if kind.hasobject:
        if not isinstance(raw, list) or len(raw) != size:
            return None
        objects = np.empty(size, dtype=object)
        objects[:] = [scalar_of(v) if isinstance(v, Made) and v.name in SCALARS else v for v in raw]
        return objects.reshape(shape, order="F" if order == "F" else "C")
    data = bytes_of(raw)
    if data is None or len(data) != size * kind.itemsize:
        return None
    return np.frombuffer(data, dtype=kind).reshape(shape, order="F" if order == "F" else "C")


def _parts(manager: Made) -> tuple[list[tuple[Any, Any]], Any]:
    """The blocks of a table as values and places, and its axes; tables of pandas 1 keep them in their state."""
    if manager.args and len(manager.args) >= 2 and isinstance(manager.args[0], tuple):
        blocks = [block.args for block in manager.args[0] if block.name in BLOCKS]
        return [(args[0], args[1]) for args in blocks], manager.args[1]
    kept = manager.state[3]["0.14.1"]
    return [(block["values"], block["mgr_locs"]) for block in kept["blocks"]], kept["axes"]


def _placed(place: Any) -> Any:
    """Which columns a block holds."""
    if isinstance(place, Made) and place.name.endswith(".slice"):
        return slice(*(part for part in place.args if part is None or isinstance(part, int)))
    return array_of(place) if isinstance(place, Made) else place


def _rows(values: Any) -> list[Any]:
    """The columns in a block: rows of a plain array, or one column of texts or categories."""
    if isinstance(values, Made):
        found = array_of(values)
        if found is not None and found.ndim == 2:
            return list(found)
        return [_texts(values)]
    return []


def _texts(made: Any) -> npt.NDArray[Any]:
    """An index, an array of texts or a categorical as an array."""
    if not isinstance(made, Made):
        raise ValueError("no array")
    found = array_of(made)
    if found is not None:
        return found
    if made.name.endswith("._new_Index"):
        return _index(made.args[1])
    if made.name.endswith("__pyx_unpickle_NDArrayBacked"):
        return _categories(made)
    if made.name.endswith("StringArray") and isinstance(made.state, dict):
        return _arrow(made.state["_pa_array"]) if "_pa_array" in made.state else _texts(made.state["_ndarray"])
    raise ValueError("no array")


def _index(kept: Any) -> npt.NDArray[Any]:
    """The labels of an index."""
    if "data" in kept:
        return _texts(kept["data"])
    return np.arange(kept["start"], min(kept["stop"], kept["start"] + 10_000_000), kept["step"])


def _categories(made: Made) -> npt.NDArray[Any]:
    """A categorical as texts: its codes, and the categories in its type."""
    arrays = [v for v in _flat(made.state) if isinstance(v, Made) and array_of(v) is not None]
    codes = array_of(arrays[0])
    kinds = [v for v in _flat(made.state) if isinstance(v, Made) and v.name.endswith("CategoricalDtype")]
    if codes is None:
        raise ValueError("no codes")
    if not kinds:
        return codes
    kept = kinds[0].state if isinstance(kinds[0].state, dict) else {"categories": kinds[0].args[0]}
    names = _texts(kept["categories"])
    return np.asarray(np.append(names.astype(str), "")[codes])


def _flat(value: Any) -> list[Any]:
    """The values of a tuple, list or dictionary, one level deep."""
    if isinstance(value, dict):
        return list(value.values())
    return [v for part in value for v in (part if isinstance(part, tuple | list) else [part])]


def _arrow(made: Made) -> npt.NDArray[Any]:
    """Texts as Arrow keeps them: where each begins, and all of them in one piece."""
    if made.name.endswith("chunked_array"):
        return np.concatenate([_arrow(chunk) for chunk in made.args[0]])
    kind, length, _, first, buffers, *_ = made.args[0]
    large = isinstance(kind, Made) and "large" in str(kind.args[0])
    places = bytes_of(buffers[1])
    letters = bytes_of(buffers[2]) if len(buffers) > 2 else b""
    if places is None or not isinstance(length, int) or length > len(places):
        raise ValueError("no texts")
    ends = np.frombuffer(places, dtype=np.int64 if large else np.int32)[first : first + length + 1]
    text = letters or b""
    return np.array([text[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)], dtype=str)


def roots(names: set[str]) -> list[str]:
    """The packages that a pickle names, but those whose arrays are read."""
    return sorted(
        {name.partition(".")[0] for name in names} - {"numpy", "pandas", "pyarrow", "builtins", "__builtin__"}
    )


def is_name(value: Any) -> bool:
    """Whether a value is a global that was named and not looked up."""
    return isinstance(value, Name)
