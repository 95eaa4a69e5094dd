"""What the text of a part leaves out: the contents of the objects that a user's own part holds."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
import uuid
from typing import Any

RUN = uuid.uuid4().hex


def untold(part: Any, ours: bool = True) -> str:
    """The contents of all objects inside a part of which its specification shows no more than a name; for keys.

    An array or a fitted model in a field of a user's own part decides its numbers, and two of them may have the same
    text. Our own parts say all in their texts. They are pickled to be hashed, which nobody reads again; what cannot be
    pickled is known for this run only.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Mine:
    ...     shift: list[float]
    >>> untold(Mine([1.0]), ours=False)
    ''
    """
    if part is None or isinstance(part, (str, bool, int, float)):
        return ""
    if isinstance(part, (list, tuple)):
        return "".join(untold(item, ours) for item in part)
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        of_jali = type(part).__module__.partition(".")[0] == "jali"
        return "".join(untold(getattr(part, field.name), of_jali) for field in dataclasses.fields(part))
    return "" if ours else _contents(part)


def _contents(held: Any) -> str:
    """An object as text that differs where its contents do."""
    try:
        return hashlib.sha256(pickle.dumps(held, protocol=5)).hexdigest()
    except Exception:  # an object of somebody else may raise anything when it is pickled
        return f"{RUN} {id(held)}"
