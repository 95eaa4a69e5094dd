"""Whether shadow models were trained on the rows that they were given, or are the user's model again."""

from __future__ import annotations

import numpy as np

from jali.audit.training_fit import WORSE, shares_right
from jali.core.values import Evidence, Game
from jali.results import Check

NAME = "trains each model"
FEWEST = 20  # records that are compared
SEVERAL = 10  # different numbers: models that were trained on other rows do not agree on so many
SAID = (
    "all shadow models give the same answers as the model itself, so they were not trained on the rows that they were "
    "given: fit(X, y, seed) must train on its arguments, not on variables of your own, and return a new model"
)


def trains_each_model(evidence: Evidence, game: Game) -> list[Check]:
    """Check that the predictions of the first target and of its shadow models are not one and the same.

    `fit=lambda X, y, seed: train(my_rows)` gives the target again. Every attack is then calibrated with the target's
    own numbers, and finds nothing. Answers with few different values, such as labels alone, may agree by themselves;
    then the target must also fit its rows clearly better than the others fit theirs.
    """
    target = int(game.targets[0])
    shadows = np.flatnonzero(game.shadows[0]).tolist()
    plain = [k for k, name in enumerate(evidence.names) if not name.explainer]
    if not shadows or not plain or not all(_same(evidence, k, target, j) for k in plain for j in shadows):
        return []
    different = max(len(np.unique(evidence.value[k, evidence.observed[k, :, target], target])) for k in plain)
    mine, theirs = shares_right(evidence, game)
    better = bool(theirs) and mine > max(theirs) + WORSE
    if different <= SEVERAL and not better:
        return []
    return [Check(name=NAME, passed=False, detail=SAID)]


def _same(evidence: Evidence, signal: int, target: int, other: int) -> bool:
    """Whether a signal has the same numbers for two models, on enough records."""
    both = evidence.observed[signal, :, target] & evidence.observed[signal, :, other]
    value = evidence.value[signal, both]
    return int(both.sum()) >= FEWEST and bool((value[:, target] == value[:, other]).all())
