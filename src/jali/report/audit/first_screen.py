"""The first screen: what leaks, through which explanation, whom it hits, what to do, and what it costs.

The page, the terminal and a notebook render these values, so that they say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import words
from jali.report.audit import headline, membership, verdicts
from jali.report.audit.findings import Harm
from jali.report.audit.options import Option, options
from jali.report.audit.verdicts import Verdict
from jali.report.audit.whom import whom
from jali.results import Results, Row

COLUMNS = {
    "named": "Right person found, of 100 answers",
    "decision": "Membership: AUC added to the decision",
    "score": "Membership: AUC added to the score",
    "answered": "Answered, of all",
    "validity": "Valid, of answers",
    "withheld": "Withheld",
}
SHORT = {  # for a terminal of 80 columns
    "named": "named/100",
    "decision": "over decision",
    "score": "over score",
    "answered": "answered",
    "validity": "valid",
    "withheld": "withheld",
}


@dataclass(frozen=True)
class Line:
    """One explanation in the overview: a cell for each column that any explanation has."""

    explainer: str
    tag: str
    harm: Harm
    cells: dict[str, str]


@dataclass(frozen=True)
class Screen:
    """What the first screen shows; `mark` is the part of the lead that is emphasised."""

    lead: str
    mark: str
    without: str
    verdicts: tuple[Verdict, ...]
    columns: tuple[str, ...]
    overview: tuple[Line, ...]
    whom: tuple[str, ...]
    options: tuple[Option, ...]
    identity: tuple[tuple[str, str], ...]


def screen(results: Results) -> Screen:
    """The first screen of an audit."""
    found = verdicts.verdicts(results)
    lead, mark = _lead(results, found)
    lines = [_line(results, v) for v in found]
    columns = tuple(name for name in COLUMNS if any(line.cells[name] != words.DASH for line in lines))
    return Screen(
        lead,
        mark,
        without(results),
        tuple(found),
        columns,
        tuple(lines),
        whom(results),
        tuple(options(results, found)),
        identity(results),
    )


def _lead(results: Results, found: list[Verdict]) -> tuple[str, str]:
    """The worst finding in one sentence; without one, what the strongest attack achieves."""
    claim = verdicts.worst_claim(results)
    if claim:
        return claim, "false" if "false" in claim else "contradicted"
    worst = found[0] if found else None
    if worst is not None and worst.harm == Harm.IDENTITY:
        row = verdicts.best(results, worst.explainer, "reidentified")
        count = verdicts.of_100(row) if row is not None else ""
        return f"Of 100 answers by {worst.explainer}, {count} lead to the right person.", count
    if worst is not None and worst.harm == Harm.ATTRIBUTES:
        return f"{worst.explainer} gives values away. {worst.sentences[0]}", "gives values away"
    if worst is not None and worst.harm == Harm.MEMBERSHIP:
        rows = {base: membership.contrast(results, worst.explainer, base, "auc") for base in membership.BASES}
        added = {base: row for base, row in rows.items() if row is not None and membership.is_found(row)}
        if added:
            base, row = max(added.items(), key=lambda pair: pair[1].low or 0.0)
            span = words.span_of(row)
            name = membership.BASES[base]
            return f"{worst.explainer} adds {span} AUC to what {name} gives away about membership.", span
        return f"{worst.explainer} helps to infer membership. {worst.sentences[0]}", "helps to infer membership"
    page = headline.headline(results)
    return page.lead, page.count


def without(results: Results) -> str:
    """What already leaks without any explanation: the combined attack on the decision, and on the score.

    >>> without(Results())
    ''
    """
    said = []
    price = ""
    for channel, name in ((Channel.DECISION, "the decision alone"), (Channel.SCORE, "the score")):
        row = _alone(results, channel, "auc")
        if row is None:
            continue
        rate = _alone(results, channel, "tpr@0.01")
        many = ""
        if rate is not None:
            many = f" ({words.per_thousand(rate.value or 0.0)} of 1,000 recognised)"
            price = f", with {words.price(rate.metric)}"
        tells = "tells" if row.low is not None and row.low > 0.5 else "does not clearly tell"
        auc = words.span_of(row) or words.value_of(row)
        said.append(f"{name} {tells} members from non-members with AUC {auc}{many}")
    return f"Without any explanation, {', and '.join(said)}{price}." if said else ""


def _alone(results: Results, channel: Channel, metric: str) -> Row | None:
    """The strongest combined attack on a prediction, on everybody; the strongest of all where none is combined."""
    rows = results.find(kind="attack", channel=channel, explainer="", metric=metric, group="", target=None)
    known = [row for row in rows if row.value is not None]
    pool = [row for row in known if row.combined] or known
    return max(pool, key=lambda row: row.value or 0.0, default=None)


def _line(results: Results, verdict: Verdict) -> Line:
    name = verdict.explainer
    right = verdicts.best(results, name, "reidentified")
    cells = {
        "named": words.DASH if right is None else verdicts.of_100(right),
        "decision": verdicts.cell(results, name, Channel.DECISION),
        "score": verdicts.cell(results, name, Channel.SCORE),
    }
    for metric in ("answered", "validity", "withheld"):
        rows = [r for r in results.find(kind="measure", explainer=name, metric=metric, group="") if r.value is not None]
        cells[metric] = f"{words.percent(rows[0].value or 0.0, 0)}{words.THIN}%" if rows else words.DASH
    return Line(name, verdict.tag, verdict.harm, cells)


def identity(results: Results) -> tuple[tuple[str, str], ...]:
    """What identifies the audit: date, sizes, fingerprints, and how the sanity suite went."""
    facts = results.facts
    passed = sum(check.passed for check in results.sanity)
    given = {
        "date": results.date,
        "people": _size(facts.get("rows")),
        "models": _size(facts.get("models")),
        "data": str(facts.get("data fingerprint", "")),
        "experiment": next((row.key for row in results.rows if row.key), ""),
        "sanity": f"{passed} of {len(results.sanity)} passed" if results.sanity else "not checked",
        "jali": results.jali,
    }
    return tuple((name, text) for name, text in given.items() if text)


def _size(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""
