"""Contraceptive method choice: does a married woman use contraception, and which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from jali.core.values import Dataset
from jali.data.tables import frames, reading
from jali.data.tables.files import Remote

LEVELS = {1: "1 (low)", 2: "2", 3: "3", 4: "4 (high)"}
NAMES = {
    "wife-education": LEVELS,
    "husband-education": LEVELS,
    "wife-religion": {0: "other", 1: "Islam"},
    "wife-working": {0: "yes", 1: "no"},
    "husband-occupation": {1: "1", 2: "2", 3: "3", 4: "4"},
    "living-standard": LEVELS,
    "media-exposure": {0: "good", 1: "not good"},
}
OUTCOMES = {
    "use": {1: "no use", 2: "use", 3: "use"},
    "method": {1: "none", 2: "long-term", 3: "short-term"},
}
COLUMNS = (
    *("wife-age", "wife-education", "husband-education", "children", "wife-religion"),
    *("wife-working", "husband-occupation", "living-standard", "media-exposure", "method"),
)


@dataclass(frozen=True)
class Cmc:
    """Indonesian contraceptive survey of 1987: 1,473 married women, 9 columns, contraception used or not.

    Nothing is dropped or missing; the meaning of the four husband's occupations is not documented. Target "use"
    separates no use (629) from use (844); no use is the favourable class, which is the convention of Goethals et al.
    (2023) and not a judgement. Target "method" keeps none (629), long-term (333) and short-term (511), and no class is
    favourable.

    >>> Cmc(target="method").files[0].path
    'cmc/cmc.data'
    """

    target: Literal["use", "method"] = "use"
    origin: ClassVar[str] = "UCI Machine Learning Repository, Contraceptive Method Choice (Lim 1997)"
    licence: ClassVar[str] = "CC BY 4.0"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "cmc/cmc.data",
            "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/cmc/cmc.data",
        ),
    )

    def load(self) -> Dataset:
        """Read the file and replace its codes by names."""
        return frames.dataset(
            reading.recode(reading.read(self.files[0], COLUMNS), NAMES | {"method": OUTCOMES[self.target]}),
            "method",
            favourable="no use" if self.target == "use" else "",
            quasi=("wife-age", "children"),
            immutable=("wife-age", "wife-religion"),
            sensitive="wife-religion",
        )
