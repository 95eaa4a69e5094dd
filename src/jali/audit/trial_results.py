"""Results of trials in the store: workers write them under a key, and only the news that they are there comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from jali.audit.evidence import read_only
from jali.audit.trials import ByMetric
from jali.core.guesses import Guesses
from jali.results import Row
from jali.store import Arrays, Store

Found = tuple[list[Row], ByMetric | None]
ROWS = TypeAdapter(list[Row])
LAYOUT = TypeAdapter(dict[str, dict[str, dict[str, str]]])
KINDS = ("score", "baseline", "forced")
TEXTS = ("rows", "layout")


@dataclass(frozen=True)
class Drawer:
    """Where the result of one trial is kept."""

    store: Store
    key: str

    def load(self) -> Found | None:
        """The result; None where there is none, or it is damaged."""
        arrays = self.store.load(self.key)
        try:
            return None if arrays is None else unpacked(arrays)
        except (ValidationError, ValueError, KeyError):
            return None

    def fill(self, make: Callable[[], Found]) -> None:
        """Make the result and keep it, unless it is there already."""
        if self.load() is None:
            self.store.save(self.key, packed(*make()))


def packed(rows: list[Row], found: ByMetric | None) -> Arrays:
    """Rows and guesses as plain arrays; what guesses share is there once."""
    arrays: Arrays = {"rows": _text(ROWS.dump_json(rows))}
    if found is None:
        return arrays
    names: dict[int, str] = {}
    layout: dict[str, dict[str, dict[str, str]]] = {}
    for kind in KINDS:
        for metric, guesses in getattr(found, kind).items():
            of_metric = layout.setdefault(kind, {}).setdefault(metric, {})
            for field in fields(Guesses):
                array = getattr(guesses, field.name)
                if id(array) not in names:
                    names[id(array)] = f"a{len(names)}"
                    arrays[names[id(array)]] = _small(array)
                of_metric[field.name] = names[id(array)]
    arrays["layout"] = _text(LAYOUT.dump_json(layout))
    return arrays | {f"used {metric}": used for metric, used in found.used.items()}


def unpacked(arrays: Arrays) -> Found:
    """Rows and guesses from plain arrays; metrics that shared their guesses share them again."""
    arrays = {
        name: array.astype(np.int64) if array.dtype.kind == "u" and name not in TEXTS else array
        for name, array in arrays.items()
    }
    read_only(*arrays.values())  # so that guesses hold them as they are
    rows = ROWS.validate_json(arrays["rows"].tobytes())
    if "layout" not in arrays:
        return rows, None
    layout = LAYOUT.validate_json(arrays["layout"].tobytes())
    made: dict[tuple[str, ...], Guesses] = {}
    kinds: dict[str, dict[str, Guesses]] = {kind: {} for kind in KINDS}
    for kind, metrics in layout.items():
        for metric, named in metrics.items():
            key = tuple(named.values())
            if key not in made:
                made[key] = Guesses(**{field: arrays[name] for field, name in named.items()})
            kinds[kind][metric] = made[key]
    used = {name.removeprefix("used "): array for name, array in arrays.items() if name.startswith("used ")}
    return rows, ByMetric(kinds["score"], kinds["baseline"], kinds["forced"], used)


def _small(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array as it is kept: whole numbers in as few bytes as hold them, weights that are all 1 not at all.

    >>> _small(np.array([3, 400])).dtype, _small(np.broadcast_to(1.0, (5,))).shape
    (dtype('uint16'), (0,))
    """
    if array.dtype.kind == "f" and array.strides == (0,) and (array[:1] == 1.0).all():
        return np.empty(0)
    if array.dtype.kind != "i" or not len(array) or array.min() < 0:
        return array
    return array.astype(np.min_scalar_type(int(array.max())))


def _text(content: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)
