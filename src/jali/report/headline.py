"""The plain-language page: rows put into sentences that say what was tried, what it achieved and at what resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jali.report import words
from jali.results import Results, Row

Write = Callable[[float], str]
PRICE = {0.001: "one false accusation in 1,000", 0.01: "ten false accusations in 1,000"}
RATES = ("tpr@0.001", "tpr@0.01")
BASELINES = {"score": "the score alone", "decision": "the bare decision"}
PREFERRED = ("score+explanation", "decision+explanation", "explanation", "score", "decision")
MEANING = (
    "To identify a person means here: an attacker who already holds that person's record tells that it was used in "
    "training; a false accusation is a person outside the training data taken for a member.",
    "The numbers hold for the attacks listed below at the stated resolution, and say nothing about attacks that were "
    "not tried.",
)


@dataclass(frozen=True)
class Headline:
    """What the first page says: one lead, what the explanation adds, what to keep in mind."""

    lead: str
    count: str
    additions: tuple[str, ...]
    notes: tuple[str, ...]


def headline(results: Results) -> Headline:
    """Put the strongest attack and the paired differences into sentences."""
    row, rivals = strongest(results)
    found = [r for r in results.rows if r.kind == "contrast" and not r.group]
    metric = row.metric if row else ""
    additions = [_addition([r for r in found if r.against == a], BASELINES[a], metric) for a in BASELINES]
    told = tuple(a for a in additions if a) or (
        "No explanation was attacked beside a prediction, so nothing is said about what explanations add.",
    )
    count = _count(row) if row else ""
    lead = _lead(row, count) if row else _nothing(results)
    return Headline(lead, count, told, _notes(row, rivals))


def invalid(results: Results) -> str:
    """Why the audit is invalid, empty if it is not.

    >>> invalid(Results())
    ''
    """
    failed = [f"{c.name} ({c.detail})" if c.detail else c.name for c in results.sanity if not c.passed]
    return "This audit is invalid: " + "; ".join(failed) + "." if failed else ""


def strongest(results: Results) -> tuple[Row | None, int]:
    """The row the headline rests on, and among how many it was the largest.

    Joint attacks on score and explanation come first; without explanations, whatever the attacker saw.
    The lowest resolvable false-positive rate is taken, and the AUC where no rate is resolvable.
    """
    attacks = [r for r in results.rows if r.kind == "attack" and not r.group and r.value is not None]
    for channel in PREFERRED:
        seen = [r for r in attacks if r.channel == channel]
        pool = [r for r in seen if "joint" in r.attack] or seen
        for metric in (*RATES, "auc"):
            rows = [r for r in pool if r.metric == metric]
            if rows:
                return max(rows, key=lambda r: r.value or 0.0), len(rows)
    return None, 0


def _lead(row: Row, count: str) -> str:
    at = words.level(row.metric)
    if at is None:
        return (
            f"Shown one member and one outsider, an attacker would pick the member in {count} of 100 cases; chance: 50."
        )
    return (
        f"Out of 1,000 people in the training data, an attacker who accepts {PRICE[at]} would identify {count}; "
        f"by chance alone it would be {words.per_thousand(at)}."
    )


def _count(row: Row) -> str:
    """What the lead counts, as a range: people of 1,000, or pairs of 100 where only the AUC is resolvable."""
    if words.level(row.metric) is None:
        return _range(row, lambda x: f"{100 * x:.1f}")
    return _range(row, lambda x: words.per_thousand(min(max(x, 0.0), 1.0)))


def _nothing(results: Results) -> str:
    reasons = list(dict.fromkeys(r.reason for r in results.rows if r.kind == "attack" and r.reason))
    return "No attack gave a number that this audit can resolve" + (f": {reasons[0]}." if reasons else ".")


def _range(row: Row, write: Write) -> str:
    if row.low is None or row.high is None:
        return f"about {write(row.value or 0.0)}"
    low, high = write(row.low), write(row.high)
    return f"about {low}" if low == high else f"between {low} and {high}"


def _notes(row: Row | None, rivals: int) -> tuple[str, ...]:
    if row is None:
        return ()
    source = f" on the explanations of {row.explainer}" if row.explainer else ""
    notes = [f"Attack behind this number: {row.attack}{source}, seeing {seen(row.channel)}."]
    if rivals > 1:
        notes.append(
            f"It is the strongest of {rivals} comparable attacks; its interval does not account for that choice."
        )
    if row.coverage is not None and row.coverage < 0.995:
        notes.append(f"It covers the {words.percent(row.coverage, 0)} % of guesses for which an explanation exists.")
    if row.units == 1:
        notes.append("It rests on one model and is conditional on this model.")
    return tuple(notes)


def seen(channel: str) -> str:
    """What the attacker sees, in words.

    >>> seen("score+explanation")
    'the score and the explanation'
    """
    return " and ".join(f"the {part}" for part in channel.split("+")) if channel else "what its signals need"


def _addition(rows: Sequence[Row], baseline: str, metric: str) -> str:
    """One sentence for one baseline, on the explanation that adds most.

    Differences are told at 1 % false positives where that is resolvable: at lower rates they drown in noise first.
    """
    if not rows:
        return ""
    for want in (*reversed(RATES), "auc"):
        pool = [r for r in rows if r.metric == want]
        if any(r.value is not None for r in pool):
            at = words.level(want)
            price = "" if want == metric or at is None else f" at {PRICE[at]}"
            return _told(pool, baseline, price, [] if want == "auc" else rows)
    return (
        f"Over {baseline}, what the explanation adds could not be resolved: {rows[0].reason or 'no reason recorded'}."
    )


def _told(pool: Sequence[Row], baseline: str, price: str, also: Sequence[Row]) -> str:
    resolved = [r for r in pool if r.value is not None]
    best = max(resolved, key=lambda r: r.value or 0.0)
    price += _in_auc(best, also)
    names, known = {r.explainer for r in pool}, {r.explainer for r in resolved}
    if len(names) == 1:
        return f"Over {baseline}, the explanation {_verdict(best)}{price}."
    clear = {r.explainer for r in resolved if r.low is not None and r.low > 0}
    rest = f", not resolvable for {len(names - known)}" if names - known else ""
    most = f"Over {baseline}, the explanation that adds most ({best.explainer}) {_verdict(best)}{price}"
    return f"{most}; an addition is measurable for {len(clear)} of {len(names)} explanations{rest}."


def _in_auc(best: Row, rows: Sequence[Row]) -> str:
    """The same difference in AUC, in brackets, where it is there."""
    for row in rows:
        if row.metric == "auc" and row.explainer == best.explainer and row.low is not None and row.high is not None:
            return f" (AUC {row.low:+.3f} to {row.high:+.3f})".replace("-", "−")
    return ""


def _verdict(row: Row) -> str:
    """What an interval of a difference says, in words."""
    write, unit = _scale(row)
    value, low, high = row.value or 0.0, row.low, row.high
    if low is None or high is None:
        return f"adds about {write(value)}{unit}, without an interval"
    if value == low == high == 0:
        return "adds nothing: tried on the attacker's own models first, its signals did not help and were left out"
    if low > 0:
        return f"adds between {write(low)} and {write(high)}{unit}"
    if high < 0:
        return f"adds nothing: with it the attack does worse by between {write(-high)} and {write(-low)}{unit}"
    return (
        f"makes no measurable addition at a resolution of {write(high)}{unit} (interval {write(low)} to {write(high)})"
    )


def _scale(row: Row) -> tuple[Write, str]:
    if words.level(row.metric) is None:
        return words.number, f" in {words.metric_name(row.metric)}"
    return words.per_thousand, " in 1,000"
