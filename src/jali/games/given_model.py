"""A model that already exists, attacked by an adversary who knows all candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Game, Ints, Rng
from jali.games._draws import FEWEST, enough, evenly, positive, set_aside, share_or_none
from jali.games._existing import sides
from jali.games.given_model_offline import GivenModelOffline

HALF = 0.5  # share of the others that is set aside where an attack needs them
LEAST, MOST = 0.3, 0.7  # share of members among the candidates: outside, a record has too few in- or out-shadows


@dataclass(frozen=True)
class GivenModel:
    """The first `members` rows trained a model that exists; the adversary knows all rows, but not which of them did.

    Every candidate, member or not, enters every shadow with the same probability p = members / (members + others). So
    each has shadows trained with it and without it, all about as large as the real training set, and counting shadows
    reveals nothing about membership; classes with fewer than 20 people are drawn apart, so that no shadow goes without
    them. The larger side is subsampled until p lies between .3 and .7; members left out
    that way are not scored and train every shadow, others left out are not used. A share `reference` of the others is
    set aside first: they are asked about, but neither scored nor in a shadow, for attacks that compare with them. Such
    attacks need no shadows, so there `shadows` may be 0.

    The online game of Carlini et al., Membership Inference Attacks From First Principles, S&P 2022, for one model.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = GivenModel(members=40, shadows=3).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> int(game.scored.sum()), game.member.sum(axis=0)
    (100, array([40, 40, 40, 40]))
    """

    members: int
    shadows: int = 32
    reference: float = 0.0

    def __post_init__(self) -> None:
        positive("given_model", "members", self.members)
        share_or_none("given_model", "reference", self.reference)
        positive("given_model", "shadows", self.shadows, least=0 if self.reference else 1)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Keep the given membership of model 0 and draw shadows from all candidates alike."""
        train, others = sides("given_model", data, self.members)
        group = data.group_numbers()
        aside = set_aside(group, self.reference, rng, others)
        rest = others & ~aside
        if self.reference and int(rest.sum()) < FEWEST:
            raise JaliError(
                f"given_model: with {int(aside.sum())} rows set aside, {int(rest.sum())} rows of people outside the "
                f"training data are left to be judged; at least {FEWEST} are needed: give a larger population."
            )
        candidate = _balanced(group, train, rest, rng) if self.shadows else train | rest
        share = float(train[candidate].mean())
        drawn = evenly(data, share, self.shadows, rng, candidate) & candidate[:, None]
        always = train & ~candidate
        member = np.concatenate([train[:, None], drawn | always[:, None]], axis=1)
        shadows = np.ones((1, 1 + self.shadows), dtype=bool)
        shadows[0, 0] = False
        scored = candidate[:, None]
        enough("given_model", data, member, scored)
        asked = None if candidate.all() else np.repeat(scored, 1 + self.shadows, axis=1)
        if asked is not None:
            asked[aside, 0] = True
        return Game(member, np.array([0]), shadows, scored, asked, aside if self.reference else None)

    @property
    def caution(self) -> str:
        """What an audit without shadow models misses."""
        if self.shadows:
            return ""
        return (
            "No shadow models were trained, so records are only compared with people outside the training data: shadow "
            "models find more where they can be trained."
        )

    def offline(self) -> GivenModelOffline:
        """The same model and an adversary without candidates, for attacks that know people who are not scored."""
        return GivenModelOffline(self.members, max(1, self.shadows))

    def with_reference(self) -> GivenModel:
        """The same game with half of the others set aside."""
        return self if self.reference else replace(self, reference=HALF)


def _balanced(group: Ints, train: Bools, others: Bools, rng: Rng) -> Bools:
    """Candidates (N,): both sides, the larger one subsampled until the share of members lies between its limits."""
    members = int(train.sum())
    rest = int(others.sum())
    if members > (members + rest) * MOST:
        return _sampled(group, train, int(rest * MOST / (1 - MOST)), rng) | others
    if members < (members + rest) * LEAST:
        return _sampled(group, others, int(members * (1 - LEAST) / LEAST), rng) | train
    return train | others


def _sampled(group: Ints, side: Bools, most: int, rng: Rng) -> Bools:
    """Random groups of one side (N,) with at most `most` rows together, and at least one group."""
    ids, size = np.unique(group[side], return_counts=True)
    order = rng.permutation(len(ids))
    fit = int((np.cumsum(size[order]) <= most).sum())
    return side & np.isin(group, ids[order][: max(1, fit)])
