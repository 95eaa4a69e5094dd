"""Shadow models that mimic an oracle, and what their known membership teaches about its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.claims import Membership
from jali.core.errors import JaliError
from jali.core.protocols import Ensemble, Trainer
from jali.core.query import Oracle
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.models.sklearn import Sklearn
from jali.stats.roc import balanced_accuracy, steps

FOREST = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=100")
MOST = 1000  # rows of the shadow that set a threshold; more of them move it by less than it matters
Ask = Callable[[Floats], Ints]
Measure = Callable[[Ask, Floats, Ints], Floats]
Reference = Literal["predicted", "true", "as_released"]
SHADOW, ATTACK = "shadow_accuracy", "attack_accuracy"


@dataclass(frozen=True)
class ShadowModels:
    """Shadow models, the rows they know with the oracle's labels, and which of these trained each, member (N, M)."""

    models: Ensemble
    rows: Dataset
    member: Bools

    def accuracy(self) -> float:
        """Share of the rows that a shadow model did not see to which it gives the oracle's label, over all of them."""
        right = [self.models[m].logits(self.rows.X).argmax(axis=1) == self.rows.y for m in range(len(self.models))]
        return float(np.stack(right, axis=1)[~self.member].mean())


def shadow_models(name: str, trainer: Trainer, oracle: Oracle, known: Dataset, count: int, rng: Rng) -> ShadowModels:
    """Shadow models, each trained on a random half of every class of the known rows, as the oracle labels them."""
    if len(known) < 4:
        raise JaliError(f"{name}: the adversary knows {len(known)} rows, and shadow models need at least 4.")
    rows = Dataset(known.X, oracle.labels(known.X), known.schema)
    if len(np.unique(rows.y)) < 2:
        only = rows.schema.classes[rows.y[0]]
        raise JaliError(
            f"{name}: the oracle gives all {len(rows)} rows that the adversary knows the class {only!r}, and a shadow "
            "model needs two: choose knowledge closer to the data, such as noise."
        )
    if np.bincount(rows.y).max() < 2:
        raise JaliError(
            f"{name}: the oracle gives each of the {len(rows)} rows that the adversary knows a class of its own, and "
            "none could stay outside a shadow model: let the adversary know more rows."
        )
    member = np.stack([_half(rows.y, rng) for _ in range(count)], axis=1)
    streams = [np.random.default_rng(int(rng.integers(2**63))) for _ in range(count)]
    return ShadowModels(trainer.fit(rows, member, streams), rows, member)


def _half(y: Ints, rng: Rng) -> Bools:
    """Every second row (N,) of each class in a random order; a class of one row is in."""
    inside, order = np.empty(len(y), dtype=bool), rng.permutation(len(y))
    for number in np.unique(y):
        mine = order[y[order] == number]
        inside[mine] = np.arange(len(mine)) % 2 == 0
    return inside


def calibrated(
    measure: Measure, shadow: ShadowModels, oracle: Oracle, records: Dataset, reference: Reference
) -> Membership:
    """How firmly the oracle holds each record's label, less the threshold at which the shadow's own rows stand out.

    As released, the rows that set the threshold are held by the oracle, not by the shadow model that saw them, and the
    label held is the one that the shadow model predicts; of records it is the oracle's.
    """
    model, n = shadow.models[0], len(shadow.rows)
    some = np.arange(n) if n <= MOST else np.linspace(0, n - 1, MOST).astype(np.int64)
    rows, inside = shadow.rows.rows(some), shadow.member[some, 0]

    def mimicked(X: Floats) -> Ints:
        return np.asarray(model.logits(X).argmax(axis=1))

    if reference == "as_released":
        own = _held(measure, oracle.labels, rows.X, mimicked(rows.X))
    else:
        own = _held(measure, mimicked, rows.X, rows.y if reference == "true" else None)
    firm = _held(measure, oracle.labels, records.X, records.y if reference == "true" else None)
    facts = {SHADOW: shadow.accuracy(), ATTACK: balanced_accuracy(own, inside)}
    return Membership(firm - threshold(own, inside), facts)


def _held(measure: Measure, ask: Ask, X: Floats, reference: Ints | None) -> Floats:
    """The measure (n,) of each row with its reference label (n,), None for the one predicted; 0 where they differ."""
    told = ask(X)
    wanted = told if reference is None else reference
    right, out = told == wanted, np.zeros(len(X))
    out[right] = measure(ask, X[right], wanted[right])
    return out


def threshold(score: Floats, inside: Bools) -> float:
    """The cut with the best balanced accuracy of `score > cut`; the highest score, so that nobody is in, if none helps.

    >>> threshold(np.array([0.9, 0.7, 0.5, 0.1]), np.array([True, True, False, False]))
    0.6
    >>> threshold(np.array([0.9, 0.1]), np.array([False, True]))
    0.9
    """
    out, within, at = steps(score, inside)
    best = int((within / within[-1] - out / out[-1]).argmax())
    return float(at[1] if best == 0 else (at[best] + at[best + 1]) / 2)
