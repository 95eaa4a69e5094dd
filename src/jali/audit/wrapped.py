"""Explainers that wrap another one, and which explainer a row of results is about."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jali.core import registry
from jali.core.errors import JaliError
from jali.results import Results


@runtime_checkable
class Wraps(Protocol):
    """An explainer that changes the answers of another one, or shows less of them."""

    inner: Any


def wraps(outer: Any, inner: Any) -> bool:
    """Whether one explainer wraps another.

    >>> nice = registry.build("explain", "nice")
    >>> wraps(registry.build("explain", "k_anonymous(nice)"), nice), wraps(nice, nice)
    (True, False)
    """
    return isinstance(outer, Wraps) and inner is not None and registry.spec(outer.inner) == registry.spec(inner)


def part_of(results: Results, explainer: str) -> Any:
    """The explainer that a row names; None where it is none of ours, and no module is imported to find out."""
    try:
        text = results.specification(explainer)
        return registry.build("explain", text, modules=()) if text else None
    except JaliError:
        return None
