"""Local surrogates attacked one by one, whose claims are put to a vote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.core.claims import Harm, Membership
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.protocols import Model
from jali.core.query import Holds, Oracle, QueryAttack, Sees
from jali.core.values import Bools, Dataset, Floats, Rng
from jali.query_attacks._representatives import elbow, representatives
from jali.query_attacks.shokri_mia import ShokriMIA


@dataclass(frozen=True)
class Vote:
    """One attack on each local surrogate; the most confident attacks vote on each record.

    Some of the records are explained: `each` records per quarter of each k-means cluster. An attack claims c = its
    score, IN above 0, with confidence d = |c|. Of the attacks on K surrogates, those vote

    - with `confidence`, for which d >= mean(d) + sd(d), over the K attacks (sd with divisor K);
    - with `threshold`, for which d > the elbow of the K sorted values, the point farthest from their chord.

    Where this leaves none, those with the largest d vote. The majority decides, and a tie is OUT:
    score = share of votes IN - 1/2, above 0 for a claim of membership; among equal shares the mean tanh(c) of the
    voters orders the records, by less than one vote. A surrogate that gives all known rows one label cannot be attacked
    and does not vote.

    Naretto, Monreale and Giannotti, 2024: `confidence` for shokri_mia, `threshold` for attacks on labels; what they
    leave open (nobody chosen, ties, > or >= the elbow) is decided as above.

    >>> _votes(np.array([[0.1, -0.2], [0.9, 0.2], [-0.2, -0.9]]), "confidence").round(2)
    array([ 0.49, -0.55])
    """

    attack: QueryAttack = field(default_factory=ShokriMIA)
    select: Literal["confidence", "threshold"] = "confidence"
    each: int = 3
    learns: ClassVar[Harm] = "membership"
    sees: ClassVar[Sees] = "local surrogates"
    holds: ClassVar[Holds] = "rows"
    trains_shadows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.each < 1:
            raise JaliError(f"vote: each must be at least 1, not {self.each}.")

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership:
        """One claim per record."""
        models = _surrogates(oracle, representatives("vote", records, self.each))
        made = [self._alone(model, oracle, known, records, rng) for model in models]
        claims = [c for c in made if c is not None]
        if not claims:
            raise JaliError(
                f"vote: each of {len(models)} local surrogates gives all rows that the adversary knows one label: "
                "choose knowledge closer to the data (noise is the closest), or give more people."
            )
        overall = _mean_overall(claims)
        overall |= {"surrogates": float(len(models)), "voters": float(len(claims))}
        return Membership(_votes(np.stack([c.score for c in claims]), self.select), overall)

    def _alone(self, model: Model, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Membership | None:
        """The attack on one surrogate; None where it gives all known rows one label."""
        local = Oracle(oracle.schema, model.logits, reveals=oracle.reveals)
        if len(np.unique(local.labels(known.X))) < 2:
            return None
        claims = self.attack.run(local, known, records, rng)
        oracle.queries += local.queries
        if not isinstance(claims, Membership):
            raise JaliError("vote needs an attack that claims membership, such as shokri_mia, label_only or aloa.")
        return claims


def _surrogates(oracle: Oracle, X: Floats) -> list[Model]:
    """The models that explain some rows."""
    surrogates = oracle.explanations(X)
    if not isinstance(surrogates, Surrogate):
        raise JaliError(f"vote attacks surrogates, not {type(surrogates).__name__.lower()}s: choose such an explainer.")
    if not surrogates.found.any():
        raise JaliError(f"vote: none of {len(X)} records has a local surrogate.")
    return [surrogates.models[k] for k in np.unique(surrogates.which[surrogates.found])]


def _votes(scores: Floats, select: Literal["confidence", "threshold"]) -> Floats:
    """Share of votes for IN (n,) from scores (K, n), minus a half, with ties ordered."""
    sure = np.abs(scores)
    chosen = _confident(sure) if select == "confidence" else _beyond_elbow(sure)
    chosen |= ~chosen.any(axis=0) & (sure == sure.max(axis=0))
    count = chosen.sum(axis=0)
    share = (chosen & (scores > 0)).sum(axis=0) / count
    order = (chosen * np.tanh(scores)).sum(axis=0) / count
    # Two shares of at most K votes differ by 1 / K^2 or more; the order takes less, and never lifts a tie above 0.
    return np.asarray(share - 0.5 + (order - 1.0) / (4.0 * len(scores) ** 2))


def _confident(sure: Floats) -> Bools:
    return np.asarray(sure >= sure.mean(axis=0) + sure.std(axis=0))


def _beyond_elbow(sure: Floats) -> Bools:
    ranked = np.sort(sure, axis=0)
    return np.asarray(sure > np.take_along_axis(ranked, elbow(ranked)[None], axis=0))


def _mean_overall(claims: list[Membership]) -> dict[str, float]:
    """The mean of each overall number over the attacks that have it."""
    names = dict.fromkeys(name for c in claims for name in c.overall)
    return {name: float(np.mean([c.overall[name] for c in claims if name in c.overall])) for name in names}
