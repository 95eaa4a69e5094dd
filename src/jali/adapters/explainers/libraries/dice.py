"""The dice_ml library: diverse counterfactual explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from jali.adapters.explainers.callers import DICE
from jali.adapters.explainers.libraries._made import imported, made, required
from jali.adapters.explainers.own import Ready
from jali.adapters.explainers.user_view import TrainedHere, UserView
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Rng, Schema
from jali.data.tables.frames import frame
from jali.data.tables.model_inputs import Rebuilder


@dataclass(frozen=True)
class Dice:
    """Counterfactuals as the dice_ml library finds them: at random, by a genetic algorithm, or among training rows.

    method = "kdtree" shows training rows. It varies the columns that may change. count: counterfactuals per record, of
    which the audit reads the nearest. The library answers where it finds something within its own limits. sparsity: how
    it moves columns back afterwards. Its linear search goes in steps of the last decimal, up to 10,000 of them for each
    row, so numbers with many decimals take minutes; "binary" halves the way each time.

    Mothilal, Sharma and Tan, Explaining Machine Learning Classifiers through Diverse Counterfactual Explanations,
    FAccT 2020.

    >>> Dice(method="genetic").count
    1
    """

    method: Literal["random", "genetic", "kdtree"] = "random"
    count: int = 1
    sparsity: Literal["linear", "binary"] = "linear"
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True
    checked: ClassVar[bool] = False  # the library rounds its answers and does not look again

    def __post_init__(self) -> None:
        if self.count < 1:
            raise JaliError(f"dice: count must be at least 1, not {self.count}.")

    @property
    def caution(self) -> str:
        """What its randomness does to an audit."""
        return "" if self.method == "kdtree" else DICE

    def releases_rows(self) -> bool:
        """Whether it shows training rows."""
        return self.method == "kdtree"

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:  # noqa: ARG002
        """Give the library the training rows and the model."""
        dice_ml = imported("dice_ml", "dice", "dice")
        rows = required("dice", train)
        if schema.favourable is None and len(schema.classes) > 2:
            raise JaliError("dice needs two classes, or a favourable one: name it with --favourable.")
        outcome = _free(schema)
        numbers = [column.name for column in schema.columns if column.kind != "category"]
        table = frame(rows.X, schema).assign(**{outcome: rows.y})
        data = dice_ml.Data(dataframe=table, continuous_features=numbers, outcome_name=outcome)
        thing = TrainedHere(model, schema)
        search = dice_ml.Dice(data, dice_ml.Model(model=thing, backend="sklearn"), method=self.method)
        view = UserView(model, schema, thing, Rebuilder(schema, "frame"), np.arange(len(schema.classes)))
        return made("dice", "counterfactual", view, _Search(search, self, schema), rows)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search of one model, with its settings."""

    search: Any
    asked: Dice
    schema: Schema

    def generate_counterfactuals(self, rows: Any, total_CFs: int, desired_class: Any, verbose: bool) -> Any:  # noqa: ARG002
        """Counterfactuals of rows in the columns that may change."""
        columns = self.schema.columns
        movable = [column.name for column in columns if column.mutable]
        hoped = desired_class if self.schema.favourable is None else self.schema.favourable
        vary = "all" if len(movable) == len(columns) else movable
        return self.search.generate_counterfactuals(
            rows,
            total_CFs=self.asked.count,
            desired_class=hoped,
            features_to_vary=vary,
            posthoc_sparsity_algorithm=self.asked.sparsity,
            verbose=verbose,
        )


def _free(schema: Schema) -> str:
    """A name for the outcome that no column has."""
    name = "outcome"
    while name in {column.name for column in schema.columns}:
        name += "_"
    return name
