"""Parts as users give them: a specification, or the part itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jali.core import registry
from jali.core.errors import JaliError


def several(name: str, given: Any) -> Sequence[Any]:
    """A list of parts; a single text is a common mistake."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        one = repr(given) if isinstance(given, str) else "…"
        raise JaliError(f"{name} must be a list, such as {name}=[{one}].")
    return given


def part_of(kind: Any, given: Any) -> Any:
    """The part that a specification names, or the part as it was given."""
    return registry.build(kind, given) if isinstance(given, str) else given


def text_of(given: Any) -> str:
    """The specification of a part."""
    return given if isinstance(given, str) else registry.spec(given)
