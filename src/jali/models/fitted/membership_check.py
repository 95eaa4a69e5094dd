"""The checks that trainers make of their input."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Rng, frozen


def checked(data: Dataset, member: Bools, rngs: list[Rng]) -> Bools:
    """The membership matrix member (N, M); raises unless every model has two classes and its own random stream.

    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.zeros((3, 1)), [0, 1, 1], Schema((Column("age"),)))
    >>> checked(data, np.array([[1, 0], [1, 1], [0, 1]]), [np.random.default_rng(j) for j in (0, 1)])
    Traceback (most recent call last):
    jali.core.errors.JaliError: 1 of 2 models lack members of two classes: give each model more rows, or merge ...
    """
    member = streamed(data, member, rngs)
    seen = np.zeros(member.shape[1], dtype=np.int64)
    for number in range(len(data.schema.classes)):
        seen += member[data.y == number].any(axis=0)
    poor = int((seen < 2).sum())
    if poor:
        raise JaliError(
            f"{poor} of {len(seen)} models lack members of two classes: "
            "give each model more rows, or merge rare classes."
        )
    return member


def streamed(data: Dataset, member: Bools, rngs: list[Rng]) -> Bools:
    """The membership matrix member (N, M); raises unless every model has its own random stream.

    A private trainer makes this check alone: a refusal that depends on who is a member would not be private.
    """
    member = frozen(member, bool, (len(data), None), "member")
    if len(rngs) != member.shape[1]:
        raise JaliError(
            f"Expected one random stream per model, but there are {member.shape[1]} models and {len(rngs)} streams."
        )
    return member
