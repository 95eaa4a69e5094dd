"""Where a claim stands in its paper: the table or figure, and the names of its row and column."""

from __future__ import annotations

import re

from jali.reproduce.numbers import word
from jali.reproduce.schema import MODEL, Table

NAMED = re.compile(r"\b(Table|Figure)s? (\d+)[a-z]?(?: and (\d+))?")


def items_in(text: str) -> list[str]:
    """The tables or figures that a text names first.

    >>> items_in("Figures 4 and 5: Adult"), items_in("Figure 2b, shadows as released"), items_in("Section 6")
    (['Figure 4', 'Figure 5'], ['Figure 2'], [])
    """
    found = NAMED.search(text)
    return [] if found is None else [f"{found.group(1)} {number}" for number in found.groups()[1:] if number]


def item_of(source: str) -> str:
    """The first table or figure that a source names, empty if it names none.

    >>> item_of("Section 6.2, Table 2"), item_of("Section 6")
    ('Table 2', '')
    """
    return next(iter(items_in(source)), "")


def row_of(table: Table, study: str, method: str, metric: str) -> str:
    """What the paper calls the row of a number; without names of its own, the study and the method."""
    if not table.rows and not table.columns:
        return study if method == MODEL else f"{study}, {method}"
    return _named(table.rows, study, method, metric)


def column_of(table: Table, study: str, method: str, metric: str) -> str:
    """What the paper calls the column of a number; without names of its own, the metric."""
    if not table.rows and not table.columns:
        return word(metric)
    return _named(table.columns, study, method, metric)


def _named(names: dict[str, str], study: str, method: str, metric: str) -> str:
    """The names of study, method and metric, in this order; a name for the place replaces those of its two parts."""
    place = f"{study} / {method}"
    parts = (place, metric) if place in names else (study, method, metric)
    return ", ".join(names[name] for name in parts if names.get(name))
