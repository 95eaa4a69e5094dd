"""Explanations for people in a file, from a table and a model that is trained there or imported."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.api.protected import Protected
from jali.api.protection import protect
from jali.core import imports, registry
from jali.core.errors import JaliError
from jali.protect.answers import Answers
from jali.store import write_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TrainingTable:
    """Training rows: the columns beside the target, the labels, and what a named data set knows of itself."""

    rows: Any
    labels: Any
    known: dict[str, Any]


def training_table(data: str, target: str) -> TrainingTable:
    """The rows of a file, or of a named data set with its favourable class, roles and immutable columns."""
    from jali.data.tables import frame_files
    from jali.data.tables.frames import frame, near

    if Path(data).suffix and "(" not in data:
        table = frame_files.read(Path(data).expanduser())
        if target not in table.columns:
            raise JaliError(f"{data} has no column {target!r}; {near(target, list(map(str, table.columns)))}")
        return TrainingTable(table.drop(columns=target), table[target].to_numpy(), {})
    if target:
        raise JaliError(f"The data set {data!r} has its own target: leave --target out.")
    loaded = registry.build("data", data).load()
    schema = loaded.schema
    known: dict[str, Any] = {
        "favourable": None if schema.favourable is None else schema.classes[schema.favourable],
        "quasi": [c.name for c in schema.columns if c.role == "quasi"],
        "immutable": [c.name for c in schema.columns if not c.mutable],
        "sensitive": schema.sensitive or "",
    }
    return TrainingTable(frame(loaded.X, schema), np.array(schema.classes)[loaded.y], known)


def imported_model(text: str) -> Any:
    """A trainer by its specification, or a fitted model that an import path names: an object, or a function of it."""
    if ":" not in text or "(" in text:
        return text
    found = imports.named(text)
    if is_dataclass(found):
        return text
    if not hasattr(found, "predict") and callable(found):
        found = found()
    if not hasattr(found, "predict"):
        raise JaliError(f"{text!r} must be a fitted model with predict, or a function that returns one.")
    return found


def chosen_people(table: pd.DataFrame, row: int | None, where: str) -> pd.DataFrame:
    """The row of this number, counted from 0, or the rows whose column has a value, column=value; else all."""
    from jali.data.tables.frames import near
    from jali.data.tables.schema_files import label

    if row is not None:
        if not 0 <= row < len(table):
            raise JaliError(f"There is no row {row}: rows are counted from 0 to {len(table) - 1}.")
        return table.iloc[[row]]
    if not where:
        return table
    name, equals, value = where.partition("=")
    if not equals or name not in table.columns:
        raise JaliError(f"--where takes column=value, not {where!r}; {near(name, list(map(str, table.columns)))}")
    some = table[[label(v) == value.strip() for v in table[name]]]
    if not len(some):
        raise JaliError(f"No row has this value in column {name!r}.")
    return some


def explain_table(
    table: TrainingTable, people: pd.DataFrame, model: str, method: str, language: str = "en", **options: Any
) -> tuple[Protected, Answers]:
    """Make the explainer and ask it about people; options as in `protect` have precedence over the table's own."""
    given = table.known | {name: value for name, value in options.items() if value not in (None, "", [], {})}
    protected = protect(imported_model(model), (table.rows, table.labels), method, **given)
    return protected, protected.explain(people, language)


def write_answers(answers: Answers, path: Path) -> None:
    """Write answers as .csv or .json."""
    if path.suffix == ".csv":
        write_text(path, answers.to_frame().to_csv(index=True, index_label="row"))
    elif path.suffix == ".json":
        write_text(path, answers.to_json())
    else:
        raise JaliError(f"Answers are written as .csv or .json, not {path.suffix or 'a file without an ending'}.")
