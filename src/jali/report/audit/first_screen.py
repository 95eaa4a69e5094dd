"""The first screen: what leaks, through which explanation, whom it hits, what to do, and what it costs.

The page, the terminal and a notebook render these values, so that they say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import words
from jali.report.audit import before_after, headline, membership, verdicts
from jali.report.audit.findings import Harm
from jali.report.audit.options import Option, options
from jali.report.audit.questions import Answer, answers, on_prediction
from jali.report.audit.verdicts import Verdict
from jali.report.audit.whom import whom
from jali.results import Results

COLUMNS = {
    "named": "Right person found, of 100 answers",
    "decision": "Membership: AUC added to the decision",
    "score": "Membership: AUC added to the score",
    "answered": "Answered, of all",
    "validity": "Valid, of answers",
    "withheld": "Withheld",
    "seconds": before_after.TIME,
}
SHORT = {  # for a terminal of 80 columns
    "named": "named/100",
    "decision": "over decision",
    "score": "over score",
    "answered": "answered",
    "validity": "valid",
    "withheld": "withheld",
    "seconds": "time",
}


@dataclass(frozen=True)
class Line:
    """One explanation in the overview: a cell for each column that any explanation has, and what it is sorted by."""

    explainer: str
    tag: str
    harm: Harm
    cells: dict[str, str]
    order: dict[str, float | str]


@dataclass(frozen=True)
class Screen:
    """What the first screen shows; `mark` is the part of the lead that is emphasised."""

    lead: str
    mark: str
    answers: tuple[Answer, ...]
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
    hit = whom(results)
    advice = tuple(options(results, found))
    columns = tuple(name for name in COLUMNS if any(line.cells[name] != words.DASH for line in lines))
    return Screen(
        lead,
        mark,
        answers(results, found, hit, advice),
        without(results),
        tuple(found),
        columns,
        tuple(lines),
        hit,
        advice,
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
        return f"{worst.explainer} helps to tell who was in the training data.", "helps to tell"
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
        row = on_prediction(results, channel, "auc")
        if row is None:
            continue
        rate = on_prediction(results, channel, "tpr@0.01")
        many = ""
        if rate is not None:
            many = f" ({words.per_thousand(rate.value or 0.0)} of 1,000 recognised)"
            price = f", with {words.price(rate.metric)}"
        tells = "tells" if row.low is not None and row.low > 0.5 else "does not clearly tell"
        auc = words.span_of(row) or words.value_of(row)
        said.append(f"{name} {tells} members from non-members with AUC {auc}{many}")
    return f"Without any explanation, {', and '.join(said)}{price}." if said else ""


def _line(results: Results, verdict: Verdict) -> Line:
    name = verdict.explainer
    right = verdicts.best(results, name, "reidentified")
    rows = {
        metric: before_after.measured(results, name, metric)
        for metric in ("answered", "validity", "withheld", "seconds")
    }
    cells = {
        "named": words.DASH if right is None else verdicts.of_100(right),
        "decision": verdicts.cell(results, name, Channel.DECISION),
        "score": verdicts.cell(results, name, Channel.SCORE),
    }
    cells |= {metric: words.DASH if row is None else before_after.amount(row) for metric, row in rows.items()}
    rows |= {"named": right}
    rows |= {base.value: membership.contrast(results, name, base, "auc") for base in (Channel.DECISION, Channel.SCORE)}
    order = {column: "" if row is None or row.value is None else row.value for column, row in rows.items()}
    return Line(name, verdict.tag, verdict.harm, cells, order)


def identity(results: Results) -> tuple[tuple[str, str], ...]:
    """What identifies the audit: date, sizes, fingerprints, and how the sanity suite went."""
    facts = results.facts
    passed = sum(check.passed for check in results.sanity)
    given = {
        "date": results.date,
        "people": _size(facts.get("rows")),
        "models": _size(facts.get("models")),
        "data": str(facts.get("data fingerprint", "")),
        "target models": str(facts.get("model fingerprint", "")),
        "experiment": next((row.key for row in results.rows if row.key), ""),
        "sanity checks": f"{passed} of {len(results.sanity)} passed" if results.sanity else "not checked",
        "jali": results.jali,
    }
    return tuple((name, text) for name, text in given.items() if text)


def _size(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""
