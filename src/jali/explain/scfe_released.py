"""SCFE as released by the authors of an attack: counterfactuals at the first crossing of the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.explain._recourse.feasible import GradientModel, recourse
from jali.explain._recourse.integers import legal, units
from jali.explain._recourse.search import Points, cross
from jali.explain._recourse.task import Task


@dataclass(frozen=True)
class SCFEReleased:
    """The first row with the wanted outcome on the path of Adam, without a distance penalty: further than `scfe`.

    Adam minimises log(1 + exp(-margin(z'))) over the encoded features, starting at the record, until the wanted class
    has the highest score. This is what the code released by the authors measures, with its step size and number of
    steps; its distance is the l1 norm. Two things differ here: a record without an answer is reported as not found
    (their code returns the distance travelled), and rows are legal, so whole numbers and categories are treated as in
    `scfe`.

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
        """Check that the model has gradients; nothing is fitted."""
        return _Prepared(self, GradientModel.of("scfe_released", model, schema))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: SCFEReleased
    searched: GradientModel

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where one was found."""
        part, unit = self.part, units(self.searched.encoding)

        def search(task: Task) -> Points:
            return legal(task, cross(task, part.steps, part.lr, 0.0), unit)

        return recourse(self.searched, X, "l1", search, one_class=True)
