"""What people are shown, explainer beside explainer, for a page and for a terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

TITLE = "What people are shown"
NONE = ("withheld", "no answer")  # what stands where there is no explanation


def about(shown: dict[str, Any]) -> str:
    """Whose answers these are, and of which model, in one sentence.

    >>> about({"records": [{}, {}], "hoped": "accept", "model": 3})
    'Target model 3 denies these 2 records the outcome accept.'
    """
    many, hoped = len(shown["records"]), shown["hoped"]
    them = f"these {many} records" if many > 1 else "this record"
    does = f"denies {them} the outcome {hoped}" if hoped else f"predicts {them}; no outcome is marked as favourable"
    return f"Target model {shown['model']} {does}."


def row(record: dict[str, Any]) -> str:
    """A record by the names of its columns, in short.

    >>> row({"cells": {"age": "21", "city": "Lier"}, "more": 10})
    'age 21, city Lier and 10 more columns'
    """
    cells = ", ".join(f"{name} {value}" for name, value in record["cells"].items())
    return f"{cells} and {record['more']} more column{'s' * (record['more'] > 1)}" if record["more"] else cells


def state(record: dict[str, Any]) -> str:
    """What the target knows of a record, and what it says."""
    return f"now {record['now']}, {'trained on it' if record['member'] else 'not trained on it'}"


def leads(record: dict[str, Any], place: int) -> str:
    """Whom an answer leads to and what is learnt of them, as a sentence; empty where that is not known.

    >>> leads({"found": ["fits row 7 alone"]}, 0), leads({}, 0)
    ('It fits row 7 alone.', '')
    """
    found = record.get("found", [])
    return f"It {found[place]}." if place < len(found) and found[place] else ""


def table(shown: dict[str, Any]) -> Table:
    """One row per record, one column per explainer; user text is never read as markup."""
    out = Table(title=Text(TITLE, style="bold"), box=box.SIMPLE_HEAD, show_lines=True)
    out.caption = Text(f"{about(shown)} These are values of people's records.", style="dim")
    for name in ("record", *shown["explainers"]):
        out.add_column(Text(name), overflow="fold", ratio=1)
    for record in shown["records"]:
        head = Text.assemble(f"row {record['record']}, {state(record)}\n", (row(record), "dim"))
        said = [f"{text}\n{leads(record, k)}".strip() for k, text in enumerate(record["said"])]
        out.add_row(head, *map(Text, said))
    return out
