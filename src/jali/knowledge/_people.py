"""What a public register contains."""

from __future__ import annotations

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Dataset


def listed(name: str, rows: Dataset) -> Dataset:
    """The quasi-identifiers of rows; labels are zero, and private columns hold a constant of the schema."""
    columns = rows.schema.columns
    if not any(c.role == "quasi" for c in columns):
        raise JaliError(f"{name}: no column is a quasi-identifier; mark those that link a row to a person.")
    kept = np.array([c.role == "quasi" for c in columns])
    blank = np.array([0.0 if c.kind == "category" else c.centre for c in columns])
    return Dataset(np.where(kept, rows.X, blank), np.zeros(len(rows), dtype=np.int64), rows.schema, rows.groups)
