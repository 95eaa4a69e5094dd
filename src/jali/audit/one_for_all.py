"""Whether a user's explainer explains the model that it is given, or one and the same model always."""

from __future__ import annotations

import numpy as np

from jali.core.values import Bools, Evidence, Floats, Game
from jali.results import Check

NAME = "explains each model"
SIZES = ("attribution_l1", "attribution_l2", "counterfactual_distance")  # without a sign, which follows the decision
FEWEST = 20  # records that are compared


def explains_each_model(evidence: Evidence, game: Game, explainers: list[str]) -> list[Check]:
    """Check that the answers of users' explainers differ between the first target and its shadow models.

    `lambda model, background: shap.TreeExplainer(mine)` explains one model, whatever it is given. Its answers about
    shadow models are then answers about the target, so every attack is calibrated with the wrong numbers.
    """
    shadows = np.flatnonzero(game.shadows[0])
    if not len(shadows):
        return []
    out = []
    for explainer in explainers:
        sizes = [
            _all_equal(evidence.value[k], evidence.observed[k], int(game.targets[0]), shadows.tolist())
            for k, name in enumerate(evidence.names)
            if name.explainer == explainer and name.signal in SIZES
        ]
        if any(sizes):
            out.append(Check(name=NAME, passed=False, detail=_said(explainer)))
    return out


def _all_equal(value: Floats, observed: Bools, target: int, shadows: list[int]) -> bool:
    """Whether a signal (N, M) has the same numbers for the target and for all its shadow models."""
    compared = 0
    for j in shadows:
        both = observed[:, target] & observed[:, j]
        compared += int(both.sum())
        if not np.allclose(value[both, target], value[both, j], rtol=1e-9, atol=0.0):
            return False
    own = value[observed[:, target], target]
    return compared >= FEWEST and bool(np.ptp(own) > 0)


def _said(explainer: str) -> str:
    return (
        f"{explainer} gives the same answers for every model, so it does not explain the model that it is given: use "
        "the argument, as in lambda model, background: shap.TreeExplainer(model), not a variable of your own"
    )
