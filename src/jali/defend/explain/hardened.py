"""Explanations made coarser, so that attacks on fine detail have less to work with."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jali.anonymity.grid import nice
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Explainer, Explanation, Gives, Prepared, Regions, Wants
from jali.core.protocols import Model, keeps_immutable, releases_rows
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.defend._keys import secret_of
from jali.explain.nice import NICE


@dataclass(frozen=True)
class Hardened:
    """The explainer `inner`, with coarser answers and one answer per question.

    Of attributions: `normalise` divides them by the sum of their sizes, `top` keeps those of so many columns (0: all),
    `round` keeps so many significant digits (0: all), in this order. Of counterfactuals: `snap` moves numbers that
    change further out, to multiples of a round share of the column's spread (0: not), within its bounds; an answer that
    then has another outcome is dropped. `keyed` names a file with a secret key: what is drawn at random for a row comes
    from HMAC(key, row), so that whoever asks again, and in whatever company, gets the same answer, and averaging many
    answers gains nothing.

    This makes attacks harder and is no privacy guarantee: measure it with an attacker whose shadow models go through
    the same wrapper, as every audit does.

    Rounding what an interface returns: Tramèr et al., Stealing Machine Learning Models via Prediction APIs, 2016.

    >>> from jali.core.values import Column
    >>> from jali.explain.kernel_shap import KernelShap
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b"), Column("c")))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 2.0], [0.0, -1.0], [0.0, 0.1]]), np.zeros(2))
    >>> part = Hardened(KernelShap(background=1), round=1, top=2, normalise=True)
    >>> rng = np.random.default_rng(0)
    >>> part.prepare(model, schema, None, rng).explain(np.array([[3.0, 1.0, 1.0]]), rng).value
    array([[ 0.8, -0.1,  0. ]])
    """

    inner: Explainer = field(default_factory=NICE)
    round: int = 0
    top: int = 0
    normalise: bool = False
    snap: float = 0.0
    keyed: str = ""

    def __post_init__(self) -> None:
        if self.round < 0 or self.top < 0 or not 0 <= self.snap < np.inf:
            raise JaliError(
                f"hardened: round, top and snap must be 0 or more, not {self.round}, {self.top} and {self.snap}."
            )

    @property
    def gives(self) -> Gives:
        """As the wrapped explainer."""
        return self.inner.gives

    @property
    def wants(self) -> Wants:
        """As the wrapped explainer."""
        return self.inner.wants

    @property
    def reads_training_data(self) -> bool:
        """As the wrapped explainer."""
        return self.inner.reads_training_data

    def keeps_immutable(self) -> bool:
        """As the wrapped explainer: immutable columns do not change, so they are not moved either."""
        return keeps_immutable(self.inner)

    def releases_rows(self) -> bool:
        """As the wrapped explainer, unless numbers are moved: then no row is shown as it is."""
        return releases_rows(self.inner) and not self.snap

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the wrapped explainer, and read the key."""
        if self.gives == "surrogate":
            raise JaliError("hardened makes attributions and counterfactuals coarser: use k_rules for surrogates.")
        key = secret_of("hardened", self.keyed) if self.keyed else b""
        return _Prepared(self, model, schema, self.inner.prepare(model, schema, train, rng), key)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The wrapper for one model; key: of what is drawn at random, empty where it is drawn anew."""

    part: Hardened
    model: Model
    schema: Schema
    ready: Prepared
    key: bytes

    def explain(self, X: Floats, rng: Rng) -> Explanation:
        """The coarser explanations of raw rows (n, D)."""
        found = self._one_by_one(X) if self.key and len(X) else self.ready.explain(X, rng)
        if isinstance(found, Attribution):
            return Attribution(self.part_of_attributions(found.value))
        if isinstance(found, Counterfactual) and self.part.snap:
            return self._snapped(X, found)
        return found

    def part_of_attributions(self, value: Floats) -> Floats:
        """Attributions (n, P), normalised, of the top columns alone, and rounded."""
        out = np.array(value)
        if self.part.normalise:
            out /= np.maximum(np.abs(out).sum(axis=1, keepdims=True), 1e-300)
        if self.part.top:
            source = Encoding(self.schema).source
            size = np.stack([np.abs(out[:, source == j].sum(axis=1)) for j in range(len(self.schema.columns))], axis=1)
            rank = np.argsort(np.argsort(-size, axis=1, kind="stable"), axis=1)
            out[(rank >= self.part.top)[:, source]] = 0.0
        return rounded(out, self.part.round) if self.part.round else out

    def _snapped(self, X: Floats, found: Counterfactual) -> Counterfactual:
        """Numbers that change, moved outwards to a grid that is public if the schema is."""
        rows = np.array(found.rows)
        for j, column in enumerate(self.schema.columns):
            if column.kind == "category":
                continue
            step = nice(self.part.snap * column.spread)
            step = max(1.0, step) if column.kind == "integer" else step
            up = np.ceil(rows[:, j] / step) * step
            down = np.floor(rows[:, j] / step) * step
            out = np.where(rows[:, j] > X[:, j], up, np.where(rows[:, j] < X[:, j], down, rows[:, j]))
            rows[:, j] = np.clip(out, column.low, column.high)
        before = self.model.logits(found.rows).argmax(axis=1)
        kept = found.found & (self.model.logits(rows).argmax(axis=1) == before)
        return Counterfactual(np.where(kept[:, None], rows, X), kept, origin=found.origin)

    def _one_by_one(self, X: Floats) -> Explanation:
        """Each row explained by itself, with random draws that depend on the key and the row alone."""
        each = [self.ready.explain(x[None], self._draws(x)) for x in X]
        if all(isinstance(one, Attribution) for one in each):
            return Attribution(np.concatenate([one.value for one in each if isinstance(one, Attribution)]))
        some = [one for one in each if isinstance(one, Counterfactual)]
        rows = np.concatenate([one.rows for one in some])
        found = np.concatenate([one.found for one in some])
        origin = None if some[0].origin is None else np.concatenate([np.asarray(one.origin) for one in some])
        return Counterfactual(rows, found, _together([one.regions for one in some], self.schema), origin)

    def _draws(self, x: Floats) -> Rng:
        name = hmac.new(self.key, (x + 0.0).tobytes(), hashlib.sha256).digest()
        return np.random.default_rng(int.from_bytes(name))


def _together(each: Sequence[Regions | None], schema: Schema) -> Regions | None:
    """Regions one after the other; None where there are none."""
    some = [regions for regions in each if regions is not None]
    if len(some) < len(each):
        return None
    low = np.concatenate([regions.low for regions in some])
    high = np.concatenate([regions.high for regions in some])
    return Regions(low, high, np.concatenate([regions.allowed for regions in some]), schema)


def rounded(value: Floats, digits: int) -> Floats:
    """Numbers with so many significant digits.

    >>> rounded(np.array([0.01234, -98.7, 0.0]), 2)
    array([ 1.2e-02, -9.9e+01,  0.0e+00])
    """
    size = np.where(value == 0, 1.0, np.abs(value))
    places = digits - 1 - np.floor(np.log10(size))
    return np.asarray(np.round(value * 10.0**places) / 10.0**places)
