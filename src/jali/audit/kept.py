"""Results that are not arrays, kept in the store by content key as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from jali.store import Store

Result = TypeVar("Result")
RESULTS = "results"


def kept(store: Store | None, key: Callable[[], str], form: Any, make: Callable[[], Result]) -> Result:
    """The kept result of a key; where there is none, or it cannot be read, it is made and kept.

    form: its type, a dataclass or a model of pydantic. Without a store, not even the key is computed.
    """
    if store is None:
        return make()
    name = key()
    adapter = TypeAdapter(form)
    arrays = store.load(name) or {}
    if RESULTS in arrays:
        try:
            found: Result = adapter.validate_json(arrays[RESULTS].astype(np.uint8).tobytes())
            return found
        except (ValidationError, ValueError):
            pass
    made = make()
    store.save(name, {RESULTS: np.frombuffer(adapter.dump_json(made), dtype=np.uint8)})
    return made
