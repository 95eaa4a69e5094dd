"""Tables a user holds in memory: the training rows of a model, and a population it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.core import Dataset, JaliError
from jali.data import _frames

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OwnTables:
    """Training rows first, then the population, as one table; arrays get column names x0, x1, …

    >>> own = OwnTables((np.eye(2), [0, 1]), (np.eye(2), [1, 0]), None)
    >>> own.load().X.shape, own.inputs()
    ((4, 2), 'array')
    """

    train: tuple[Any, Any]
    population: tuple[Any, Any]
    favourable: Any

    def inputs(self) -> Literal["frame", "array"]:
        """What the model was fitted on."""
        return "frame" if hasattr(self.train[0], "columns") else "array"

    def like(self) -> Any:
        """A table with all values and dtypes of the columns, for a model that reads tables."""
        import pandas as pd

        if self.inputs() == "array":
            return None
        return pd.concat([self.train[0], self.population[0]], ignore_index=True)

    def load(self) -> Dataset:
        """Stack both parts and infer one schema for them."""
        import pandas as pd

        target = _free_name(self.train[0])
        both = [_frame(*self.train, target, "train"), _frame(*self.population, target, "population")]
        if list(both[0].columns) != list(both[1].columns):
            raise JaliError("train and population must have the same columns in the same order.")
        wanted = "" if self.favourable is None else str(self.favourable)
        return _frames.dataset(pd.concat(both, ignore_index=True), target, favourable=wanted)


def _frame(X: Any, y: Any, target: str, name: str) -> pd.DataFrame:
    import pandas as pd

    labels = np.asarray(y)
    if labels.ndim != 1 or len(X) != len(labels):
        raise JaliError(
            f"{name}=(X, y) must have one label per row; it has {len(X)} rows and y of shape {labels.shape}."
        )
    if hasattr(X, "columns"):
        table: pd.DataFrame = X.reset_index(drop=True)
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise JaliError(f"{name}: X must have shape (rows, columns), not {array.shape}.")
        table = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])
    return table.assign(**{target: labels})


def _free_name(X: Any) -> str:
    """A name for the label that no column has."""
    name = "outcome"
    while name in getattr(X, "columns", ()):
        name += "_"
    return name
