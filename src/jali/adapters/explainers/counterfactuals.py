"""Answers of explainers, whatever their library, as counterfactual rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.adapters.explainers.answers import plain
from jali.adapters.explainers.has import has
from jali.adapters.explainers.rows import read
from jali.adapters.explainers.user_view import Tile
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Schema


def counterfactuals(answer: Any, tile: Tile) -> tuple[Floats, Bools, int]:
    """Raw rows (n, D), which (n,) were found, and how many answers held values that the table does not have.

    Where several are given for one record, the nearest in encoded features is taken. A record without one keeps its
    own row.
    """
    given = _each(plain(answer), tile)
    rows = np.array(tile.X)
    found = np.zeros(len(tile), dtype=bool)
    illegal = 0
    for i, some in enumerate(given):
        if some is None or not len(some):
            continue
        X, legal = _legal(some, tile.view.schema, tile.X[i])
        if legal.any():
            rows[i] = _nearest(X[legal], tile.X[i], tile.view.schema)
            found[i] = True
        else:
            illegal += not _empty(some)
    return rows, found, illegal


def _each(answer: Any, tile: Tile) -> list[Any]:
    """For each row a table or array of the counterfactuals given for it, or None."""
    count = len(tile)
    if answer is None:
        return [None] * count
    if has(answer, "cf_examples_list"):  # DiCE
        return _counted([_of_dice(one) for one in answer.cf_examples_list], count)
    if has(answer, "data") and isinstance(answer.data, dict):  # alibi, one row
        found = answer.data.get("cf")
        return _counted([None if found is None else np.atleast_2d(plain(found["X"]))], count)
    if has(answer, "columns", "iloc"):
        return _counted([answer.iloc[i : i + 1] for i in range(len(answer))], count)
    if isinstance(answer, list | tuple):
        some = [plain(one) for one in answer]
        if count == 1 and len(some) != 1 and all(np.ndim(one) == 0 for one in some):
            return [np.array([some], dtype=object)]
        return [row for i, one in enumerate(_counted(some, count)) for row in _one(one, tile, i)]
    array = np.asarray(answer)
    if array.ndim == 1 and count == 1:
        array = array[None]
    if array.ndim == 2:
        array = array[:, None, :]
    if array.ndim != 3:
        raise JaliError(f"A counterfactual for each of {count} rows was expected, not an array of shape {array.shape}.")
    return _counted(list(array), count)


def _one(answer: Any, tile: Tile, i: int) -> list[Any]:
    """The counterfactuals of one row, from whatever was given for it."""
    if answer is not None and np.ndim(answer) == 1 and not has(answer, "cf_examples_list"):
        return [np.asarray(answer, dtype=object)[None]]
    if isinstance(answer, dict):
        return [np.array([[answer.get(c.name) for c in tile.view.schema.columns]], dtype=object)]
    if has(answer, "columns", "iloc") or isinstance(answer, np.ndarray):
        return [answer]
    return _each(answer, tile.pick(np.array([i])))


def _counted(given: list[Any], count: int) -> list[Any]:
    if len(given) != count:
        raise JaliError(
            f"{count} rows were explained, and {len(given)} counterfactuals came back: return one for each row asked, "
            "in the same order, and a row of NaN, or None in a list, where there is none."
        )
    return given


def _of_dice(example: Any) -> Any:
    """The examples that DiCE shows for one row: the sparse ones where it made them."""
    sparse = example.final_cfs_df_sparse if has(example, "final_cfs_df_sparse") else None
    return example.final_cfs_df if sparse is None else sparse


def _legal(some: Any, schema: Schema, record: Floats) -> tuple[Floats, Bools]:
    """Raw rows (k, D) and which of them (k,) are legal; a number may be missing where that of the record is."""
    X, legal = read(some, schema)
    absent = np.isnan(record)
    return X, legal | (np.isnan(X) == absent).all(axis=1) if absent.any() else legal


def _nearest(rows: Floats, record: Floats, schema: Schema) -> Floats:
    """The one of rows (k, D) that is nearest to a record (D,) in encoded features."""
    if len(rows) == 1:
        return np.asarray(rows[0])
    encode = Encoding(schema).encode
    return np.asarray(rows[np.linalg.norm(encode(rows) - encode(record[None]), axis=1).argmin()])


def _empty(some: Any) -> bool:
    """Whether all cells of some rows are missing: the usual sign that nothing was found."""
    array = some.to_numpy(dtype=object) if has(some, "to_numpy") else np.asarray(some, dtype=object)
    return all(value is None or value != value for value in array.ravel())


def origins(rows: Floats, found: Bools, known: dict[bytes, int]) -> Any:
    """The training row (n,) that each counterfactual equals in every column, -1 for none."""
    out = np.full(len(rows), -1)
    for i in np.flatnonzero(found):
        out[i] = known.get((rows[i] + 0.0).tobytes(), -1)
    return out


def by_content(X: Floats) -> dict[bytes, int]:
    """The position of each row (N, D) by its content; of equal rows the first."""
    out: dict[bytes, int] = {}
    for i, row in enumerate(X + 0.0):
        out.setdefault(row.tobytes(), i)
    return out
