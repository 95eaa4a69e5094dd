"""Shadow models, and attack models that learn from their probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from scipy.special import softmax

from jali.core.claims import Harm, Membership
from jali.core.errors import JaliError
from jali.core.protocols import Model, Trainer
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Bools, Column, Dataset, Floats, Ints, Rng, Schema
from jali.models.logistic import Logistic
from jali.query_attacks._shadow import ATTACK, SHADOW, ShadowModels, shadow_models


@dataclass(frozen=True)
class ShokriMIA:
    """Attack models, one per class, that learn from shadow models what members' probabilities look like.

    Each shadow model is trained on half of the known rows, with the oracle's labels; then its probability vectors
    (N, C) of both halves are the attack models' training set, with as many rows IN as OUT for each class. score =
    p(IN) - p(OUT) of the attack model of the record's class, above 0 for a claim of membership, and 0 for a class in
    which the shadow models had no row IN or none OUT.

    reference is part of the threat model: with `true`, a record's class is its label, which the adversary knows, as in
    Shokri et al., Membership Inference Attacks against Machine Learning Models, S&P 2017; for a shadow model it is the
    label that it was trained on. With `predicted`, it is the class that the oracle predicts, as in Naretto, Monreale
    and Giannotti, 2024; a model that fits its rows by heart then gives away less. shadow: the trainer of the shadow
    models, by default that of the target where it is known, and otherwise a forest. attack: the trainer of the attack
    models; forests, as Naretto et al. have them, do no better and lose what lies between two of their thresholds.

    >>> from jali.core.values import Schema
    >>> rows = Dataset(np.linspace(-1, 1, 40)[:, None], np.zeros(40, int), Schema((Column("x"),)))
    >>> oracle = Oracle(rows.schema, lambda X: np.hstack([-X, X]))
    >>> ShokriMIA(shadows=2).run(oracle, rows, rows, np.random.default_rng(0)).score.shape
    (40,)
    """

    shadow: Trainer | None = None
    attack: Trainer = field(default_factory=Logistic)
    shadows: int = 6
    reference: Literal["true", "predicted"] = "true"
    learns: ClassVar[Harm] = "membership"
    sees: ClassVar[Sees] = "probabilities"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.shadows < 1:
            raise JaliError(f"shokri_mia: shadows must be at least 1, not {self.shadows}.")
        if self.reference not in ("true", "predicted"):
            raise JaliError(f"shokri_mia: reference must be true or predicted, not {self.reference!r}.")

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership:
        """One claim per record."""
        seen = oracle.probabilities(records.X)
        shadow = shadow_models("shokri_mia", self.shadow, oracle, known, self.shadows, rng)
        vectors, inside = _training_set(shadow)
        score = np.zeros(len(seen))
        known_class = self.reference == "true"
        classes = records.y if known_class else seen.argmax(axis=1)
        taught = np.tile(shadow.rows.y, self.shadows) if known_class else vectors.argmax(axis=1)
        right: list[Bools] = []
        for number in range(seen.shape[1]):
            mine = classes == number
            rows = _balanced(np.flatnonzero(taught == number), inside, rng)
            if mine.any() and len(rows):
                model = _trained(self.attack, vectors[rows], inside[rows], rng)
                score[mine] = _confidence(model, seen[mine])
                right.append(_held_out(self.attack, vectors[rows], inside[rows], rng))
        overall = {SHADOW: shadow.accuracy()}
        if any(map(len, right)):
            overall[ATTACK] = float(np.concatenate(right).mean())
        return Membership(score, overall)


def _training_set(shadow: ShadowModels) -> tuple[Floats, Bools]:
    """Probabilities (N M, C) of the known rows under every shadow model, and which of them trained it (N M,)."""
    scores = np.concatenate([shadow.models[m].logits(shadow.rows.X) for m in range(len(shadow.models))])
    return softmax(scores, axis=1), shadow.member.T.reshape(-1)


def _balanced(rows: Ints, inside: Bools, rng: Rng) -> Ints:
    """As many of the rows inside as outside, at random."""
    within, out = rng.permutation(rows[inside[rows]]), rng.permutation(rows[~inside[rows]])
    few = min(len(within), len(out))
    return np.concatenate([within[:few], out[:few]])


def _trained(attack: Trainer, vectors: Floats, inside: Bools, rng: Rng) -> Model:
    """The attack model of one class."""
    schema = Schema(tuple(Column(f"p{c}", low=0.0, high=1.0) for c in range(vectors.shape[1])), ("OUT", "IN"))
    everybody = np.ones((len(vectors), 1), dtype=bool)
    return attack.fit(Dataset(vectors, inside.astype(np.int64), schema), everybody, [rng])[0]


def _held_out(attack: Trainer, vectors: Floats, inside: Bools, rng: Rng) -> Bools:
    """Which of a random fifth of the rows are classified correctly by an attack model trained on the others."""
    kept = rng.permutation(len(inside)) % 5 == 0
    if len(np.unique(inside[~kept])) < 2 or not kept.any():
        return np.zeros(0, dtype=bool)
    model = _trained(attack, vectors[~kept], inside[~kept], rng)
    return np.asarray((_confidence(model, vectors[kept]) > 0) == inside[kept])


def _confidence(model: Model, vectors: Floats) -> Floats:
    """p(IN) - p(OUT) (n,)."""
    p = softmax(model.logits(vectors), axis=1)
    return np.asarray(p[:, 1] - p[:, 0])
