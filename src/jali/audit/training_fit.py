"""Whether a user's model fits its training rows as well as its clones fit theirs."""

from __future__ import annotations

import numpy as np

from jali.core.values import Evidence, Game
from jali.text.shares import whole_percent

WORSE = 0.15  # share of rows; a clone that was trained alike differs by less


def fits_otherwise(evidence: Evidence, game: Game) -> list[str]:
    """A warning where the first target is right about its members clearly less or more often than its shadow models.

    The shadow models were trained in the same way, on as many rows. So rows that another model was trained on, columns
    in another order, or rows that were prepared differently show here, and nowhere else: the audit then finds little.
    So does a user's fit that trains on other rows than it is given, or less well.
    """
    mine, theirs = shares_right(evidence, game)
    if not theirs:
        return []
    right = f"The model is right for {whole_percent(mine)} of its training rows"
    if mine > max(theirs) + WORSE:
        return [
            f"{right}, and shadow models for {whole_percent(max(theirs))} or less of theirs: does fit train on "
            "the X and y that it is given, and as the model was trained? If not, this audit finds less than an "
            "adversary would."
        ]
    if not mine < min(theirs) - WORSE:
        return []
    return [
        f"{right}, and models that were trained in the same way for {whole_percent(min(theirs))} or more of theirs. "
        "Are these the rows that it was trained on, with the columns in the same order and prepared in the same way? "
        "If not, this audit says nothing about it."
    ]


def shares_right(evidence: Evidence, game: Game) -> tuple[float, list[float]]:
    """The share of its members for whom the first target is right, and the same of each of its shadow models."""
    at = [k for k, name in enumerate(evidence.names) if name.signal == "correctness" and not name.explainer]
    if not at:
        return 0.0, []
    shadows = np.flatnonzero(game.shadows[0]).tolist()
    return _right(evidence, at[0], int(game.targets[0])), [_right(evidence, at[0], j) for j in shadows]


def _right(evidence: Evidence, signal: int, column: int) -> float:
    """The share of the members of a model for whom it is right."""
    asked = evidence.member[:, column] & evidence.observed[signal, :, column]
    return float((evidence.value[signal, asked, column] > 0).mean()) if asked.any() else 0.0
