"""A user's own release: imported by its name, called for answers, and tested against the claim that the user states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from jali.core import imports
from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Dataset, Floats, Rng
from jali.verify.answers import Answers, called

Release = Callable[[Dataset, Floats, Rng], Any]


def stated(name: str, epsilon: float | None, adjacency: Adjacency | None, delta: float | None) -> Guarantee:
    """The claim about a user's own release, from the options of the command line."""
    if epsilon is None:
        raise JaliError(f"{name} makes no claim of its own: state the claim to test, for example --epsilon 1.")
    relation: Adjacency = "replace-one" if adjacency is None else adjacency
    given = Guarantee(f"as claimed for {name}", epsilon, relation, ("explanations",), per="release")
    return given if delta is None else dataclasses.replace(given, delta=delta)


def answers_of(release: Release, data: Dataset, query: Floats, count: int, rng: Rng) -> Answers:
    """What `count` calls of a user's own release return or raise."""
    return called([partial(_call, release, data, query, rng)] * count)


def _call(release: Release, data: Dataset, query: Floats, rng: Rng) -> Any:
    return release(data, query[0].copy(), rng)


def imported(name: str) -> Release:
    """A user's own release, by module and name."""
    module, _, attribute = name.partition(":")
    if not module or not attribute.isidentifier():
        raise JaliError(f"A release of your own is written package.module:name, not {name!r}.")
    release = imports.named(name)
    if not callable(release):
        raise JaliError(f"{name} must be callable as release(data, query, rng), and is {type(release).__name__}.")
    return release  # type: ignore[no-any-return]
