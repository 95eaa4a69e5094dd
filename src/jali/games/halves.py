"""A few target models, and shadow models that all of them share, each trained on a random half of the records."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import REFERENCE, enough, positive, proportion, set_aside, share_or_none, subsets


@dataclass(frozen=True)
class Halves:
    """A few targets and a pool of shadows for all of them, each trained on an independent share of the rows.

    Shadows could be balanced, so that each record is in exactly half of them. But then counting over the other shadows
    reveals who is in one of them, and an attack that is tuned on shadow models learns to count (measured: AUC .64 where
    independent shadows give .66). So every column is drawn independently. A share `reference` of the people is set
    aside first: in no training set and not scored, for attacks that compare with them.

    Carlini et al., Membership Inference Attacks From First Principles, S&P 2022 (the online game).

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Halves(targets=2, shadows=4).draw(LinearGaussian(n=40, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), game.targets
    (array([20, 20, 20, 20, 20, 20]), array([0, 1]))
    """

    targets: int = 8
    shadows: int = 32
    share: float = 0.5
    reference: float = 0.0

    def __post_init__(self) -> None:
        positive("halves", "targets", self.targets)
        positive("halves", "shadows", self.shadows, least=2)
        proportion("halves", "share", self.share)
        share_or_none("halves", "reference", self.reference)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw all columns; everybody who is not set aside is scored under every target."""
        models = self.targets + self.shadows
        group = data.group_numbers()
        aside = set_aside(group, self.reference, rng)
        member = subsets(group, self.share, models, rng, ~aside)
        attacked = np.arange(models) < self.targets
        shadows = np.broadcast_to(~attacked, (self.targets, models))
        scored = np.repeat(~aside[:, None], self.targets, axis=1)
        enough("halves", data, member, scored)
        if not self.reference:
            return Game(member, np.arange(self.targets), shadows, scored)
        return Game(member, np.arange(self.targets), shadows, scored, ~aside[:, None] | attacked, aside)

    def with_reference(self) -> Halves:
        """The same game with people set aside."""
        return self if self.reference else replace(self, reference=REFERENCE)
