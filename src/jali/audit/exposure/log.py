"""A log of explanations as regions: each answer a row, or ranges and sets of values, by recipient and time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Bools, Column, Floats, Ints, Schema
from jali.data.tables import columns
from jali.data.tables.aligned import ENOUGH, GRAIN, TRUTHS, aligned
from jali.data.tables.frames import is_text, label, near

RANGE = re.compile(r"[\[(]?\s*([-+\d.eE]+)\s*(?:\.\.|,|;|to|\N{EN DASH}|-)\s*([-+\d.eE]+)\s*[\])]?")
ANYTHING = ("", "*", "any", "nan", "none")
UNSORTED = "Times are texts that do not begin with yyyy-mm, so answers are replayed in the order of these texts."
PREFIXES = ("answer_", "answer.", "cf_", "counterfactual_")


@dataclass(frozen=True, eq=False)
class Known:
    """The training people (N, D) and the register (R, Q) that a recipient is assumed to hold, on one schema.

    person (N,): whose row it is. quasi (D,): columns of the register.
    """

    schema: Schema
    train: Floats
    person: Ints
    register: Floats
    quasi: Bools


@dataclass(frozen=True, eq=False)
class Log:
    """Answers in the order in which they were sent: regions (m,), the recipient of each as a number, and the time."""

    regions: Regions
    recipient: Ints
    names: tuple[str, ...]
    time: tuple[str, ...]


def known(train: Any, register: Any, quasi: Sequence[str], groups: str) -> tuple[Known, list[str]]:
    """Training people and register on one schema; without a register, it is the training people's own."""
    names = [c for c in train.columns if c != groups]
    if unknown := [q for q in quasi if q not in names or q not in register.columns]:
        raise JaliError(f"quasi: there is no column {unknown[0]!r} in both tables; {near(unknown[0], names)}")
    private = [c for c in names if c not in quasi]
    if not quasi or not private:
        raise JaliError(
            "Name the columns that recipients know of people, and leave some that they do not: --quasi age --quasi sex."
        )
    outer = aligned({"train": train[list(quasi)], "register": register[list(quasi)]}, alike=True)
    if len(outer.schema.columns) < len(quasi):  # without it, people would look less singled out than they are
        raise JaliError(f"quasi: {outer.notes[0]}")
    inner = aligned({"train": train[private]})
    kept = np.intersect1d(outer.at["train"], inner.at["train"])
    X = np.hstack(
        [outer.rows["train"][np.isin(outer.at["train"], kept)], inner.rows["train"][np.isin(inner.at["train"], kept)]]
    )
    schema = Schema((*outer.schema.columns, *inner.schema.columns))
    marked = np.arange(X.shape[1]) < len(outer.schema.columns)
    person = columns.whose(train, groups)[0] if groups else np.arange(len(train))
    return Known(schema, X, person[kept], outer.rows["register"], marked), [*outer.notes, *inner.notes]


def read(log: Any, schema: Schema, time: str, recipient: str) -> tuple[Log, list[str]]:
    """The answers of a log: columns named as in the training table, or with `answer_` before the name."""
    places = {c.name: _answer(c.name, log.columns) for c in schema.columns}
    found = {name: place for name, place in places.items() if place is not None}
    if not found:
        wanted = ", ".join(c.name for c in schema.columns[:5])
        raise JaliError(
            f"The log has no column of answers: name them as in the training table, such as answer_{wanted}."
        )
    for option, column in (("time", time), ("recipient", recipient)):
        if column and column not in log.columns:
            raise JaliError(
                f"{option}: the log has no column {column!r}; {near(column, [str(c) for c in log.columns])}"
            )
    ordered = log if not time else _ordered(log, time)
    given = ordered[[*found.values()]].notna().any(axis=1).to_numpy()
    if not given.any():
        raise JaliError(f"The log has {len(log):,} entries, and none of them holds an answer.")
    some = ordered[given]
    who = some[recipient].map(label) if recipient else some.index.map(lambda _: "everybody")
    names, codes = np.unique(np.asarray(who, dtype=str), return_inverse=True)
    stamps = tuple(str(t) for t in some[time]) if time else ("",) * len(some)
    notes = [] if not time or _sorts(some[time]) else [UNSORTED]
    if missing := [name for name, place in places.items() if place is None]:
        notes.append(f"The log does not show {', '.join(missing[:5])}: answers are taken to say nothing about these.")
    if not given.all():
        notes.append(f"{int((~given).sum()):,} entries of the log have no answer.")
    regions = _regions(some, found, schema)
    notes += _unknown(regions, found)
    return Log(regions, codes.astype(np.int64), tuple(names), stamps), notes


def _unknown(regions: Regions, found: Mapping[str, str]) -> list[str]:
    """Notes on answers with a value that nobody has, so that they fit nobody; raises where all answers are such."""
    notes = []
    for j, column in enumerate(regions.schema.columns):
        if column.name not in found:
            continue
        outside = (regions.low[:, j] > column.high) | (regions.high[:, j] < column.low)
        lost = outside if column.kind != "category" else ~regions.allowed[:, j].any(axis=1)
        if lost.all() and len(regions.low) >= ENOUGH:
            raise JaliError(
                f"Column {found[column.name]!r} of the log has no value in common with {column.name!r} of the training "
                "table: write both in the same way, or leave it out of the log."
            )
        if lost.any():
            notes.append(
                f"{int(lost.sum()):,} answers have a value of {column.name!r} that nobody has, and fit nobody: check "
                "that the log and the training table are written in the same way."
            )
    return notes


def _ordered(log: Any, time: str) -> Any:
    """The log in the order of its times; those that cannot be compared in the order of their texts."""
    try:
        return log.sort_values(time, kind="stable")
    except TypeError:
        return log.sort_values(time, kind="stable", key=lambda times: times.map(str))


def _sorts(times: Any) -> bool:
    """Whether the order of times is that of their values: numbers, dates, and texts that begin with the year."""
    return not is_text(times) or bool(times.dropna().astype(str).str.match(r"\d{4}-\d\d").all())


def _answer(name: str, columns: Any) -> str | None:
    """The column of a log that holds the answers for a column."""
    return next((c for c in (*(f"{prefix}{name}" for prefix in PREFIXES), name) if c in columns), None)


def _regions(log: Any, found: Mapping[str, str], schema: Schema) -> Regions:
    """Every answer as a region: a value, a range or a set; a column that is not shown is left open."""
    m = len(log)
    wide = max([len(c.categories) for c in schema.columns] + [0])
    low = np.full((m, len(schema.columns)), -np.inf)
    high = np.full(low.shape, np.inf)
    allowed = np.ones((*low.shape, wide), dtype=bool)
    for j, column in enumerate(schema.columns):
        if column.name not in found:
            continue
        texts = log[found[column.name]].map(label, na_action="ignore").astype(object)
        cells, place = np.unique(texts.where(texts.notna(), "").astype(str), return_inverse=True)
        if column.kind == "category":
            allowed[:, j] = np.array([_codes(cell, column, wide) for cell in cells.tolist()])[place]
            continue
        ends = np.array([_ends(cell, column) for cell in cells.tolist()])[place]
        low[:, j], high[:, j] = ends[:, 0], ends[:, 1]
    return Regions(low, high, allowed, schema)


def _codes(cell: str, column: Column, wide: int) -> Bools:
    """Which categories a cell allows: one, several as {a, b} or a|b, or all."""
    text = cell.strip()
    if text.lower() in ANYTHING:
        return np.ones(wide, dtype=bool)
    parts = [text] if text in column.categories else re.split(r"\s*[|,;]\s*", text.strip("{}[]"))
    if set(column.categories) <= {"True", "False", ""}:
        parts = [TRUTHS.get(part.lower(), part) for part in parts]
    return np.array([j < len(column.categories) and column.categories[j] in parts for j in range(wide)], dtype=bool)


def _ends(cell: str, column: Column) -> tuple[float, float]:
    """The least and largest number that a cell allows, a little wider than written, for rounding."""
    text = cell.strip()
    slack = GRAIN * max(column.high - column.low, 0.0)
    if text.lower() in ANYTHING:
        return -np.inf, np.inf
    try:
        return float(text) - slack, float(text) + slack
    except ValueError:
        ends = RANGE.fullmatch(text)
    try:
        low, high = (float(ends[1]), float(ends[2])) if ends else (math.nan, math.nan)
    except ValueError:  # such as a date
        low, high = math.nan, math.nan
    if math.isnan(low) or math.isnan(high):
        raise JaliError(f"Column {column.name!r} of the log must hold numbers or ranges such as 30..40.")
    return low - slack, high + slack
