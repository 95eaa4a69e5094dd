"""Answers as a customer reads them, one for each person who asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Answer:
    """One answer: a sentence, and what it says by column.

    row: the nearest row that is said to have the outcome. region: of the columns that change, the interval (low, high)
    or the list of categories. attribution: the share of each column in the score. withheld: why there is no
    explanation, in words that depend on nothing but the row that was asked about; empty where there is one.
    """

    sentence: str
    guarantee: str
    withheld: str = ""
    outcome: str = ""
    row: Mapping[str, Any] | None = None
    region: Mapping[str, Any] | None = None
    attribution: Mapping[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values that JSON can hold."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Answers(Sequence[Answer]):
    """The answers to several people in the order of the rows; people: the labels of the rows, if they had any."""

    items: tuple[Answer, ...]
    people: tuple[Any, ...] = field(default=(), repr=False)

    @overload
    def __getitem__(self, at: int) -> Answer: ...

    @overload
    def __getitem__(self, at: slice) -> Answers: ...

    def __getitem__(self, at: int | slice) -> Answer | Answers:
        if isinstance(at, slice):
            return Answers(self.items[at], self.people[at])
        return self.items[at]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.items)

    @property
    def guarantee(self) -> str:
        """What is guaranteed about all of them."""
        return self.items[0].guarantee if self.items else ""

    def to_frame(self) -> pd.DataFrame:
        """One line per person: the sentence, why it was withheld, and what each column would have to be."""
        import pandas as pd

        lines = [_line(answer) for answer in self.items]
        return pd.DataFrame(lines, index=list(self.people) or None)

    def to_json(self) -> str:
        """All answers as JSON, with what they share said once."""
        kept = [{k: v for k, v in answer.to_dict().items() if k != "guarantee"} for answer in self.items]
        return json.dumps({"guarantee": self.guarantee, "answers": kept}, indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n".join(answer.sentence for answer in self.items)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(answer.sentence)}</li>" for answer in self.items[:20])
        more = f"<p>… and {len(self) - 20} more</p>" if len(self) > 20 else ""
        return f"<ol>{items}</ol>{more}<p><small>{escape(self.guarantee)}</small></p>"


def _line(answer: Answer) -> dict[str, Any]:
    """One answer as a line of a table; an interval is written as text."""
    shown = {name: _cell(value) for name, value in (answer.region or answer.attribution or {}).items()}
    return {"sentence": answer.sentence, "withheld": answer.withheld, "outcome": answer.outcome} | shown


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        low, high = (end if isinstance(end, str) else f"{end:g}" for end in value)
        return low if low == high else f"{low} to {high}"
    return " | ".join(value) if isinstance(value, list) else value
