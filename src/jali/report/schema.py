"""What was inferred from a user's own table, for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from jali.core import Column, Schema
from jali.report.words import clean


def table(schema: Schema) -> Table:
    """One line per column: kind, legal values, where they come from, whether it can change, and its role.

    >>> table(Schema((Column("age", "integer", 18, 90),))).row_count
    1
    """
    out = Table(box=box.SIMPLE_HEAD, title=Text(f"columns; target: {clean(schema.target)}", style="bold"))
    for head in ("column", "kind", "values", "from", "mutable", "role"):
        out.add_column(head)
    for column in schema.columns:
        source = "the schema file" if column.known == "declared" else "the rows"
        mutable = "yes" if column.mutable else "no"
        cells = (clean(column.name), column.kind, _values(column), source, mutable, column.role)
        out.add_row(*(Text(cell) for cell in cells))
    wanted = "none" if schema.favourable is None else clean(schema.classes[schema.favourable])
    out.caption = Text(f"classes: {', '.join(map(clean, schema.classes))}; favourable: {wanted}")
    return out


def _values(column: Column) -> str:
    if column.kind != "category":
        return f"{column.low:g} to {column.high:g}"
    shown = ", ".join(map(clean, column.categories[:6]))
    return shown + (f", … ({len(column.categories)} in all)" if len(column.categories) > 6 else "")
