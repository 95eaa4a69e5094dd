"""TOML that somebody else may have written."""

from __future__ import annotations

import re
import tomllib
from typing import Any

DOTS = 1000  # of one key: reading it takes the square of their number
KEY = re.compile(r"[^\w.\-\"' \t]+")  # what no key has in it, and line breaks


def parsed(text: str) -> dict[str, Any]:
    """The tables of a text; ValueError says why it is no TOML, in one line.

    >>> parsed("seed = 1")
    {'seed': 1}
    """
    if any(piece.count(".") > DOTS for piece in KEY.split(text)):
        raise ValueError(f"a key in it has more than {DOTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
