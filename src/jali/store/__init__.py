"""Artefacts by content key, in a folder or at a URL: npz files, written atomically, never pickle."""

from jali.store.artefacts import BEGAN, DAY, Entry, Store, remove
from jali.store.files import (
    GIGABYTE,
    MOST,
    UNFINISHED,
    Arrays,
    atomic,
    read_arrays,
    sweep,
    sweep_killed,
    together,
    write_arrays,
    write_text,
)
from jali.store.guarded import Guarded, state_of
from jali.store.mapped import map_arrays, release, scratch
from jali.store.secret import user_secret

__all__ = [
    "BEGAN",
    "DAY",
    "GIGABYTE",
    "MOST",
    "UNFINISHED",
    "Arrays",
    "Entry",
    "Guarded",
    "Store",
    "atomic",
    "map_arrays",
    "read_arrays",
    "release",
    "remove",
    "scratch",
    "state_of",
    "sweep",
    "sweep_killed",
    "together",
    "user_secret",
    "write_arrays",
    "write_text",
]
