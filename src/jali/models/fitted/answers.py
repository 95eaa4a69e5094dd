"""What a user's model answers, as probabilities (n, K) of its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Floats
from jali.data.tables.schema_files import label

TRUTH = {"0": "False", "1": "True"}
SUM = 0.01  # how far probabilities of float32 or of rounded JSON may add up to something else than one


def probabilities(name: str, answer: Any, classes: Sequence[Any], rows: int) -> Floats:
    """The answer of a model for so many rows, as probabilities (n, K) in the order of its classes.

    It may be an array, a tensor, a list or a table; one column is the probability of the second of two classes; a table
    or mappings may name the classes; labels become probabilities of 0 and 1.

    >>> probabilities("mine", [0.25, 1.0], ["no", "yes"], 2).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    >>> probabilities("mine", [{"yes": 0.9, "no": 0.1}], ["no", "yes"], 1).tolist()
    [[0.1, 0.9]]
    >>> probabilities("mine", ["yes"], ["no", "yes"], 1).tolist()
    [[0.0, 1.0]]
    """
    found = _array(name, answer, classes)
    if len(found) != rows:
        raise JaliError(f"{name} gave {len(found)} answers for {rows} rows: it must give one for each row.")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim == 1:
        found = _one_column(name, found, classes)
    if found.shape != (rows, len(classes)):
        raise JaliError(
            f"{name} gave an array of shape {found.shape} for {rows} rows: expected probabilities of shape "
            f"({rows}, {len(classes)}), one column for each of the classes {_listed(classes)}."
        )
    return checked(name, found)


def checked(name: str, found: Floats) -> Floats:
    """Probabilities (n, K); raises where they are missing, negative, or do not add up to one."""
    gaps = int((~np.isfinite(found)).any(axis=1).sum())
    if gaps:
        raise JaliError(f"{name} gave NaN or infinity for {gaps} of {len(found)} rows: does it read missing values?")
    off = (found < 0).any(axis=1) | (np.abs(found.sum(axis=1) - 1) > SUM)
    if off.any():
        raise JaliError(
            f"{name} must give probabilities that add up to one in each row, but gave numbers from {found.min():.3g} "
            f"to {found.max():.3g}: return predict_proba(X), or the softmax of your scores."
        )
    return found


def _array(name: str, answer: Any, classes: Sequence[Any]) -> npt.NDArray[Any]:
    """The answer as an array, with columns in the order of the classes where it names them."""
    names = [label(c) for c in classes]
    if hasattr(answer, "columns"):
        given = [label(c) for c in answer.columns]
        cells: npt.NDArray[Any] = answer.to_numpy()
        return cells[:, [given.index(n) for n in names]] if set(given) == set(names) else cells
    if isinstance(answer, Mapping):
        return _by_class(name, answer, names)
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    if isinstance(answer, list | tuple) and answer and isinstance(answer[0], Mapping):
        return _by_name(name, answer, names)
    try:
        found = np.asarray(answer)
    except ValueError:
        raise JaliError(f"{name} gave rows of different lengths: expected {len(classes)} numbers for each.") from None
    if not found.ndim:
        kind = "nothing" if answer is None else f"one {type(answer).__name__}"
        raise JaliError(
            f"{name} gave {kind}: expected an array or list with a probability for each row and each of the classes "
            f"{_listed(classes)}, as predict_proba(X) returns it."
        )
    return found


def _by_class(name: str, answer: Mapping[Any, Any], names: Sequence[str]) -> Floats:
    """A mapping from class to the probabilities (n,) of all rows as an array (n, K)."""
    given = {label(key): value for key, value in answer.items()}
    if set(given) != set(names):
        raise JaliError(
            f"{name} gave a mapping with the keys {_listed(list(given))}: expected the classes {_listed(names)}, each "
            "with a probability for each row."
        )
    return np.column_stack([np.asarray(given[n], dtype=np.float64) for n in names])


def _by_name(name: str, answer: Sequence[Mapping[Any, Any]], names: Sequence[str]) -> Floats:
    """Mappings from class to probability as an array (n, K)."""
    found = [{label(key): value for key, value in row.items()} for row in answer]
    if set(names) == set(TRUTH.values()) and set(found[0]) == set(TRUTH):  # ONNX has no other names for truth values
        found = [{TRUTH[key]: value for key, value in row.items()} for row in found]
    if unknown := [n for n in names if n not in found[0]]:
        raise JaliError(
            f"{name} names the classes {_listed(list(found[0]))}, and {unknown[0]!r} of the data is not among them."
        )
    return np.array([[row.get(n, 0.0) for n in names] for row in found], dtype=np.float64)


def _one_column(name: str, found: npt.NDArray[Any], classes: Sequence[Any]) -> Floats:
    """One number or label for each row (n,) as probabilities (n, K)."""
    numbers = found.dtype.kind in "fiub" and len(classes) == 2
    if numbers and ((found >= 0) & (found <= 1)).all():
        second = found.astype(np.float64)
        return np.column_stack([1 - second, second])
    names = [label(c) for c in classes]
    given = [label(v) for v in found.tolist()]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise JaliError(
            f"{name} gave one value for each row, such as {unknown[0]!r}: expected probabilities of the classes "
            f"{_listed(classes)}, or of the second one of two."
        )
    return np.eye(len(classes))[[names.index(g) for g in given]]


def _listed(classes: Sequence[Any]) -> str:
    shown = ", ".join(label(c) for c in list(classes)[:5])
    return f"{shown} and {len(classes) - 5} more" if len(classes) > 5 else shown
