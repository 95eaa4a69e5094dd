"""Figures that were drawn before: a report that is rendered again with the same numbers takes them from the store."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from jali.store import Store

_store: ContextVar[Store | None] = ContextVar("store of figures", default=None)
SVG = "svg"
TAGS = {"svg", "title", "g", "path", "defs", "use", "clipPath", "rect", "text", "tspan", "line", "circle", "image"}


@contextlib.contextmanager
def remembering(store: Store | None) -> Iterator[None]:
    """Keep figures in a store inside this context, and take them from there."""
    before = _store.set(store)
    try:
        yield
    finally:
        _store.reset(before)


def remembered(draw: Callable[..., Markup]) -> Callable[..., Markup]:
    """A function that draws the same figure for the same arguments, which are values that `repr` shows in full."""

    @functools.wraps(draw)
    def drawn(*given: Any, **named: Any) -> Markup:
        store = _store.get()
        if store is None:
            return draw(*given, **named)
        said = f"{draw.__module__}.{draw.__name__} {given!r} {sorted(named.items())!r} {_version()}"
        key = hashlib.sha256(said.encode()).hexdigest()[:40]
        found = _read(store, key)
        if found is None:
            found = draw(*given, **named)
            store.save(key, {SVG: np.frombuffer(str(found).encode(), dtype=np.uint8)})
        return found

    return drawn


def _read(store: Store, key: str) -> Markup | None:
    """A figure of the store; None where there is none, or where somebody put something else in its place."""
    arrays = store.load(key) or {}
    if SVG not in arrays:
        return None
    try:
        text = arrays[SVG].astype(np.uint8).tobytes().decode()
        return Markup(text) if _is_drawing(ET.fromstring(text)) else None
    except (ValueError, ET.ParseError):
        return None


def _is_drawing(root: ET.Element) -> bool:
    """Whether a tree only draws: no scripts, and no links that lead out of it."""
    for element in root.iter():
        if element.tag not in TAGS:
            return False
        for name, value in element.items():
            outward = name.rpartition("}")[2] == "href" and not value.startswith(("#", "data:image/png"))
            if outward or name.lower().startswith("on") or "javascript:" in value.lower():
                return False
    return True


@functools.cache
def _version() -> str:
    """Digest of everything that a figure depends on beside its arguments: our code that draws, and matplotlib."""
    out = hashlib.sha256(metadata.version("matplotlib").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        out.update(path.name.encode() + b"\0" + path.read_bytes())
    return out.hexdigest()
