"""The leaky game of a pipeline as released by its authors, for comparison only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.values import Dataset, Game, Rng
from jali.games._draws import positive, proportion
from jali.games._thirds import three_folds


@dataclass(frozen=True)
class PawelczykReleased:
    """The shadows train on the rows that are scored as non-members, as the code released by the authors does.

    For each target the rows are cut into three folds: the target trains on the first, the second holds the
    non-members and is the pool of the shadows, each on a random share of it; the third is not used. A non-member is
    then in most shadows and a member in none, so counting alone recognises members, and a likelihood ratio against
    these shadows measures how well the shadows memorised the non-members. With `most` above 0, at most that many random
    records of each of the two folds are queried and scored; the models are the same. The clean game is `thirds`.

    Pawelczyk, Lakkaraju and Neel, AISTATS 2023 (released pipeline: 5 shadows on 75 % of the test fold).

    >>> import numpy as np
    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = PawelczykReleased(targets=1, shadows=2).draw(LinearGaussian(n=90, d=2).load(), np.random.default_rng(0))
    >>> game.member.sum(axis=0), int(game.scored.sum())
    (array([30, 22, 22]), 60)
    """

    targets: int = 8
    shadows: int = 5
    share: float = 0.75
    most: int = 0
    caution: ClassVar[str] = (
        "The shadows of this game were trained on the records scored as non-members, so counting reveals membership; "
        "its numbers are shown only to compare with published ones."
    )

    def __post_init__(self) -> None:
        positive("pawelczyk_released", "targets", self.targets)
        positive("pawelczyk_released", "shadows", self.shadows)
        proportion("pawelczyk_released", "share", self.share)
        positive("pawelczyk_released", "most", self.most, least=0)

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Cut three folds per target; the shadows come from the second, which is also scored."""
        return three_folds(
            "pawelczyk_released", data, rng, self.targets, self.shadows, self.share, pool=1, most=self.most
        )
