"""Reason codes: the columns that count most, as lenders name them in a letter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Explainer, Gives, Prepared, Wants
from jali.core.protocols import Cautioned, CountsFailures, Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain.kernel_shap import KernelShap
from jali.explain.native.placing import placed

Show = Literal["names", "signs", "values"]


@dataclass(frozen=True)
class ReasonCodes:
    """The `top` columns with the largest attributions of another explainer, in order, and nothing else of them.

    show = "names": the names alone, largest first; the first gets the weight 1, the next (top - 1) / top, and so on.
    show = "signs": the names, and whether each column counts for or against the decision: the same weights with a sign.
    show = "values": the names with their attributions. All other columns get 0. The attributions of the encoded
    features of a category are added up first, because a letter names the column. Columns with an attribution of
    exactly 0 are not named.

    Letters to applicants in the United States name the principal reasons for a denial, usually four (Regulation B, 12
    CFR 1002.9). Name three explainers to see what names, signs and values add over the decision, side by side.

    >>> from jali.core import registry
    >>> registry.spec(registry.build("explain", 'reason_codes(tree_shap, show="signs")'))
    'reason_codes(inner=tree_shap, show="signs")'
    >>> shown(np.array([[0.1, -3.0, 0.0, 2.0]]), 2, "signs")
    array([[ 0. , -1. ,  0. ,  0.5]])
    """

    inner: Explainer = field(default_factory=KernelShap)
    top: int = 4
    show: Show = "names"
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.top < 1:
            raise JaliError(
                f"reason_codes: top, the number of columns that are named, must be at least 1, not {self.top}."
            )
        if self.show not in ("names", "signs", "values"):
            raise JaliError(f'reason_codes: show must be "names", "signs" or "values", not {self.show!r}.')
        if self.inner.gives != "attribution":
            raise JaliError(
                f"reason_codes names the columns of an attribution; this explainer gives {self.inner.gives}s."
            )

    @property
    def caution(self) -> str:
        """The warning of the explainer whose columns are named, if it has one."""
        return self.inner.caution if isinstance(self.inner, Cautioned) else ""

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:
        """Prepare the explainer whose columns are named."""
        mine = train if self.inner.reads_training_data else None
        return _Prepared(self, schema, self.inner.prepare(model, schema, mine, rng))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer of one model, and what is shown of its attributions."""

    part: ReasonCodes
    schema: Schema
    inner: Prepared

    @property
    def failures(self) -> tuple[int, str]:
        """How many rows the explainer could not explain, and why."""
        return self.inner.failures if isinstance(self.inner, CountsFailures) else (0, "")

    def explain(self, X: Floats, rng: Rng) -> Attribution:
        """Weights or attributions (n, P) of the columns named, each at the category that the record has."""
        given = self.inner.explain(X, rng)
        assert isinstance(given, Attribution)
        value = shown(_by_column(given.value, self.schema), self.part.top, self.part.show)
        return Attribution(placed(value, X, self.schema), given.found)


def shown(value: Floats, top: int, show: Show) -> Floats:
    """What is shown (n, D) of attributions (n, D): a weight by rank, with its sign, or the attribution itself."""
    order = np.argsort(-np.abs(value), axis=1, kind="stable")[:, :top]
    chosen = np.take_along_axis(value, order, axis=1)
    weight = np.where(chosen != 0, 1.0 - np.arange(order.shape[1]) / top, 0.0)
    given = {"names": weight, "signs": np.sign(chosen) * weight, "values": chosen}[show]
    out = np.zeros_like(value)
    np.put_along_axis(out, order, given, axis=1)
    return out


def _by_column(value: Floats, schema: Schema) -> Floats:
    """Attributions (n, D) by raw column from those (n, P) by encoded feature, or by raw column already."""
    encoding = Encoding(schema)
    columns = len(schema.columns)
    if value.shape[1] == len(encoding.source):
        return encoding.per_column(value)
    if value.shape[1] != columns:
        raise JaliError(
            f"reason_codes names columns, and the explainer gave {value.shape[1]} numbers per record where the table "
            f"has {columns} columns: give one attribution per column."
        )
    return value
