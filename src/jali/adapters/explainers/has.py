"""What objects of other libraries have: the only place that asks them."""

from __future__ import annotations

from functools import partial
from typing import Any


def has(thing: Any, *names: str) -> bool:
    """Whether an object of a user's has all of these attributes; asking must not raise.

    >>> has([], "append", "sort"), has([], "predict")
    (True, False)
    """
    try:
        return all(hasattr(thing, name) for name in names)
    except Exception:  # a property of somebody else's may raise anything
        return False


def library(thing: Any) -> str:
    """The package that an object, or the object of a bound method, comes from.

    >>> from decimal import Decimal
    >>> library(Decimal(1)), library(Decimal(1).sqrt)
    ('decimal', 'decimal')
    """
    owner = thing.__self__ if has(thing, "__self__") else thing
    return type(owner).__module__.partition(".")[0]


def called(thing: Any) -> str:
    """The name of a function, of a bound method with its class, or of the class of an object; empty for a lambda.

    >>> from decimal import Decimal
    >>> called(len), called(Decimal(1).sqrt), called(Decimal(1)), called(Decimal), called(lambda: 0)
    ('len', 'Decimal.sqrt', 'Decimal', 'Decimal', '')
    """
    if isinstance(thing, partial):
        return called(thing.func)
    name = str(thing.__name__) if has(thing, "__name__") else type(thing).__name__
    if name == "<lambda>":
        return ""
    owner = type(thing.__self__).__name__ if has(thing, "__self__", "__name__") else "module"
    return name if owner == "module" else f"{owner}.{name}"
