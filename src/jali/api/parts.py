"""Parts as users give them: a specification, or the part itself."""

from __future__ import annotations

import dataclasses
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


def check_parts(name: str, given: Any, example: str) -> None:
    """Refuse what is neither a name nor a part, such as a function, in the place of an attack or a signal."""
    for one in several(name, given):
        if not isinstance(one, str) and (isinstance(one, type) or not dataclasses.is_dataclass(one)):
            what = f"the class {one.__name__}" if isinstance(one, type) else f"an object of type {type(one).__name__}"
            raise JaliError(
                f"{name}=[…] takes names, or parts of your own (frozen dataclasses, docs/adding.md), not {what}: write "
                f"{name}=[{example!r}]."
            )


def part_of(kind: Any, given: Any) -> Any:
    """The part that a specification names, or the part as it was given."""
    return registry.build(kind, given) if isinstance(given, str) else given


def text_of(given: Any) -> str:
    """The specification of a part."""
    return given if isinstance(given, str) else registry.spec(given)
