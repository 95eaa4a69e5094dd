"""Counterfactuals by gradient search, at the first crossing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._recourse.legal import Ground, recourse
from jali.explain._recourse.search import Points, cross
from jali.explain._recourse.task import Task
from jali.explain._recourse.whole import legal, units


@dataclass(frozen=True)
class SCFEReleased:
    """The first row with the outcome hoped for on the way of Adam, without any cost: longer than `scfe`.

    Adam on log(1 + exp(-margin(z'))) in model space from the record on, until the wanted class leads. This is what
    the released code of the paper measured, with its step length and budget; its distance is the l1 norm. Two things
    differ: what is not found is said to be so, where the distance travelled was returned, and rows are legal, so whole
    numbers and categories are treated as by `scfe`.

    Pawelczyk, Lakkaraju and Neel, On the Privacy Risks of Algorithmic Recourse, AISTATS 2023.

    >>> import numpy as np
    >>> from jali.core.encoding import Encoding
    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    >>> rng = np.random.default_rng(0)
    >>> ready = SCFEReleased().prepare(model, schema, None, rng)
    >>> ready.explain(np.zeros((1, 2)), rng).rows.round(2)
    array([[3.57, 3.57]])
    """

    steps: int = 1000
    lr: float = 0.005
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "gradient"

    def __post_init__(self) -> None:
        if self.steps < 1 or not self.lr > 0:
            raise JaliError(f"scfe_released: steps must be at least 1 and lr above 0; got {self}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """The model with its gradients; nothing is fitted."""
        return _Prepared(self, Ground.of("scfe_released", model, schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: SCFEReleased
    ground: Ground

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where one was found."""
        part, unit = self.part, units(self.ground.encoding)

        def search(task: Task) -> Points:
            return legal(task, cross(task, part.steps, part.lr, 0.0), unit)

        return recourse(self.ground, X, "l1", search)
