"""Differentially private explainable boosting machines."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, announce
from jali.core.protocols import Trainer
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.data.tables.model_inputs import Rebuilder
from jali.defend._dp.checks import ROW, positive
from jali.models.fitted.estimator import Several
from jali.models.fitted.membership_check import checked
from jali.models.logistic import Logistic
from jali.privacy.byte_sources import SystemRandom

ASSUMES = (
    "bounds, categories and classes are public, and so is that both classes occur in the training rows",
    "explanations do not read the training rows again",
    ROW,
    "the library (interpret-core) draws its own noise, in double precision; its proof and code are trusted",
)


@dataclass(frozen=True)
class DPEBM:
    """A sum of one function per column, boosted with noise, so that it is (epsilon, delta)-private.

    The score is intercept + sum_j f_j(x_j), f_j a step function over bins of one column, so what each column adds to a
    score is exact, and free: explanations and recourse that read the model alone are covered. The implementation is
    interpret-core's, with bins between the declared bounds; `rounds` of boosting over all columns, `bins` a column.
    Two classes only. `rate` is the learning rate, whose scale the noise follows. Noise is drawn by the library: from
    the system's random bytes in a release, and from a seed in studies. So `jali verify` can test the claim by draws,
    but cannot hold the noise fixed: its data-dependence check does not apply.

    Nori et al., Accuracy, Interpretability, and Differential Privacy via Explainable Boosting, ICML 2021.

    >>> DPEBM(epsilon=1.0).guarantee().delta
    1e-06
    """

    library: ClassVar[str] = "interpret-core"

    epsilon: float
    delta: float = 1e-6
    rounds: int = 300
    bins: int = 32
    rate: float = 0.01

    def __post_init__(self) -> None:
        positive("dp_ebm", "epsilon", self.epsilon)
        positive("dp_ebm", "rate", self.rate)
        if not 0 < self.delta < 1 or self.rounds < 1 or self.bins < 2:
            raise JaliError(
                "dp_ebm: delta must be between 0 and 1, rounds at least 1 and bins at least 2, not "
                f"{self.delta}, {self.rounds} and {self.bins}."
            )

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Several:
        """Train one private model per column of member (N, M); column j is seeded from rngs[j]."""
        announce("dp_ebm", self.guarantee(), data.schema)
        member = checked(data, member, rngs)
        return Several([self._one(data.rows(mine), rng) for mine, rng in zip(member.T, rngs, strict=True)])

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """Epsilon and delta in total, for whatever is computed from the model and not from its training rows."""
        covers = ("decisions", "explanations")
        claim = Guarantee(
            "Gaussian noise on sums of boosting",
            self.epsilon,
            "add-remove",
            covers,  # type: ignore[arg-type]
            delta=self.delta,
            assumes=ASSUMES,
            decides=("bounds", "categories", "classes"),
        )
        return claim.on(schema)

    @classmethod
    def example(cls, epsilon: float) -> DPEBM:
        """A quick one with large steps, which one record moves most."""
        return cls(epsilon, rounds=20, bins=8, rate=2.0)

    def plain(self) -> Trainer:
        """A model without noise, for choosing queries."""
        return Logistic()

    def released(self, data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
        """Score, noisy count and their product at the query, by column, and the intercept, of `count` models.

        The functions divide sums by noisy counts of rows, which the model shows too; in the product they cancel.
        """
        made = [self._one(data, np.random.default_rng(rng.integers(2**63))) for _ in range(count)]
        return np.stack([model.shown(query) for model in made])

    def _one(self, rows: Dataset, rng: Rng) -> EBMModel:
        schema = rows.schema
        if len(schema.classes) != 2:
            many = len(schema.classes)
            raise JaliError(f"dp_ebm needs exactly two classes, and this table has {many}: merge classes.")
        if holes := [c.name for c in schema.columns if c.missing]:
            raise JaliError(
                f"dp_ebm cannot bin missing numbers privately, and column {holes[0]!r} has some: fill them in."
            )
        bounds = {c.name: (c.low, c.high) for c in schema.columns if c.kind != "category"}
        if not all(np.isfinite(pair).all() for pair in bounds.values()):
            raise JaliError("dp_ebm needs finite public bounds of every number: give low and high in the schema.")
        estimator = _library()(
            feature_names=[c.name for c in schema.columns],
            feature_types=["nominal" if c.kind == "category" else "continuous" for c in schema.columns],
            privacy_bounds=bounds,
            max_bins=self.bins,
            max_rounds=self.rounds,
            learning_rate=self.rate,
            epsilon=self.epsilon,
            delta=self.delta,
            n_jobs=1,
            random_state=None if isinstance(rng, SystemRandom) else int(rng.integers(2**31 - 1)),
        )
        feed = Rebuilder(schema, "frame")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of every seed, and of what it cannot know about bounds
            estimator.fit(feed(rows.X), rows.y)
        return EBMModel(Encoding(schema), estimator, feed)


class EBMModel:
    """One fitted machine; `terms` are what its columns add to the score of class 1."""

    def __init__(self, encoding: Encoding, estimator: Any, feed: Rebuilder) -> None:
        self.encoding = encoding
        self.estimator = estimator
        self.feed = feed

    @property
    def name(self) -> str:
        """The name for messages."""
        return "dp_ebm"

    def terms(self, X: Floats) -> Floats:
        """What each column (n, D) of raw rows (n, D) adds to the score of class 1."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.estimator.eval_terms(self.feed(X)), dtype=np.float64)

    def shown(self, query: Floats) -> Floats:
        """What the model says at one row (1, D): terms, noisy counts of their bins, products, and the intercept."""
        intercept = float(np.ravel(self.estimator.intercept_)[0])
        term = self.terms(query)[0]
        score = term + intercept / len(term)
        scores = [np.asarray(each) for each in self.estimator.term_scores_]
        near = [int(np.abs(known - value).argmin()) for known, value in zip(scores, term, strict=True)]
        counts = np.array([weights[at] for weights, at in zip(self.estimator.bin_weights_, near, strict=True)])
        return np.concatenate([score, counts, score * counts, [intercept]])

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, 2) of raw rows (n, D), opposite to each other."""
        score = self.terms(X).sum(axis=1) + float(np.ravel(self.estimator.intercept_)[0])
        return np.stack([-score, score], axis=1) / 2


def _library() -> Any:
    try:
        from interpret.privacy import DPExplainableBoostingClassifier
    except ImportError:
        raise JaliError("dp_ebm needs interpret-core: pip install 'jali-audit[glassbox]'.") from None
    return DPExplainableBoostingClassifier
