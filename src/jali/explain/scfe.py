"""SCFE: counterfactuals by gradient search, converged to the nearest point on the decision boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.explain._recourse.feasible import GradientModel, recourse
from jali.explain._recourse.integers import legal, settled, units, with_whole_numbers_held
from jali.explain._recourse.search import Points, cross, leap, nearer, polish, probe
from jali.explain._recourse.task import Task

PENALTY = 0.25  # weight of the cost at the start, relative to the slope of the margin
LOOKS = 3  # rounds of random directions
FEW = 8  # with more mutable columns than this, random directions find nothing nearer


@dataclass(frozen=True)
class SCFE:
    """The nearest row with the wanted outcome that a gradient search finds, for any differentiable model.

    Wachter's search minimises lambda cost(z' - z) + log(1 + exp(-margin(z'))) over the encoded features by Adam, with
    lambda lowered at every step until the outcome flips; margin = logit of the wanted class minus the best other one.
    A Newton search runs as well: it projects z on the boundary of the model linearised at the last point. Both points
    then move along the boundary to the nearest point on it, and the nearer of the two is the answer. Where at most 8
    columns are mutable, all axes and `probes` random directions, the same for all records, are searched for parts of
    the boundary that are nearer still. Whole numbers are rounded away from the record and moved back as far as the
    outcome allows; where other numbers move, too, they are also searched with the whole numbers kept, and with these at
    the nearest units. With whole numbers the answer is near, and not always the nearest. Categories change one at a
    time where that is cheaper than moving numbers alone, or where numbers alone cannot change the outcome. Where no
    class is favourable, all this is done for every other class, and the nearest row of all is the answer.

    cost: "l2", or "l1" for rows that change few columns. steps, lr: number of steps and step size of Adam.

    Wachter, Mittelstadt and Russell, Counterfactual Explanations without Opening the Black Box, 2017.

    >>> from jali.core.encoding import Encoding
    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b")), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 3.0], [0.0, 4.0]]), np.array([0.0, -25.0]))
    >>> rng = np.random.default_rng(0)
    >>> ready = SCFE().prepare(model, schema, None, rng)
    >>> ready.explain(np.zeros((1, 2)), rng).rows.round(2)
    array([[3., 4.]])
    """

    cost: Literal["l1", "l2"] = "l2"
    steps: int = 1000
    lr: float = 0.01
    probes: int = 64
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = False
    wants: ClassVar[Wants] = "gradient"

    def __post_init__(self) -> None:
        if self.cost not in ("l1", "l2") or self.steps < 1 or not self.lr > 0 or self.probes < 0:
            raise JaliError(
                f"scfe: cost must be l1 or l2, steps at least 1, lr above 0, probes at least 0; got {self}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Check that the model has gradients; nothing is fitted, and directions are drawn in `explain`."""
        return _Prepared(self, GradientModel.of("scfe", model, schema))

    def headings(self, movable: Bools, rng: Rng) -> list[Floats]:
        """Directions (K, P) for each round of probing; none where too many columns are movable (P,).

        Every round includes the axes: the nearest outcome may lie along another axis than in the round before.
        """
        if not self.probes or movable.sum() > FEW:
            return []
        axes = np.eye(len(movable))[movable]
        others = np.array_split(rng.normal(size=(self.probes, len(movable))), LOOKS)
        return [np.concatenate([axes, -axes, some]) for some in others]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model."""

    part: SCFE
    searched: GradientModel

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """Counterfactual rows (n, D) where one was found."""
        part, encoding = self.part, self.searched.encoding
        headings = part.headings(encoding.movable(), rng)
        unit = units(encoding)

        def newton(task: Task) -> Points:
            return probe(task, polish(task, *leap(task)), headings, part.steps * part.lr)

        def search(task: Task) -> Points:
            best = polish(task, *cross(task, part.steps, part.lr, PENALTY))
            best = nearer(task, best, polish(task, *leap(task)))
            best = probe(task, best, headings, part.steps * part.lr)
            outward = settled(task, legal(task, best, unit), unit)
            return nearer(task, outward, with_whole_numbers_held(task, best[0], newton, unit))

        return recourse(self.searched, X, part.cost, search)
