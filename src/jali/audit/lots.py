"""Equal scores drawn by lot, so that a rate at few false positives is fair to a score with few values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from jali.audit.evidence import read_only
from jali.core.guesses import Guesses, rows_by_unit
from jali.core.values import Floats, Ints


def by_lot(found: Mapping[str, Guesses]) -> dict[str, Guesses]:
    """The guesses by metric, for rates (`tpr@`, `tnr@`) with equal scores in an order drawn by lot.

    Equal scores are flagged whole or not at all. An attacker who sees yes or no would flag nobody at few false
    positives, and one who also sees pure noise some: the noise draws lots. So in a difference both sides draw the same
    lots, which depend on nothing but the place of a guess. Guesses without equal scores stay as they are.
    """
    drawn: dict[int, Guesses] = {}
    out = {}
    for metric, guesses in found.items():
        if "@" not in metric:
            out[metric] = guesses
            continue
        if id(guesses) not in drawn:
            drawn[id(guesses)] = _drawn(guesses)
        out[metric] = drawn[id(guesses)]
    return out


def _drawn(guesses: Guesses) -> Guesses:
    """The guesses with places in the order in the place of scores, for each target in which some are equal."""
    score = guesses.score
    for number, rows in enumerate(rows_by_unit(guesses.unit)):
        mine = guesses.score[rows]
        order = _order(mine, number)
        if order is None:
            continue
        if score is guesses.score:
            score = score.copy()
        place = np.empty(len(mine))
        place[order] = np.arange(len(mine))
        score[rows] = place
    if score is guesses.score:
        return guesses
    read_only(score)
    return replace(guesses, score=score)


def _order(score: Floats, number: int) -> Ints | None:
    """The order of the scores (n,) of one target from the lowest up, equal ones by lot; None where none are equal."""
    ranked = np.sort(score)
    if not (ranked[1:] == ranked[:-1]).any():
        return None
    lots = np.random.default_rng((number, len(score))).permutation(len(score))
    return np.asarray(np.lexsort((lots, score)))
