"""`jali.protect`: a protected explainer for a model of your own, or for one that is trained privately."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from jali.api.own_model import Own, given_model
from jali.api.parts import several
from jali.api.protected import Protected
from jali.core import registry
from jali.core.errors import JaliError
from jali.protect.budget import Budget
from jali.protect.making import made
from jali.protect.methods import DEFAULT, method_of

if TYPE_CHECKING:
    from jali.data.tables.in_memory import OwnTables


@runtime_checkable
class Trains(Protocol):
    """What tells a part that trains models from a fitted model, which may be a dataclass too."""

    def fit(self, data: Any, member: Any, rngs: Any) -> Any:
        """See `jali.core.protocols.Trainer`."""


def protect(
    model: Any,
    train: tuple[Any, Any],
    method: Any = DEFAULT,
    population: tuple[Any, Any] | None = None,
    *,
    favourable: Any = None,
    quasi: Sequence[str] = (),
    immutable: Sequence[str] = (),
    bounds: Mapping[str, Any] | None = None,
    grid: Mapping[str, float] | None = None,
    budget: Budget | None = None,
    groups: str = "",
    sensitive: str = "",
    schema: str | Mapping[str, Any] = "",
    seed: int | None = None,
) -> Protected:
    """An explainer of a model that gives less away about the people it was trained on.

    model: your own fitted scikit-learn estimator or pipeline; or a trainer by name, such as "logistic"; or None where
    the method trains a private model. method: "k_groups" (default), "k_anonymous", "mutual", "dp_logistic(…)",
    "dp_sgd(…)", "dp_weights_recourse(…)", "public_direction(…)", "above_threshold(…)", or any explainer by name.
    population: people who were not trained on. immutable: columns that cannot change. bounds: by column, (low, high) of
    numbers or the list of categories, as they are known without the rows; a claim of differential privacy needs them,
    and the classes, schema={"classes": […]}. grid: the width of intervals that are shown, by column. budget: of
    methods that pay for each answer. groups: the column that says whose row it is. sensitive: the column whose groups
    the price is measured for. seed: for studies that must repeat; a release draws from the system.
    """
    own = own_tables(train, population, favourable, quasi, immutable, bounds, groups, sensitive, schema)
    tables = own.tables()
    data = tables.load()
    members = len(np.asarray(tables.train[1]))
    outside = data.rows(np.arange(members, len(data))) if len(data) > members else None
    named = method_of(method, outside, dict(grid or {}))
    return made(Protected, _trainer(model, own, tables), data.rows(np.arange(members)), named, budget, seed)


def own_tables(
    train: Any,
    population: Any,
    favourable: Any,
    quasi: Sequence[str],
    immutable: Sequence[str],
    bounds: Mapping[str, Any] | None,
    groups: str,
    sensitive: str,
    schema: Any,
) -> Own:
    """What the user says of the tables; without a population, there is one without rows."""
    from jali.data.tables.in_memory import pair

    X, y = pair(train, "train")
    nobody = (X.iloc[:0] if hasattr(X, "iloc") else np.asarray(X)[:0], np.asarray(y)[:0])
    declared = _declared(X, bounds or {}, schema)
    columns = several("quasi", quasi), groups, sensitive, declared, several("immutable", immutable)
    return Own((X, y), population or nobody, favourable, *columns)


def _declared(X: Any, bounds: Mapping[str, Any], schema: Any) -> Any:
    """A schema as a mapping, with bounds by column put in; a file stays as it is."""
    if not bounds:
        return schema
    if isinstance(schema, str) and schema:
        raise JaliError("Give bounds in the schema file, or both as mappings: bounds={…}, schema={'classes': […]}.")
    columns = {str(name): _column(X, str(name), given) for name, given in bounds.items()}
    more = dict(schema or {})
    return more | {"columns": dict(more.get("columns", {})) | columns}


def _column(X: Any, name: str, given: Any) -> dict[str, Any]:
    """One column as a schema file declares it; whether a number is whole is read from its dtype."""
    if isinstance(given, Mapping):
        return dict(given)
    values = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(values) >= 1 and all(isinstance(v, str) for v in values):
        return {"kind": "category", "categories": values}
    if len(values) != 2 or any(isinstance(v, str) for v in values):
        raise JaliError(f"bounds: {name!r} must be (low, high) or a list of categories, not {given!r}.")
    whole = hasattr(X, "columns") and name in list(map(str, X.columns)) and _whole(X, name)
    return {"kind": "integer" if whole else "number", "low": values[0], "high": values[1]}


def _whole(X: Any, name: str) -> bool:
    at = list(map(str, X.columns)).index(name)
    return X.iloc[:, at].dtype.kind in "iu"


def _trainer(model: Any, own: Own, tables: OwnTables) -> Any:
    """The model as a trainer: a specification or a part is trained, a fitted model exists already."""
    if model is None:
        return None
    if isinstance(model, str):
        return registry.build("model", model)
    if dataclasses.is_dataclass(model) and isinstance(model, Trains):
        return model
    return given_model(model, own, tables)
