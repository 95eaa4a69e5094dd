"""Combined attack on several signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.attacks._combined.choice import RECORDS, Learnt, learn
from jali.attacks._combined.reading import Tuning
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Floats


@dataclass(frozen=True)
class Joint:
    """The best combination of signals, on the scales that suit the models, chosen on the adversary's own models.

    Some shadow models are set aside; each is judged by the others. On one half of them the scale of each signal is
    chosen (log-odds, probability, arcsine, log loss; logarithm or not) and candidates are fitted; on the other half
    the best candidate is chosen, for each metric by itself. Candidates are sums of the signals' log-likelihood ratios
    (Bernoulli for yes or no), with each record's own shift between in- and out-models, shrunken, and with one shift
    for all; the same in directions in which signals are independent, so that noise they share cancels; a linear
    discriminant and boosted trees on all of these, on products of two signals with a shift for each record, on the
    distance of the whole answer from what out-models answer, and on which signals are exactly zero; and of the baseline
    each signal alone. The baseline's signals are always used.
    Docs: decisions.md has what each of them gives.

    Our own combination; the single tests are those of Carlini et al., S&P 2022, shrunken as in arXiv 2603.11799; the
    directions are Fisher's of 1936.

    Parameters
    ----------
    prior
        How many shadow models the spread common to all records counts for.
    ridge
        Shrinkage of the correlations of signals towards none.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> member, noise = rng.random((200, 9)) < 0.5, rng.normal(size=(200, 9))
    >>> both = np.stack([noise + member, noise])  # the second signal has no shift, but the noise of the first
    >>> seen = np.ones(both.shape, dtype=bool)
    >>> target, shadows = Target(both[:, :, 0], seen[:, :, 0]), Shadows(both[:, :, 1:], seen[:, :, 1:], member[:, 1:])
    >>> score = Joint().score(target, shadows)
    >>> bool(score[member[:, 0]].min() > score[~member[:, 0]].max())
    True
    """

    prior: float = 11.0
    ridge: float = 0.02
    requires: ClassVar[frozenset[str]] = frozenset({"in", "out"})
    many: ClassVar[bool] = True
    learns_from: ClassVar[int] = RECORDS

    def __post_init__(self) -> None:
        if self.prior <= 1:
            raise JaliError(f"joint: prior must be above 1, not {self.prior}: smaller values give it no variance.")
        if not 0 < self.ridge <= 1:
            raise JaliError(f"joint: ridge must lie between 0 and 1, not {self.ridge}.")

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """The combination with the highest AUC on shadow models (N,)."""
        everybody = np.ones((1, shadows.member.shape[1]), dtype=bool)
        [found] = self.learn(shadows, len(target.value), ("auc",)).apply([target], shadows, everybody)
        return found["auc"].score

    def learn(self, shadows: Shadows, base: int, metrics: Sequence[str], known: Learnt | None = None) -> Learnt:
        """Choose by metric how to combine signals, all and the first `base` of them alone.

        known: what was learnt with the same baseline on the same shadow models, whose baseline is used again.
        """
        return learn(shadows, base, metrics, Tuning(self.prior, self.ridge), known)
