"""Tables that the user has in memory: the training rows of a model, and a population that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.tables import frames, schema_files

CHECKED = 500  # rows on which the predictions for rebuilt rows are compared with those for the original rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OwnTables:
    """One table of the training rows, followed by the population; arrays get column names x0, x1, …

    quasi, groups and sensitive name columns of it; the groups column is removed, and the model does not read it.
    schema: a schema file, as for `table`, or a mapping of the same form. immutable names columns that cannot change.

    >>> own = OwnTables((np.eye(2), [0, 1]), (np.eye(2), [1, 0]), None)
    >>> own.load().X.shape, own.inputs()
    ((4, 2), 'array')
    """

    train: tuple[Any, Any]
    population: tuple[Any, Any]
    favourable: Any
    quasi: tuple[str, ...] = ()
    groups: str = ""
    sensitive: str = ""
    schema: str | Mapping[str, Any] = ""
    immutable: tuple[str, ...] = ()

    def inputs(self) -> Literal["frame", "array"]:
        """Whether the model was fitted on a pandas table or an array."""
        return "frame" if hasattr(self.train[0], "columns") else "array"

    def like(self) -> frames.Like:
        """The layout of the given rows, for a model that needs the same values and dtypes, with a sample of rows."""
        import pandas as pd

        both = [_table(self.train[0], "train"), _table(self.population[0], "population")]
        whole = pd.concat(both, ignore_index=True)
        read = whole[[column for column in whole.columns if str(column) != self.groups]]
        return frames.Like.of(read, CHECKED)

    def load(self) -> Dataset:
        """Stack both tables and infer one schema for them."""
        import pandas as pd

        names = [str(c) for c in _table(self.train[0], "train").columns]
        target = _free_name(names)
        both = [_frame(*self.train, target, "train"), _frame(*self.population, target, "population")]
        if list(both[0].columns) != list(both[1].columns):
            raise JaliError("train and population must have the same columns in the same order.")
        wanted = "" if self.favourable is None else frames.label(self.favourable)
        return frames.dataset(
            pd.concat(both, ignore_index=True),
            target,
            favourable=wanted,
            quasi=self.quasi,
            immutable=self.immutable,
            groups=self.groups or None,
            sensitive=self.sensitive or None,
            declared=schema_files.given(self.schema),
        )


def pair(given: Any, name: str) -> tuple[Any, Any]:
    """The pair (X, y) as it was given; raises if it is not one."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise JaliError(f"{name} must be a pair (X, y) of rows and their labels.")
    return given[0], given[1]


def _table(X: Any, name: str) -> pd.DataFrame:
    """Rows as a table, with values and dtypes as given."""
    import pandas as pd

    if hasattr(X, "columns"):
        return X.reset_index(drop=True)  # type: ignore[no-any-return]
    array = np.asarray(X)
    if array.ndim != 2:
        raise JaliError(f"{name}: X must have shape (rows, columns), not {array.shape}.")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


def _frame(X: Any, y: Any, target: str, name: str) -> pd.DataFrame:
    table = _table(X, name)
    labels = np.asarray(y)
    if not hasattr(X, "columns"):
        table = table.infer_objects()  # numbers in an array of objects are numbers
    if labels.ndim != 1 or len(table) != len(labels):
        raise JaliError(
            f"{name}=(X, y) must have one label per row; it has {len(table)} rows and y of shape {labels.shape}."
        )
    return table.set_axis([str(c) for c in table.columns], axis=1).assign(**{target: labels})


def _free_name(names: list[str]) -> str:
    """A name for the label column that no other column has."""
    name = "outcome"
    while name in names:
        name += "_"
    return name
