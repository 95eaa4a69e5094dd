"""Values of fields as a specification writes them."""

from __future__ import annotations

import re
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def literal(value: Any) -> str:
    r"""A value that is neither a part nor a list; the same text in every process, for random streams are named by it.

    >>> literal('a "b"'), literal(True), literal(0.5), literal({"b", "a"})
    ('"a \\"b\\""', 'true', '0.5', '{"a", "b"}')
    >>> literal(object())
    '<object object>'
    """
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (set, frozenset)) and value:
        return f"{{{', '.join(sorted(map(literal, value)))}}}"
    return ADDRESS.sub("", repr(value))


def differs(value: Any, default: Any) -> bool:
    """Whether a field has another value than its default; arrays and what holds them cannot be compared, and have.

    >>> differs(1, 1.0), differs(2, 1)
    (False, True)
    """
    if getattr(value, "ndim", 0):
        return True
    try:
        return bool(value != default)
    except ValueError:
        return True
