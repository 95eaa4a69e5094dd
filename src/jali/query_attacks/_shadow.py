"""Shadow models trained on an oracle's labels, and thresholds calibrated on their known membership."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.claims import Membership
from jali.core.errors import JaliError
from jali.core.guarantee import unannounced
from jali.core.protocols import Ensemble, Trainer
from jali.core.query import Oracle
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.models.sklearn import Sklearn
from jali.stats.roc import balanced_accuracy, steps

FOREST = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=100")
MOST = 1000  # known rows at most that calibrate a threshold; more hardly change it
Labeller = Callable[[Floats], Ints]
Measure = Callable[[Labeller, Floats, Ints], Floats]
Reference = Literal["predicted", "true", "as_released"]
SHADOW = "shadow_accuracy"
ATTACK = "attack_accuracy"


@dataclass(frozen=True)
class ShadowModels:
    """Shadow models, the known rows with the oracle's labels, and which rows trained each model, member (N, M)."""

    models: Ensemble
    rows: Dataset
    member: Bools

    def accuracy(self) -> float:
        """How often a shadow model gives the oracle's label to rows that it was not trained on."""
        right = [self.models[m].logits(self.rows.X).argmax(axis=1) == self.rows.y for m in range(len(self.models))]
        return float(np.stack(right, axis=1)[~self.member].mean())


def shadow_models(
    name: str, trainer: Trainer | None, oracle: Oracle, known: Dataset, count: int, rng: Rng
) -> ShadowModels:
    """Shadow models, each trained on a random half of every class of the known rows, as the oracle labels them.

    Without a trainer they are like the target, as far as the oracle tells how that was trained, and otherwise forests.
    """
    if len(known) < 4:
        raise JaliError(f"{name}: the adversary knows {len(known)} rows, and shadow models need at least 4.")
    rows = Dataset(known.X, oracle.labels(known.X), known.schema)
    if len(np.unique(rows.y)) < 2:
        only = rows.schema.classes[rows.y[0]]
        raise JaliError(
            f"{name}: the oracle gives all {len(rows)} rows that the adversary knows the class {only!r}, and a shadow "
            "model needs two: choose knowledge closer to the data (noise is the closest), or give more people."
        )
    if np.bincount(rows.y).max() < 2:
        raise JaliError(
            f"{name}: the oracle gives each of the {len(rows)} rows that the adversary knows a class of its own, and "
            "none could stay outside a shadow model: let the adversary know more rows."
        )
    member = np.stack([_half(rows.y, rng) for _ in range(count)], axis=1)
    streams = [np.random.default_rng(int(rng.integers(2**63))) for _ in range(count)]
    with unannounced():  # the claim of a private target is about the target's rows
        models = (trainer or oracle.trainer or FOREST).fit(rows, member, streams)
    return ShadowModels(models, rows, member)


def _half(y: Ints, rng: Rng) -> Bools:
    """A random half (N,) of the rows of each class; a class with one row is inside."""
    inside = np.empty(len(y), dtype=bool)
    order = rng.permutation(len(y))
    for number in np.unique(y):
        mine = order[y[order] == number]
        inside[mine] = np.arange(len(mine)) % 2 == 0
    return inside


def calibrated(
    measure: Measure, shadow: ShadowModels, oracle: Oracle, records: Dataset, reference: Reference
) -> Membership:
    """The measure of each record under the oracle, minus a threshold that is calibrated on a shadow model.

    The threshold separates the rows that trained the shadow model from the others. As released by the authors, the
    measure of these rows is taken under the oracle, not under the shadow model, with the label that the shadow model
    predicts as the reference.
    """
    model = shadow.models[0]
    n = len(shadow.rows)
    some = np.arange(n) if n <= MOST else np.linspace(0, n - 1, MOST).astype(np.int64)
    rows = shadow.rows.rows(some)
    inside = shadow.member[some, 0]

    def shadow_labels(X: Floats) -> Ints:
        return np.asarray(model.logits(X).argmax(axis=1))

    if reference == "as_released":
        own = _measured(measure, oracle.labels, rows.X, shadow_labels(rows.X))
    else:
        own = _measured(measure, shadow_labels, rows.X, rows.y if reference == "true" else None)
    score = _measured(measure, oracle.labels, records.X, records.y if reference == "true" else None)
    overall = {SHADOW: shadow.accuracy(), ATTACK: balanced_accuracy(own, inside)}
    return Membership(score - threshold(own, inside), overall)


def _measured(measure: Measure, label: Labeller, X: Floats, reference: Ints | None) -> Floats:
    """The measure (n,) of each row with its reference label (n,), by default the predicted one; 0 where they differ."""
    predicted = label(X)
    wanted = predicted if reference is None else reference
    right = predicted == wanted
    out = np.zeros(len(X))
    out[right] = measure(label, X[right], wanted[right])
    return out


def threshold(score: Floats, inside: Bools) -> float:
    """The cut with the best balanced accuracy of `score > cut`; the highest score, which flags nobody, if none helps.

    >>> threshold(np.array([0.9, 0.7, 0.5, 0.1]), np.array([True, True, False, False]))
    0.6
    >>> threshold(np.array([0.9, 0.1]), np.array([False, True]))
    0.9
    """
    out, within, at = steps(score, inside)
    best = int((within / within[-1] - out / out[-1]).argmax())
    return float(at[1] if best == 0 else (at[best] + at[best + 1]) / 2)
