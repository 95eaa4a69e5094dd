"""Artefacts by content key, in a folder or at a URL: npz files, written atomically, never pickle."""

from jali.store.artefacts import BEGAN, DAY, Entry, Store, remove
from jali.store.files import UNFINISHED, Arrays, atomic, read_arrays, sweep, write_arrays, write_text

__all__ = [
    "BEGAN",
    "DAY",
    "UNFINISHED",
    "Arrays",
    "Entry",
    "Store",
    "atomic",
    "read_arrays",
    "remove",
    "sweep",
    "write_arrays",
    "write_text",
]
