"""Standardised signals and conformal p-values from people who are known not to be in the training set."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from jali.core.errors import JaliError
from jali.core.guesses import Records, Target
from jali.core.values import Bools, Floats, Ints

FEWEST = 100  # people of the reference; fewer leave less than 20 to calibrate with
MEAN = 0.6  # share of the reference that the mean is learnt on
SPREAD = 0.2  # share that the spread is learnt on; the rest calibrates
WIDEST = 500  # encoded features that are read
MOST_CLASSES = 255  # labels that the trees read as categories; more are read as numbers
FLOOR = 0.3  # added to absolute residuals before their logarithm, in units of their mean
TINY = 1e-12
LARGEST = 1e150  # signals with larger values are made smaller, so that squares stay finite: only their order counts
TIE = 1e-9  # weight of z where the p-values are equal; below any step of -log p with fewer than ten million people


@dataclass(frozen=True, eq=False)
class Split:
    """The reference of one target in three parts that share no person: for the mean, the spread and the calibration.

    use (N,): rows of the reference that were observed.
    """

    name: str
    records: Records
    use: Bools
    parts: tuple[Ints, Ints, Ints] = field(init=False)

    def __post_init__(self) -> None:
        lots = np.unique(self.records.lot[self.use])
        if len(lots) < FEWEST:
            raise JaliError(
                f"{self.name}: only {len(lots)} people with an answer are known not to be in the training set; at "
                f"least {FEWEST} are needed: set more people aside (the game's reference), or give a larger population."
            )
        rows = np.flatnonzero(self.use)
        rows = rows[np.argsort(self.records.lot[rows], kind="stable")]
        place = np.searchsorted(lots, self.records.lot[rows]) / len(lots)
        cuts = np.searchsorted(place, [MEAN, MEAN + SPREAD], side="left")
        mean, spread, rest = np.split(rows, cuts)
        object.__setattr__(self, "parts", (mean, spread, rest))

    @cached_property
    def inputs(self) -> Floats:
        """What the signal is predicted from (N, P + 1): encoded features and the label.

        Not the decision, which membership itself changes: given label and decision, a network's leak is mostly gone.
        """
        features = self.records.features
        if features.shape[1] > WIDEST:
            loudest = np.argsort(-features[self.use].var(axis=0), kind="stable")[:WIDEST]
            features = features[:, np.sort(loudest)]
        return np.concatenate([features, self.records.label[:, None]], axis=1)

    def standardised(self, value: Floats) -> Floats:
        """The signal (N,) as normal scores, minus its mean for such a record, divided by its spread there."""
        mean, spread, _ = self.parts
        value = value / max(1.0, float(np.abs(value).max(initial=0.0)) / LARGEST)
        even = normal_scores(value, value[mean])
        away = even - self._predicted(mean, even[mean], max_iter=60, learning_rate=0.1, max_leaf_nodes=16)
        size = np.abs(away[spread])
        floor = max(FLOOR * float(size.mean()), TINY)
        # Few and small trees: a noisy spread costs more than a constant one.
        few = {"max_iter": 30, "learning_rate": 0.05, "max_leaf_nodes": 4, "min_samples_leaf": 40}
        return np.asarray(away / np.exp(self._predicted(spread, np.log(size + floor), **few)))

    def _predicted(self, rows: Ints, value: Floats, **trees: Any) -> Floats:
        """Predictions (N,) of boosted trees that learnt the values (n,) of some rows (n,)."""
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        label = [self.inputs.shape[1] - 1] if self.records.label.max() < MOST_CLASSES else None
        model: Any = HistGradientBoostingRegressor(
            early_stopping=False, categorical_features=label, random_state=0, **trees
        )
        # A limit on threads does not reach a library that is loaded after it was set, so it is set again here.
        with threadpool_limits(limits=1):
            return np.asarray(model.fit(self.inputs[rows], value).predict(self.inputs))


def normal_scores(value: Floats, known: Floats) -> Floats:
    """Values (N,) as the normal quantiles of their ranks among known ones (n,), which no monotone scale changes.

    Without this, a skewed signal such as the loss is explained by its few worst records. Beyond the known values the
    scores go on growing, by the logarithm of the distance.

    >>> normal_scores(np.array([2.0, 20.0, 200.0]), np.array([1.0, 2.0, 3.0])).round(2)
    array([0.  , 4.05, 6.46])
    """
    levels, count = np.unique(known, return_counts=True)
    score = ndtri((np.cumsum(count) - count / 2) / len(known))
    beyond = value - np.clip(value, levels[0], levels[-1])
    scale = float(known.std()) or TINY
    return np.asarray(np.interp(value, levels, score) + np.sign(beyond) * np.log1p(np.abs(beyond) / scale))


def split(name: str, target: Target) -> Split:
    """The reference of a target, of people for whom every signal was observed."""
    if target.records is None:
        raise JaliError(
            f"{name} reads the records themselves, which evidence alone does not hold: run the audit of the model with "
            f"--attack {name}."
        )
    return Split(name, target.records, np.asarray(target.records.reference & target.observed.all(axis=0)))


def surprise(z: Floats, calibration: Floats) -> Floats:
    """-log p (n,) of standardised signals z (n,); where p-values are equal, a larger z has the larger score.

    p = (1 + #{calibration >= z}) / (m + 1) with m people to calibrate with. If these are exchangeable with the
    non-members that are scored, a share of at most alpha of the non-members has p <= alpha (Vovk et al., 2005).

    >>> np.exp(-surprise(np.array([5.0, 2.5, -1.0]), np.array([1.0, 4.0, 3.0, 2.0]))).round(6)
    array([0.2, 0.6, 1. ])
    """
    below = np.searchsorted(np.sort(calibration), z, side="left")
    p = (1 + len(calibration) - below) / (len(calibration) + 1)
    return np.asarray(-np.log(p) + TIE * np.sign(z) * np.log1p(np.abs(z)))
