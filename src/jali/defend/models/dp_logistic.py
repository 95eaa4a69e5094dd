"""Differentially private logistic regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Constant, Covered, Guarantee, announce
from jali.core.values import Bools, Dataset, Floats, Rng, Schema, frozen
from jali.defend._dp.checks import ROW, bounded, positive
from jali.defend._dp.erm import ENOUGH, EXACT, minimisers
from jali.defend._dp.noise import farthest
from jali.defend._dp.scaling import Frame, frame, labels
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.models.fitted.linear import LinearEnsemble
from jali.privacy.mechanisms import released
from jali.privacy.snapped_noise import EXACTNESS, Settling, ball, longest

SETTLING = 0.01  # the share of epsilon that hides what arithmetic loses


@dataclass(frozen=True)
class DPLogistic:
    """Logistic regression that is epsilon-differentially private in its training rows, under replace-one adjacency.

    Rows are scaled by public constants (see `scaling`), clipped to length `bound` and given a constant one, so none
    is longer than R = sqrt(bound^2 + 1); weights are those of  C sum_i loss_i(w) + ||w||^2 / 2,  every coordinate
    penalised, the intercept too. k = number of weights.

    `output`: w = exact minimiser + b. The objective is 1-strongly convex and a loss has gradients up to R, so replacing
    one record moves the minimiser by at most S = 2 C R, and b has density ~ exp(-epsilon ||b|| / S): uniform direction,
    length Gamma(k, S / epsilon).

    `objective`: w = exact minimiser of  sum_i loss_i(w) + q ||w||^2 / 2 + b.w  with q >= 1 / C and b of density ~
    exp(-e ||b|| / 2R), length Gamma(k, 2R / e). Each w is the minimiser for exactly one b = -q w - sum_i grad
    loss_i(w), so w has the density of b(w) times |det(q I + sum_i hess loss_i(w))|. Replacing a record moves b(w) by at
    most 2R, which costs e. Hessians of a loss are s x x' with 0 <= s <= 1/4; with M the part that both data sets share,
    the determinants have the ratio (1 + s x'M^-1 x) / (1 + t z'M^-1 z) <= 1 + R^2 / (4 q), which costs its logarithm.
    Hence e = epsilon - ln(1 + C R^2 / 4) with q = 1 / C; where that would leave less than half, e = epsilon / 2 and q =
    (R^2 / 4) / (e^(epsilon / 2) - 1). Chaudhuri et al. bound the same ratio by the square, and raise q only where
    nothing is left; for rank-one Hessians one factor is enough.

    Both proofs are about real numbers. What is computed differs from them by a known error, so the weights are rounded
    to a public grid with whole noise that hides this error, for 1 % of epsilon (`Settling`). The proofs above have the
    other 99 %.

    Both guarantees hold in total, for any number of decisions and of explanations that do not read the training rows.
    Both need the exact optimum, so a search that does not reach it is an error. delta is 0. The number of rows, the
    schema and `bound` are assumed to be public.

    Chaudhuri, Monteleoni and Sarwate, JMLR 2011; the defence "DPM" of Huang et al., 2023.

    >>> from jali.core.values import Column
    >>> X = np.linspace(-1, 1, 400)[:, None]
    >>> data = Dataset(X, X[:, 0] > 0, Schema((Column("x", low=-1, high=1),)))
    >>> private = DPLogistic(epsilon=1.0, bound=1.0, C=0.1)
    >>> fitted = private.fit(data, np.ones((400, 1), dtype=bool), [np.random.default_rng(0)])
    >>> bool((fitted.logits(X)[:, 0].argmax(axis=1) == data.y).mean() > 0.9)
    True
    >>> print(private.guarantee())
    epsilon = 1 in total (objective perturbation, replace-one), for decisions and explanations
    """

    epsilon: float
    bound: float = 0.0
    C: float = 1.0
    method: Literal["objective", "output"] = "objective"
    scaling: Literal["bounds", "declared"] = "bounds"
    delta: float = 0.0

    def __post_init__(self) -> None:
        positive("dp_logistic", "epsilon", self.epsilon)
        positive("dp_logistic", "C", self.C)
        bounded("dp_logistic", self.bound)
        if self.delta:
            raise JaliError(
                f"dp_logistic has a pure epsilon guarantee and cannot make use of delta = {self.delta}: leave it out."
            )

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> LinearEnsemble:
        """Train one private model per column of member (N, M); column j draws its noise from rngs[j]."""
        announce("dp_logistic", self.guarantee(), data.schema)
        member = frozen(member, bool, (len(data), len(rngs)), "member")
        models = [self._declared(data.rows(mine), 1, rng) for mine, rng in zip(member.T, rngs, strict=True)]
        return self.frame(data.schema).ensemble(np.concatenate(models))

    def draws(self, data: Dataset, count: int, rng: Rng) -> LinearEnsemble:
        """Independent releases for the same training set, for tests of the guarantee."""
        return self.frame(data.schema).ensemble(self._declared(data, count, rng))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """Epsilon in total, for whatever is computed from the model and not from its training rows.

        With the schema of the data, it is void if constants that it depends on were taken from the rows.
        """
        constants = "centre, spread and categories" if self.scaling == "declared" else "bounds and categories"
        scaled_by: Constant = "scale" if self.scaling == "declared" else "bounds"
        decides: tuple[Constant, ...] = (scaled_by, "categories", "classes")
        covers: tuple[Covered, ...] = ("decisions", "explanations")
        assumes = (
            f"the schema's {constants}, the bound, C and the number of rows are public, not taken from these rows",
            "explanations do not read the training rows again",
            EXACT,
            ROW,
            f"{SETTLING:.0%} of epsilon is spent on exact noise that hides the errors of arithmetic",
        )
        name = f"{self.method} perturbation"
        claim = Guarantee(name, self.epsilon, "replace-one", covers, assumes=assumes, decides=decides)
        return claim.on(schema)

    def plain(self) -> ClippedLogistic:
        """The same fit without noise."""
        return ClippedLogistic(self.bound, self.C, self.scaling)

    @classmethod
    def example(cls, epsilon: float) -> DPLogistic:
        """A part with this epsilon, for tests of the guarantee on standardised columns."""
        return cls(epsilon, bound=1.0, C=0.1)

    def frame(self, schema: Schema) -> Frame:
        """The scaled and clipped rows on which the weights are trained."""
        return frame("dp_logistic", schema, self.bound, self.scaling)

    def weights(self, data: Dataset, count: int, rng: Rng) -> Floats:
        """Released weights (count, P + 1) on the rows of the frame, the intercept last."""
        return self.weights_from(data, count, [rng])

    def weights_from(self, data: Dataset, count: int, rngs: list[Rng]) -> Floats:
        """Released weights (count times streams, P + 1): so many from each stream of random bytes."""
        known = self.frame(data.schema)
        width = len(known.scale) + 1
        settling = self.settling(known, len(data))
        noise = np.concatenate([ball(count, width, self.noise(known, len(data)), rng) for rng in rngs])
        steps = np.concatenate([settling.noise(count, rng) for rng in rngs])
        return settling.settled(self.weights_with(data, noise), steps)

    def weights_with(self, data: Dataset, noise: Floats) -> Floats:
        """The weights (count, P + 1) that noise (count, P + 1) gives, before they are settled."""
        known = self.frame(data.schema)
        y = labels("dp_logistic", data)
        if self.method == "objective":
            return minimisers(known.cut(data.X), y, self._split(known)[1], noise, known.radius)
        return minimisers(known.cut(data.X), y, 1 / self.C, np.zeros_like(noise[:1]), known.radius) + noise

    def noise(self, known: Frame, rows: int) -> float:
        """The scale of the noise b, whose length is Gamma(P + 1, scale)."""
        if self.method == "objective":
            return 2 * known.radius / self._split(known)[0]
        off = 2 * ENOUGH * rows * known.radius  # how far the gradient at the computed minimiser is from zero
        return 2 * self.C * (known.radius + off) / self._spent()

    def settling(self, known: Frame, rows: int) -> Settling:
        """The noise that hides how far computed weights are from those of the proof."""
        width = len(known.scale) + 1
        length = longest(width, self.noise(known, rows))
        error = EXACTNESS * length + 2.0**-50 * self.C * rows * known.radius  # the draw, and its sum with the weights
        if self.method == "objective":
            # The objective is q-strongly convex, so weights are off by the gradient there, divided by q.
            error = (error + 2 * ENOUGH * (rows * known.radius + length)) / self._split(known)[1]
        return Settling(error, SETTLING * self.epsilon, width)

    def error(self, weights: Floats, beta: float, known: Frame, rows: int) -> float:
        """A bound on the distance of released weights (P + 1,) from those without noise, wrong with probability beta.

        For `output` it is a quantile of the length of b. For `objective` the gradient of the plain objective at the
        release is -C (b + (q - 1/C) w), and the objective is 1-strongly convex, so the distance is at most the length
        of that. The noise of settling is added, wrong with a hundredth of beta.
        """
        if beta == 1:
            return 0.0
        length = farthest(0.99 * beta, len(weights), self.noise(known, rows))
        settled = self.settling(known, rows).reach(0.01 * beta)
        if self.method == "output":
            return length + settled
        extra = self._split(known)[1] - 1 / self.C
        return self.C * (length + extra * (float(np.linalg.norm(weights)) + settled)) + settled

    def _declared(self, data: Dataset, count: int, rng: Rng) -> Floats:
        """The weights, released by the declared mechanism."""
        scale = self.noise(self.frame(data.schema), len(data))
        return released("private weights", lambda: self.weights(data, count, rng), scale=scale)

    def _split(self, known: Frame) -> tuple[float, float]:
        """The epsilon left for the noise, e, and the penalty, q."""
        epsilon = self._spent()
        curvature = known.radius**2 / 4
        left = epsilon - math.log1p(self.C * curvature)
        if left >= epsilon / 2:
            return left, 1 / self.C
        return epsilon / 2, curvature / math.expm1(epsilon / 2)

    def _spent(self) -> float:
        """The epsilon of the proof in real numbers: all but what settling takes."""
        return (1 - SETTLING) * self.epsilon
