"""What a released set gives away, as a short page."""

from __future__ import annotations

from jali.audit.released_sets.attack import CHANCE
from jali.audit.released_sets.scores import TITLES
from jali.core.metrics import metric
from jali.report import words
from jali.report.sheet import Block, Sheet
from jali.results import Row
from jali.results.released import Matches, ReleasedSet

METRICS = ("auc", "tpr@0.01", "tpr@0.001")


def sheet(found: ReleasedSet) -> Sheet:
    """The page of an attack on a released set."""
    blocks = [_attacks(found), _matches(found.matches), _coverage(found)]
    return Sheet("Released counterfactuals", answer(found), points(found), blocks, notes(found), found.jali)


def answer(found: ReleasedSet) -> str:
    """The answer in one sentence: what the strongest attack achieved, with its interval."""
    row = next((row for row in found.best if not row.group), None)
    if row is None or row.value is None or row.low is None or row.high is None:
        return "There are too few people to say what the release gives away."
    if not found.judged and row.metric != "auc":
        return _compared(row)
    who = "training members" if found.judged else "candidates"
    span = f"95 % interval {words.number(row.low)} to {words.number(row.high)}"
    leaks = row.low > CHANCE[row.metric]
    if row.metric == "auc":
        verb = "separates" if leaks else "does not clearly separate"
        others = "non-members" if found.judged else "people of the reference"
        return f"Nearness to the released rows {verb} {who} from {others}: AUC {words.number(row.value)} ({span})."
    share = f"{words.percent(row.value)} % ({_span(row)})"
    if leaks:
        return f"From the released rows alone, {share} of the {who} are recognised with {words.price(row.metric)}."
    return (
        f"No attack tried recognises clearly more {who} than chance from the released rows: {share} "
        f"with {words.price(row.metric)}."
    )


def _compared(row: Row) -> str:
    """The answer where nobody's membership is known."""
    share = f"{words.percent(row.value or 0.0)} % ({_span(row)})"
    near = "nearer to the released rows than 99 of 100 people of the reference"
    if row.low is not None and row.low > CHANCE[row.metric]:
        return f"{share} of the candidates are {near}; by chance it would be 1 %."
    return f"The candidates are not clearly nearer to the released rows than the reference: {share} are {near}."


def points(found: ReleasedSet) -> list[str]:
    """What stands beside the answer: exact matches, and the class that fares worst."""
    out = [_matched(found.matches)]
    group = next((row for row in found.best if row.group), None)
    if group is None or group.value is None or group.low is None or group.high is None:
        return out
    if group.metric == "auc":
        span = f"95 % interval {words.number(group.low)} to {words.number(group.high)}"
        return [*out, f"Among people of class {group.group} alone the AUC is {words.number(group.value)} ({span})."]
    share = f"{words.percent(group.value)} % ({_span(group)})"
    return [*out, f"Of the members of class {group.group} alone, {share} are recognised."]


def notes(found: ReleasedSet) -> list[str]:
    """Limits of what was measured."""
    how = {row.interval for row in found.rows if row.interval}
    gaps = dict.fromkeys(row.reason for row in found.rows if row.reason and not row.group)
    return [
        *found.notes,
        *gaps,
        "The numbers hold for the attacks listed, and say nothing about attacks that were not tried.",
        "Intervals of the sentences are corrected for choosing the strongest attack, metric and class."
        + (f" Intervals: {'; '.join(sorted(how))}." if how else ""),
    ]


def _matched(found: list[Matches]) -> str:
    """Exact matches beside those of people who cannot be the reason."""
    first, *others = found
    if not first.exact and not any(m.exact for m in others):
        return f"None of the {first.n:,} {first.who} has their exact row in the release."
    rest = " and ".join(f"{m.exact:,} of the {m.n:,} {m.who}" for m in others)
    return f"The exact row of {first.exact:,} of the {first.n:,} {first.who} is in the release; of {rest}."


def _attacks(found: ReleasedSet) -> Block:
    shown = [m for m in METRICS if any(r.value is not None for r in found.rows if r.metric == m)]
    heads = ["attack", *(metric(m).title for m in shown)]
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.rows:
        cells.setdefault((row.group, row.attack), {})[row.metric] = row
    rows = [[_named(*key), *(_cell(of.get(m)) for m in shown)] for key, of in cells.items()]
    compared = "members with non-members" if found.judged else "candidates with people of the reference"
    return Block(
        "Attacks", heads, rows, f"Compares {compared}. Chance: 0.5 for AUC, the false-positive rate for rates."
    )


def _named(group: str, attack: str) -> str:
    title = TITLES.get(attack, attack)
    return f"class {group}: {title}" if group else title


def _matches(found: list[Matches]) -> Block:
    rows = []
    for m in found:
        span = "" if m.low is None or m.high is None else f"{words.percent(m.low)} to {words.percent(m.high)} %"
        rows.append([m.who, f"{m.n:,}", f"{m.exact:,}", span, f"{m.but_one:,}"])
    heads = ["people", "number", "exact row released", "95 % interval", "all columns but one"]
    return Block("Rows that are in the release", heads, rows, "Chance matches show in people who cannot be the reason.")


def _coverage(found: ReleasedSet) -> Block:
    rows = [[f"{c.released:,}", _cell(c.rate), f"{c.exact:,}"] for c in found.coverage]
    name = TITLES.get(found.coverage[0].rate.attack, "") if found.coverage else ""
    who = "members" if found.judged else "candidates"
    heads = ["released rows", "TPR at 1 % FPR", f"{who} whose exact row is among them"]
    return Block("As the release grows", heads, rows, f"Attack: {name}; released rows in random order.")


def _cell(row: Row | None) -> str:
    """Value and interval, or why there is none."""
    if row is None or row.value is None:
        return words.DASH if row is None or not row.reason else f"{words.DASH} ({row.reason.rstrip('.')})"
    span = words.span_of(row)
    return f"{words.value_of(row)} ({span})" if span else words.value_of(row)


def _span(row: Row) -> str:
    if row.low is None or row.high is None:
        return "no interval"
    return f"95 % interval {words.percent(row.low)} to {words.percent(row.high)} %"
