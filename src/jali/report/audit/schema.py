"""What was inferred from a user's own table, for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from jali.core.values import Column, Schema
from jali.report.words import clean


def table(schema: Schema, show_values: bool = False) -> Table:
    """One line per column: kind, legal values, where they come from, whether it can change, and its role.

    What was taken from people's rows (extremes, categories, classes) is only counted, unless values are to be shown.

    >>> table(Schema((Column("age", "integer", 18, 90),))).row_count
    1
    """
    out = Table(box=box.SIMPLE_HEAD, title=Text(f"columns; target: {clean(schema.target)}", style="bold"))
    for head in ("column", "kind", "values", "from", "mutable", "role"):
        out.add_column(head)
    for column in schema.columns:
        values = _values(column) if show_values else _outline(column)
        source = "the schema file" if column.known == "declared" else "the rows"
        mutable = "yes" if column.mutable else "no"
        cells = (clean(column.name), column.kind, values, source, mutable, column.role)
        out.add_row(*(Text(cell) for cell in cells))
    classes = ", ".join(map(clean, schema.classes)) if show_values else str(len(schema.classes))
    wanted = "none" if schema.favourable is None else clean(schema.classes[schema.favourable])
    out.caption = Text(f"classes: {classes}; favourable: {wanted}")
    return out


def _outline(column: Column) -> str:
    """The values of a column as far as they show nobody's row.

    >>> _outline(Column("sex", "category", categories=("f", "m"))), _outline(Column("age", "integer", 18, 90))
    ('2 categories', '18 to 90, declared')
    >>> _outline(Column("pay", "number", 812.5, 9120.0, known="observed"))
    'between the extremes observed'
    """
    if column.kind == "category":
        return f"{len(column.categories)} {'category' if len(column.categories) == 1 else 'categories'}"
    return "between the extremes observed" if column.known == "observed" else f"{_values(column)}, declared"


def _values(column: Column) -> str:
    if column.kind != "category":
        return f"{column.low:g} to {column.high:g}"
    shown = ", ".join(map(clean, column.categories[:6]))
    return shown + (f", … ({len(column.categories)} in all)" if len(column.categories) > 6 else "")
