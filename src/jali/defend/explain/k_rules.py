"""Surrogates whose rules each speak of at least k people."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Explainer, Explanation, Gives, Prepared, Surrogate, Wants
from jali.core.protocols import Model, is_local
from jali.core.registry import name_of
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain.native.rows import predictions
from jali.explain.tree_surrogate import TreeSurrogate
from jali.privacy.byte_sources import KeyedRandom
from jali.text.rules import Prunable


@dataclass(frozen=True)
class KRules:
    """The surrogate `inner` (tree_surrogate, trepan, lore), cut back until every rule covers k or more training people.

    Bounds move to the ends of cells with k people (`jali.anonymity.grid`), so that none lies between two people's
    values. A split stays only if k people are on both sides, counted after that, and so are the classes that the model
    predicts for them. The shares of classes in a leaf, and how far a rule holds, are told in twentieths. The rule that
    covers a record in a local surrogate loses conditions until it covers k people, and others that cover fewer are left
    out. Splits are chosen on the training rows as they are: there is no guarantee of differential privacy.

    Trees whose leaves hold k people: Friedman, Wolff and Schuster, Providing k-anonymity in data mining, 2008.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("income", "integer", spread=30, known="observed"),), classes=("denied", "granted"))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.array([0.0, -1.0]))
    >>> train = Dataset(np.repeat(np.arange(5.0, 60.0, 10.0), 10)[:, None], np.zeros(60), schema)
    >>> rng = np.random.default_rng(0)
    >>> made = KRules(TreeSurrogate(), k=10).prepare(model, schema, train, rng).explain(train.X, rng)
    >>> [rule.sentence(schema) for rule in made.models[0].rules()]
    ['If income is at most 29, then denied.', 'If income is at least 30, then granted.']
    """

    inner: Explainer = field(default_factory=TreeSurrogate)
    k: int = 10

    def __post_init__(self) -> None:
        if self.k < 2:
            raise JaliError(f"k_rules: k must be at least 2, not {self.k}.")
        if self.inner.gives != "surrogate":
            raise JaliError(f"k_rules cuts back surrogates (tree_surrogate, trepan, lore), not {name_of(self.inner)}.")

    @property
    def gives(self) -> Gives:
        """Surrogates."""
        return self.inner.gives

    @property
    def wants(self) -> Wants:
        """As the wrapped explainer."""
        return self.inner.wants

    @property
    def reads_training_data(self) -> bool:
        """True: people are counted in the training rows."""
        return True

    @property
    def local(self) -> bool:
        """As the wrapped explainer."""
        return is_local(self.inner)

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the wrapped explainer, and keep the training rows to count people in."""
        if train is None or len(train) == 0:
            raise JaliError("k_rules counts people in the training rows: pass them as train.")
        many = len(np.unique(train.group_numbers()))
        if many < self.k:
            raise JaliError(f"k_rules: k = {self.k} is more than the {many} people trained on: choose a smaller k.")
        ready = self.inner.prepare(model, schema, train, rng)
        return _Prepared(self, ready, train, predictions(model, train.X)[1], rng.bytes(32) if self.local else b"")


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The surrogate of one model; labels (N,): the classes that it predicts for the training rows.

    key: of what a local surrogate draws for a record. Two rules for one question, which cover k people each, can
    have fewer in common; so a question gets one answer, however often and in whatever company it is asked.
    """

    part: KRules
    ready: Prepared
    train: Dataset
    labels: Ints
    key: bytes

    def explain(self, X: Floats, rng: Rng) -> Surrogate:
        """The surrogates of raw rows (n, D), cut back."""
        found = self._one_by_one(X) if self.key and len(X) else self.ready.explain(X, rng)
        if not isinstance(found, Surrogate) or not all(isinstance(model, Prunable) for model in found.models):
            raise JaliError(f"{name_of(self.part.inner)} gives no rules that can be cut back: use trepan or lore.")
        kept = tuple(model.pruned(self.train, self.labels, self.part.k) for model in found.models)  # type: ignore[attr-defined]
        countered = found.countered
        if countered is not None:
            countered = np.array([len(model.rules()) > 1 for model in kept], dtype=bool)
        return Surrogate(kept, found.which, found.found, countered)

    def _one_by_one(self, X: Floats) -> Explanation:
        """Local surrogates of each row by itself, drawn from bytes that the key and the row alone decide."""
        made = [self.ready.explain(x[None], KeyedRandom(self.key + (x + 0.0).tobytes())) for x in X]
        each = [one for one in made if isinstance(one, Surrogate)]
        if len(each) < len(made):
            return made[0]
        start = np.cumsum([0, *(len(one.models) for one in each[:-1])])
        countered = [one.countered for one in each if one.countered is not None]
        return Surrogate(
            tuple(model for one in each for model in one.models),
            np.concatenate([one.which + at for one, at in zip(each, start, strict=True)]),
            np.concatenate([one.found for one in each]),
            np.concatenate(countered) if countered else None,
        )
