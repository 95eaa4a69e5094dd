"""What was found of one explanation, by harm."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Harm(IntEnum):
    """What was found, the worst first."""

    CLAIM = 0
    IDENTITY = 1
    ATTRIBUTES = 2
    MEMBERSHIP = 3
    OPEN = 4
    NONE = 5


@dataclass(frozen=True)
class Finding:
    """One sentence, and the harm it speaks of."""

    harm: Harm
    sentence: str
