"""Rows arranged for reading: blocks of lines, one line per attack or measure, one cell per metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jali.core.metrics import DECISIONS, GUESSES, metric, position
from jali.core.values import Channel
from jali.report import words
from jali.results import DIFFERENCES, PositiveControl, Results, Row

FEW = 3
LEAST = 20  # members of a subgroup in each target model from which on its rate is drawn and named
QUERIES = "Query attacks"
FOUND, AFTER, MEMBERS = "Who can be found", "Found after so many answers", "Who was a member"
MEANS = "What these attacks had to work with"
CHANNELS = tuple(Channel)
OF_MEMBERSHIP = frozenset(m.name for m in (*GUESSES, *DECISIONS))


@dataclass(frozen=True)
class Line:
    """One attack on one channel: its cells by metric."""

    head: Row
    cells: dict[str, Row] = field(default_factory=dict)

    @property
    def rests(self) -> str:
        """What the numbers rest on: models, guesses, members among them, share with an explanation."""
        rows = list(self.cells.values())
        coverage = next((r.coverage for r in rows if r.coverage is not None), None)
        base = next((r.base_rate for r in rows if r.base_rate is not None), None)
        units, n = max(r.units for r in rows), max(r.n for r in rows)
        parts = [
            f"{units:,} target model{'s' * (units != 1)}" if units else "",
            f"{n:,} {'records' if self.head.kind == 'query attack' else 'guesses'}" if n else "",
            f"{words.whole_percent(base)} members" if base is not None else "",
            f"explained: {words.whole_percent(coverage)}" if coverage is not None else "",
            self.head.guarantee,
        ]
        return " · ".join(p for p in parts if p)

    @property
    def left_out(self) -> str:
        """In how many target models the attack made no use of the explanation, which it chooses by metric.

        >>> auc = Row(kind="contrast", metric="auc", value=0.0, units=4, unchanged=0)
        >>> Line(auc, {"auc": auc, "f1": auc.model_copy(update={"unchanged": 1})}).left_out
        'left out in 0 to 1 of 4 models'
        """
        known = [r for r in self.cells.values() if r.unchanged is not None]
        most = max((r.unchanged or 0 for r in known), default=0)
        least = min((r.unchanged or 0 for r in known), default=0)
        units = max(r.units for r in self.cells.values())
        span = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        return f"left out in {span} of {units:,} models" if most else ""

    @property
    def queries(self) -> str:
        """How many queries a query attack made, empty if none were counted.

        >>> Line(Row(kind="query attack", metric="auc", value=0.5, queries=50_500)).queries
        '50,500 queries per target model'
        """
        many = self.head.queries
        return f"{many:,} {'query' if many == 1 else 'queries'} per target model" if many else ""

    @property
    def strength(self) -> tuple[float, float]:
        """What lines are compared by: the members identified at 1 % false positives, then the AUC."""
        found = [self.cells[m].value if m in self.cells else None for m in ("tpr@0.01", "auc")]
        return (_or_least(found[0]), _or_least(found[1]))


@dataclass(frozen=True)
class Block:
    """Lines that are read together and the metrics they have."""

    title: str
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def rests(self) -> str:
        """What all lines rest on, empty if they differ."""
        found = {line.rests for line in self.lines}
        return found.pop() if len(found) == 1 else ""

    @property
    def name(self) -> str:
        """What to call the block where no explanation gives it a name."""
        audited = not any(line.head.convention for line in self.lines)
        return self.title or ("Prediction only" if audited else "Attacks as recorded")

    @property
    def shown(self) -> tuple[Line, ...]:
        """Combined attacks and, per channel, the strongest attack on a single signal."""
        hidden = {id(line) for line in self.folded}
        return tuple(line for line in self.lines if id(line) not in hidden)

    @property
    def folded(self) -> tuple[Line, ...]:
        """All other attacks on single signals, if there are more than a few."""
        single = [x for x in self.lines if x.head.channel is not None and not x.head.combined]
        best = [max(some, key=lambda x: x.strength) for some in _by_channel(single)]
        rest = tuple(x for x in single if not any(x is b for b in best))
        return rest if len(rest) > FEW else ()


def attacks(results: Results) -> list[Block]:
    """Attack rows by explainer, the prediction alone first; exposure by subgroup has its own figure."""
    rows = results.find(kind="attack", group="", target=None)
    explainers = sorted(dict.fromkeys(r.explainer for r in rows), key=bool)
    return [_block(e, [r for r in rows if r.explainer == e]) for e in explainers]


def rows(lines: Iterable[Line]) -> list[Row]:
    """The rows that are cells of these lines."""
    return [row for line in lines for row in line.cells.values()]


def compared(results: Results, block: Block) -> list[Row]:
    """The rows of a table of paired differences: of each line both of its sides, then the difference."""
    return [row for line in block.lines for row in rows([*sides(results, line), line])]


def glossary(results: Results) -> list[tuple[str, str]]:
    """Labels and definition of each metric that has a row, as the metric table lists them; levels stand together."""
    found: dict[str, list[str]] = {}
    for text in sorted({row.metric for row in results.rows}, key=position):
        found.setdefault(metric(text).says, []).append(metric(text).title)
    return [(", ".join(titles), says) for says, titles in found.items()]


def contrasts(results: Results) -> list[Block]:
    """Paired differences as one block."""
    return _blocks({"": results.find(kind="contrast")})


def availability(results: Results) -> list[Block]:
    """What it adds whether an explanation is given, as one block."""
    return _blocks({"": results.find(kind="availability")})


def control(results: Results, row: Row) -> PositiveControl | None:
    """The positive control of a paired difference, if there is one."""
    mine = [c for c in results.controls if (c.explainer, c.against) == (row.explainer, row.against)]
    return mine[0] if mine else None


def sides(results: Results, line: Line) -> tuple[Line, ...]:
    """The prediction alone and with the explanation, on the people of a paired difference; or neither."""
    found = []
    for channel in (line.head.against, line.head.channel):
        rows = [side(results, row, channel) for row in line.cells.values()]
        cells = {row.metric: row for row in rows if row is not None}
        if not cells:
            return ()
        found.append(Line(next(iter(cells.values())), cells))
    return tuple(found)


def side(results: Results, row: Row, channel: Channel | None) -> Row | None:
    """One side of a paired difference: what the attack achieves with this channel on the same people.

    Without such a row, the attack on everybody serves where everybody was explained.
    """
    same = {name: getattr(row, name) for name in ("attack", "group", "metric")}
    rows = results.find(kind="paired", channel=channel, explainer=row.explainer, against=row.against, **same)
    if rows or not row.n:
        return rows[0] if rows else None
    everybody = results.find(kind="attack", channel=channel, n=row.n, **same)
    about = {"kind": "paired", "explainer": row.explainer, "against": row.against}
    return next((r.model_copy(update=about) for r in everybody if r.explainer in ("", row.explainer)), None)


def alone(results: Results, row: Row) -> list[Row]:
    """What attacks that see the explanation alone achieve on the people of a paired difference, or who got one at all.

    Whether there is an answer is seen of everybody, also of those whom a paired difference leaves out.
    """
    about = {name: getattr(row, name) for name in ("explainer", "group", "metric")}
    given = results.find(kind="attack", channel=Channel.DECISION, target=None, **about)
    return results.find(kind="attack", channel=Channel.EXPLANATION, n=row.n, target=None, **about) + given


def measures(results: Results) -> list[Block]:
    """Quality of the model, then of the explanations."""
    rows = results.find(kind="measure")
    model = [r for r in rows if not r.explainer]
    explained = [r for r in rows if r.explainer]
    return _blocks({"Model": model, "Explanations": explained})


def queries(results: Results) -> list[Block]:
    """What query attacks achieved: whom they find, how many in all, whose membership they infer, any other harm.

    Last comes what attacks on membership had to work with.
    """
    blocks: dict[str, list[Row]] = {title: [] for title in (FOUND, AFTER, MEMBERS)}
    means: list[Row] = []
    for row in results.find(kind="query attack"):
        name = metric(row.metric).name
        if row.learns == "identity":
            blocks[AFTER if name == "coverage" else FOUND].append(row)
        elif row.learns == "membership":
            (blocks[MEMBERS] if name in OF_MEMBERSHIP else means).append(row)
        else:
            blocks.setdefault(f"What is learnt about {row.learns}", []).append(row)
    return _blocks(blocks | {MEANS: means})


def subgroups(results: Results) -> list[tuple[str, list[Row]]]:
    """Attack rows that speak about a subgroup, by what was measured on it, the most exposed first."""
    found: dict[str, list[Row]] = {}
    for row in results.rows:
        if row.kind == "attack" and row.group:
            found.setdefault(_described(row), []).append(row)
    return [(title, sorted(rows, key=lambda row: -_or_least(row.value))) for title, rows in found.items()]


def is_large(row: Row) -> bool:
    """Whether a subgroup has members enough for its rate to be drawn and named; where that is not known, it has."""
    return not row.n or row.n >= LEAST


def targets(results: Results) -> list[Block]:
    """Attack rows that speak about one target model each, by attack."""
    found: dict[str, list[Row]] = {}
    for row in results.rows:
        if row.kind == "attack" and row.target is not None:
            by = f"{row.attack} on {row.signal}" if row.signal else row.attack
            parts = [row.explainer, row.convention or row.channel or "", by]
            found.setdefault(" · ".join(p for p in parts if p), []).append(row)
    return _blocks(found)


def overall(results: Results, row: Row) -> Row | None:
    """The row about everybody that a subgroup's row belongs to."""
    same = ("kind", "explainer", "channel", "signal", "attack", "against", "metric")
    rows = results.find(group="", target=None, **{name: getattr(row, name) for name in same})
    return rows[0] if rows else None


def intervals(rows: Iterable[Row]) -> list[str]:
    """How the intervals were made, each way once."""
    return list(dict.fromkeys(r.interval for r in rows if r.interval))


def pairs(tree: Any, path: str = "") -> list[tuple[str, str]]:
    """A nested dictionary as lines of path and text.

    >>> pairs({"data": {"rows": 48842, "classes": ["no", "yes"]}})
    [('data rows', '48,842'), ('data classes', 'no, yes')]
    """
    if isinstance(tree, dict):
        return [line for k, v in tree.items() for line in pairs(v, f"{path} {k}".strip().replace("_", " "))]
    if isinstance(tree, (list, tuple)) and any(isinstance(v, dict) for v in tree):
        return [line for k, v in enumerate(tree, 1) for line in pairs(v, f"{path} {k}")]
    return [(path, _written(tree))]


def _written(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_written(v) for v in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return words.number(value) if isinstance(value, float) else str(value)


def _described(row: Row) -> str:
    parts = [row.explainer or "prediction only", row.channel or "", row.attack, words.metric_name(row.metric)]
    return " · ".join(p for p in parts if p)


def _blocks(rows: Mapping[str, Sequence[Row]]) -> list[Block]:
    return [_block(title, some) for title, some in rows.items() if some]


def _block(title: str, rows: Sequence[Row]) -> Block:
    lines: list[Line] = []
    for row in rows:
        line = next((x for x in lines if _same(x.head, row) and row.metric not in x.cells), None)
        if line is None:
            line = Line(row)
            lines.append(line)
        line.cells[row.metric] = row
    metrics = sorted(dict.fromkeys(r.metric for r in rows), key=position)
    return Block(title, tuple(metrics), tuple(lines if rows[0].kind in DIFFERENCES else sorted(lines, key=_rank)))


def _same(a: Row, b: Row) -> bool:
    fields = ("explainer", "channel", "signal", "attack", "against", "knowledge", "target", "group", "guarantee")
    return all(getattr(a, name) == getattr(b, name) for name in fields)


def _by_channel(lines: Sequence[Line]) -> list[list[Line]]:
    found: dict[Channel | None, list[Line]] = {}
    for line in lines:
        found.setdefault(line.head.channel, []).append(line)
    return list(found.values())


def _or_least(value: float | None) -> float:
    return -1.0 if value is None else value


def _rank(line: Line) -> int:
    channel = line.head.channel
    return len(CHANNELS) if channel is None else CHANNELS.index(channel)
