"""Tables that the user has in memory: the training rows of a model, and a population that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.tables import frames, schema_files
from jali.data.tables.outcomes import SIDES, Cut

CHECKED = 500  # rows on which the predictions for rebuilt rows are compared with those for the original rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OwnTables:
    """One table of the training rows, followed by the population; arrays get column names x0, x1, …

    quasi, groups and sensitive name columns of it; the groups column is removed, and the model does not read it.
    schema: a schema file, as for `table`, or a mapping of the same form. immutable names columns that cannot change.
    cut: of the numbers that a regression model predicts; the classes are then its two sides, and the data have the
    numbers as `outcome`.

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
    cut: Cut | None = None

    def inputs(self) -> Literal["frame", "array"]:
        """Whether the model was fitted on a pandas table or an array."""
        return "frame" if hasattr(self.train[0], "columns") else "array"

    def like(self) -> frames.Like:
        """The layout of the given rows, for a model that needs the same values and dtypes, with a sample of rows."""
        whole = _stacked(_table(self.train[0], "train"), _table(self.population[0], "population"))
        return frames.Like.of(self._read(whole), CHECKED)

    def sample(self) -> tuple[Any, Any]:
        """The first training rows as the model reads them, and their labels."""
        rows = self._read(_table(self.train[0], "train")).head(CHECKED)
        return rows if self.inputs() == "frame" else rows.to_numpy(copy=True), np.asarray(self.train[1])[:CHECKED]

    def class_labels(self, given: Sequence[Any] = ()) -> list[Any]:
        """The labels as users write them, in the order of a model's answers: as given, or in ascending order."""
        found = {frames.label(v): v for pair in (self.train, self.population) for v in np.unique(np.asarray(pair[1]))}
        if not given:
            return [found[name] for name in _ascending(found)]
        names = [frames.label(v) for v in given]
        if set(names) != set(found) or len(names) != len(found):
            raise JaliError(f"classes must name each class of y once, {', '.join(found)}, not {', '.join(names)}.")
        return [found[name] for name in names]

    def _in_order(self, data: Dataset, cut: Cut) -> Dataset:
        """The data with the classes in the order of the numbers, not of their names."""
        if data.schema.classes == cut.classes:
            return data
        hoped = data.schema.favourable
        schema = replace(data.schema, classes=cut.classes, favourable=None if hoped is None else 1 - hoped)
        return replace(data, y=1 - data.y, schema=schema)

    def _read(self, table: pd.DataFrame) -> pd.DataFrame:
        """The columns that the model reads."""
        return table[[column for column in table.columns if str(column) != self.groups]]

    def load(self) -> Dataset:
        """Stack both tables and infer one schema for them."""
        names = [str(c) for c in _table(self.train[0], "train").columns]
        target = _free_name(names)
        whole = _stacked(_frame(*self.train, target, "train"), _frame(*self.population, target, "population"))
        if self.cut is None:
            return self._dataset(whole, target, "" if self.favourable is None else frames.label(self.favourable))
        values = whole[target].to_numpy(np.float64)
        cut = self.cut
        hoped = cut.classes[SIDES[cut.favourable]] if cut.favourable else ""
        data = self._dataset(whole.assign(**{target: cut.names(values)}), target, hoped)
        return self._in_order(replace(data, outcome=cut.scaled(values)), cut)

    def _dataset(self, table: pd.DataFrame, target: str, wanted: str) -> Dataset:
        return frames.dataset(
            table,
            target,
            favourable=wanted,
            quasi=self.quasi,
            immutable=self.immutable,
            groups=self.groups or None,
            sensitive=self.sensitive or None,
            declared=schema_files.given(self.schema),
            own=True,
        )


def pair(given: Any, name: str) -> tuple[Any, Any]:
    """The pair (X, y) as it was given; raises if it is not one."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise JaliError(f"{name} must be a pair (X, y) of rows and their labels.")
    X = _pandas(given[0], name)
    _check_order(X, given[1], name)
    rows, labels = _table(X, name), np.asarray(given[1])
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(rows) != len(labels):
        raise JaliError(
            f"{name}=(X, y) must have one label per row; it has {len(rows)} rows and y of shape {labels.shape}."
        )
    if absent := _missing(labels):
        raise JaliError(f"y of {name} has missing labels in {absent} of {len(labels)} rows: leave these rows out.")
    return X, labels


def _pandas(X: Any, name: str) -> Any:
    """Rows as they were given, those of polars and other libraries of tables as a pandas table."""
    import pandas as pd

    if isinstance(X, pd.DataFrame) or not hasattr(X, "columns"):
        return X
    try:
        return X.to_pandas()
    except (AttributeError, ImportError) as error:
        raise JaliError(
            f"{name}: X is a {type(X).__module__.partition('.')[0]} table, and a pandas table or an array was expected "
            f"({error}): convert it first, for example with X.to_pandas()."
        ) from None


def _check_order(X: Any, y: Any, name: str) -> None:
    """Refuse labels with the index of the rows in another order: by place they would belong to other people."""
    import pandas as pd

    if not isinstance(X, pd.DataFrame) or not isinstance(y, pd.Series | pd.DataFrame) or X.index.equals(y.index):
        return
    if X.index.is_unique and len(X) == len(y) and not len(X.index.symmetric_difference(y.index)):
        raise JaliError(
            f"{name}=(X, y): y has the index of X in another order, and labels are read by their place: give "
            "y.loc[X.index], or y.to_numpy() if the places are right."
        )


def _missing(labels: Any) -> int:
    import pandas as pd

    return int(pd.isna(labels).sum())


def alike(train: Any, population: Any) -> Any:
    """The rows of the population with the columns in the order of the training rows.

    Tables with other columns are refused, and columns that are numbers in one and text in the other.
    """
    first, second = _table(train, "train"), _table(population, "population")
    names = [str(c) for c in first.columns]
    if hasattr(train, "columns") != hasattr(population, "columns"):
        table, array = ("train", "population") if hasattr(train, "columns") else ("population", "train")
        raise JaliError(
            f"{table} is a table and {array} an array: give both in the form that the model was fitted on, for example "
            f"pd.DataFrame(X, columns=…) for {array}."
        )
    _check_names(names)
    if hasattr(train, "columns") and set(first.columns) == set(second.columns):
        population = population[list(first.columns)]
        second = _table(population, "population")
    if names != [str(c) for c in second.columns]:
        lacking = [n for n in names if n not in [str(c) for c in second.columns]]
        more = (
            f"population lacks {lacking[0]!r}" if lacking else f"population has {len(second.columns) - len(names)} more"
        )
        raise JaliError(f"train and population must have the same columns: {more}.")
    for j, name in enumerate(names):
        mine, theirs = first.iloc[:, j], second.iloc[:, j]
        if frames.is_text(mine) != frames.is_text(theirs):
            raise JaliError(
                f"Column {name!r} has type {mine.dtype} in train and {theirs.dtype} in population: give both the type "
                "that the model was fitted on."
            )
    return population


def _check_names(names: list[str]) -> None:
    """Refuse two columns of one name: nobody could tell which of them an answer is about."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise JaliError(f"train has {names.count(twice[0])} columns called {twice[0]!r}: give each a name of its own.")


def _table(X: Any, name: str) -> pd.DataFrame:
    """Rows as a table, with values and dtypes as given."""
    import pandas as pd

    if hasattr(X, "columns"):
        return X.reset_index(drop=True)  # type: ignore[no-any-return]
    array = np.asarray(X.toarray() if hasattr(X, "toarray") else X)  # sparse matrices of scipy
    if array.ndim != 2:
        raise JaliError(f"{name}: X must have shape (rows, columns), not {array.shape}.")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


def _frame(X: Any, y: Any, target: str, name: str) -> pd.DataFrame:
    table = _table(X, name)
    if not hasattr(X, "columns"):
        table = table.infer_objects()  # numbers in an array of objects are numbers
    return table.set_axis([str(c) for c in table.columns], axis=1).assign(**{target: np.asarray(y)})


def _stacked(train: pd.DataFrame, population: pd.DataFrame) -> pd.DataFrame:
    """Both tables, one below the other. A pandas category of the training rows stays one, with all values of both.

    Left to pandas, it would become text as soon as the population has a value of its own.
    """
    import pandas as pd

    train, population = train.copy(deep=False), population.copy(deep=False)
    for name in train.columns:
        dtype = train[name].dtype
        if not isinstance(dtype, pd.CategoricalDtype) or population[name].dtype == dtype:
            continue
        more = [v for v in population[name].dropna().unique() if v not in dtype.categories]
        whole = pd.CategoricalDtype([*dtype.categories, *more], dtype.ordered)
        train[name], population[name] = train[name].astype(whole), population[name].astype(whole)
    return pd.concat([train, population], ignore_index=True)


def _ascending(found: Mapping[str, Any]) -> list[str]:
    """Names of labels in the order of the labels, or of their names where labels cannot be compared."""
    try:
        return sorted(found, key=lambda name: found[name])
    except TypeError:
        return sorted(found)


def _free_name(names: list[str]) -> str:
    """A name for the label column that no other column has."""
    name = "outcome"
    while name in names:
        name += "_"
    return name
