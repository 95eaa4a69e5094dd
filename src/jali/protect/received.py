"""What the files of a protected explainer hold, checked before anything is made of it: somebody may have sent them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from jali.core import files
from jali.core.errors import JaliError
from jali.core.fields import EXACT
from jali.core.values import Schema
from jali.protect.protection import Protection

FORMAT = "jali.protected/1"
ABOUT = "protected.json"
Arrays = Mapping[str, npt.NDArray[Any]]
SCHEMA = TypeAdapter(Schema)


class About(BaseModel):
    """The text beside the arrays: how the explainer was made, for which table, and what it guarantees."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    format: Literal["jali.protected/1"]
    method: str
    grid: dict[str, float]
    table: Schema = Field(alias="schema")
    guarantee: Protection


def read(folder: Path) -> About:
    """The text of a folder; any other file, and one that was damaged or changed, is refused."""
    file = folder / ABOUT
    try:
        given = json.loads(files.content(file))
    except OSError as error:
        raise JaliError(f"Cannot read {file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise JaliError(f"{file} is not valid JSON: {error}.") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise JaliError(f"{file} is no file of format {FORMAT}: give a folder that `save` wrote.")
    claim = given.get("guarantee")
    if isinstance(claim, dict):
        given["guarantee"] = {name: value for name, value in claim.items() if name != "void"}  # follows from the rest
    try:
        about = About.model_validate(given)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise JaliError(f"{file} does not follow {FORMAT} at {where}: make the explainer again.") from None
    if wrong := _wrong(about.table):
        raise JaliError(f"{file} does not follow {FORMAT}: {wrong}; make the explainer again.")
    return about


def _wrong(schema: Schema) -> str:
    """What is wrong with a schema, empty where nothing is."""
    for column in schema.columns:
        if not math.isfinite(column.centre) or not math.isfinite(column.spread) or not column.low <= column.high:
            return f"the scale of column {column.name!r} is no scale"
        ends = [end for end in (column.low, column.high, column.centre) if math.isfinite(end)]
        if column.kind == "integer" and max(map(abs, ends)) > EXACT:
            return f"column {column.name!r} has whole numbers beyond 2^53"
        if column.kind == "category" and not column.categories:
            return f"column {column.name!r} has no categories"
    if len(schema.classes) < 2 or not schema.columns:
        return "there must be two classes and a column"
    if schema.favourable is not None and not 0 <= schema.favourable < len(schema.classes):
        return "the favourable class is none of the classes"
    return ""


def checked(file: Path, arrays: Arrays, kinds: Mapping[str, str]) -> Arrays:
    """The arrays, if each of these is there and of the kind that its letters say, without NaN; one sentence else."""
    for name, kind in kinds.items():
        if name not in arrays:
            raise JaliError(f"{file} lacks the array {name!r}: make the explainer again.")
        array = arrays[name]
        if array.dtype.kind not in kind or (array.dtype.kind == "f" and np.isnan(array).any()):
            raise JaliError(f"{file}: the array {name!r} does not hold what it should: make the explainer again.")
    return arrays
