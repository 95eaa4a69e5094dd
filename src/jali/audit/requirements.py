"""What an attack requires of a game: shadow models trained on records, or without them, or reference people."""

from __future__ import annotations

import numpy as np

from jali.audit.reference import REFERENCE
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Attack
from jali.core.values import Bools, Game

FEW = 256  # records that are looked at before all others


def check_shadows(attack: Attack, member: Bools, shadows: Bools, judged: Bools, column: int) -> None:
    """Raise where a target has no record to judge, or not the kinds of shadow model that an attack requires."""
    if not judged.any():
        raise JaliError(f"Nothing was observed under model {column}, so there is nothing to judge.")
    for kind in sorted(attack.requires - {REFERENCE}):
        if not _some_shadow(kind, member, shadows, judged):
            how = "trained on" if kind == "in" else "trained without"
            raise JaliError(
                f"{registry.name_of(attack)} needs shadow models {how} the records it judges; model {column} has none: "
                "choose an attack that does without, or another game."
            )


def _some_shadow(kind: str, member: Bools, shadows: Bools, judged: Bools) -> bool:
    """Whether one of the shadow models (M,) trained on ("in"), or without ("out"), one of the records judged (N,)."""
    models = np.flatnonzero(shadows)
    for start in range(0, len(judged), FEW):  # the first few records nearly always show one
        rows = slice(start, start + FEW)
        if ((member[rows][:, models] == (kind == "in")) & judged[rows, None]).any():
            return True
    return False


def feasible(attack: Attack, game: Game) -> bool:
    """Whether every target has the kinds of shadow, or the reference, that an attack requires."""
    for t in range(len(game.targets)):
        if REFERENCE in attack.requires and not game.reference(t).any():
            return False
        for kind in attack.requires - {REFERENCE}:
            if not _some_shadow(kind, game.member, game.shadows[t], game.scored[:, t]):
                return False
    return True
