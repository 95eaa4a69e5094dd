"""Why a cell shows no number: a dash with a mark, and one footnote per reason under the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jali.report.words import DASH
from jali.results import Row

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
UNKNOWN = "no reason recorded"


@dataclass(frozen=True)
class Footnotes:
    """The reasons of one table, each once, in the order of its cells."""

    reasons: tuple[str, ...]

    def number(self, row: Row) -> int:
        """Which footnote says why a row has no value, counted from 1."""
        return self.reasons.index(reason(row)) + 1

    def mark(self, row: Row) -> str:
        """The cell of a row without a value, as plain text.

        >>> gone = Row(kind="attack", metric="auc", value=None, reason="3 non-members, 30 needed.")
        >>> of([gone]).mark(gone), of([gone]).lines
        ('–¹', ['¹ 3 non-members, 30 needed.'])
        """
        return DASH + raised(self.number(row))

    @property
    def lines(self) -> list[str]:
        """The footnotes as plain text."""
        return [f"{raised(number)} {text}." for number, text in enumerate(self.reasons, 1)]


def of(rows: Iterable[Row]) -> Footnotes:
    """The footnotes of a table with these rows as its cells."""
    return Footnotes(tuple(dict.fromkeys(reason(row) for row in rows if row.value is None)))


def reason(row: Row) -> str:
    """Why a row has no value, without a full stop."""
    return row.reason.rstrip(".") or UNKNOWN


def raised(number: int) -> str:
    """A number in superscript digits.

    >>> raised(12)
    '¹²'
    """
    return str(number).translate(RAISED)
