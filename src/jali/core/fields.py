"""Whether the value of a part's field fits its annotation: one sentence for everything that does not."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from jali.core.errors import JaliError

EXACT = 2**53  # beyond, whole numbers change silently when they become floats
SEQUENCES = ("tuple", "list", "Sequence")
Test = Callable[[Any], bool]
PLAIN: dict[str, Test] = {
    "int": lambda x: isinstance(x, int) and not isinstance(x, bool) and abs(x) <= EXACT,
    "float": lambda x: isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < 1e300,
    "str": lambda x: isinstance(x, str) and "\0" not in x,
    "ImportPath": lambda x: isinstance(x, str) and "\0" not in x,
    "bool": lambda x: isinstance(x, bool),
    "None": lambda x: x is None,
}
WORDS = {"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false", "ImportPath": "a text"}


def fitting(part: str, field: str, annotation: str, kind: str | None, value: Any) -> Any:
    """The value, a whole number as a fraction where the field takes one; raises if it does not fit.

    annotation: of the field, as text. kind: the kind of part that the field takes, if it takes one.

    >>> fitting("lira", "prior", "float", None, 3)
    3.0
    >>> fits("tuple[int, ...] | None", [1, 2]), fits("tuple[int, ...] | None", 1), fits('Literal["a", "b"]', "c")
    (True, False, False)
    """
    if kind is not None:
        if _is_part(value) or (value is None and "None" in annotation):
            return value
        if isinstance(value, list) and any(name in annotation for name in SEQUENCES) and all(map(_is_part, value)):
            return value
        raise JaliError(f"{part}: {field} must name a part of kind {kind}, without quotes, not {_short(value)}.")
    if not fits(annotation, value):
        raise JaliError(f"{part}: {field} must be {_expected(annotation)}, not {_short(value)}.")
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and "float" in annotation and "int" not in annotation else value


def fits(annotation: str, value: Any) -> bool:
    """Whether a value is of a plain type, a literal, a sequence of such, or of a type that is not known here."""
    wanted = _split(annotation, "|")
    if len(wanted) > 1:
        return any(fits(one, value) for one in wanted)
    name, bracket, inside = annotation.strip().partition("[")
    if name in PLAIN:
        return PLAIN[name](value)
    if name == "Literal":
        return any(value == one and type(value) is type(one) for one in _literals(inside))
    if name in SEQUENCES and bracket:
        return isinstance(value, list | tuple) and _all_fit(name, _split(inside[:-1], ","), value)
    return True


def _all_fit(name: str, items: list[str], value: Any) -> bool:
    if name != "tuple" or items[-1].strip() == "...":
        return all(fits(items[0], one) for one in value)
    return len(items) == len(value) and all(fits(one, x) for one, x in zip(items, value, strict=True))


def _literals(inside: str) -> list[Any]:
    found: list[Any] = ast.literal_eval(f"[{inside.removesuffix(']')}]")
    return found


def _split(text: str, at: str) -> list[str]:
    """The pieces of an annotation between marks that stand in no brackets and no quotes."""
    depth, quoted, pieces = 0, False, [""]
    for sign in text:
        quoted ^= sign in "'\""
        depth += (sign in "[(") - (sign in "])")
        if sign == at and not depth and not quoted:
            pieces.append("")
        else:
            pieces[-1] += sign
    return [piece.strip() for piece in pieces]


def _expected(annotation: str) -> str:
    """An annotation in words."""
    said = []
    for one in _split(annotation, "|"):
        name, _, inside = one.partition("[")
        if name == "Literal":
            said.append(f"one of {', '.join(map(str, _literals(inside)))}")
        elif name in SEQUENCES:
            inner = _split(inside.removesuffix("]"), ",")
            said.append(f"a list of {' and '.join(_expected(x) for x in inner if x != '...')}")
        else:
            said.append("none" if one == "None" else WORDS.get(name, one))
    return " or ".join(said)


def _is_part(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
