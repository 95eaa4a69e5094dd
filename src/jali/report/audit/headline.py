"""The plain-language page: rows put into sentences that say what was tried, what it achieved and at what resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import resolution, words
from jali.report.audit import query_attacks
from jali.report.audit.paired_differences import additions
from jali.results import Results, Row
from jali.stats import roc

Write = Callable[[float], str]
RATES = ("tpr@0.001", "tpr@0.01")
PREFERRED = (
    Channel.SCORE_AND_EXPLANATION,
    Channel.DECISION_AND_EXPLANATION,
    Channel.EXPLANATION,
    Channel.SCORE,
    Channel.DECISION,
)
LISTED = 4
MEANING = (
    "To identify a person means here: an attacker who already holds that person's record infers that it was used "
    "in training; a person outside the training data who is taken for a member is wrongly flagged.",
    "The numbers hold for the attacks listed below at the stated resolution, and say nothing about attacks that were "
    "not tried.",
)
COULD = (
    "“Could have found … or more” counts chance alone: in such an audit, these attacks would have shown an effect of "
    "that size with a probability of 80 % or more. Other attacks may find smaller ones, or larger ones that these miss."
)
CONTROL = (
    "What an audit like this finds in 8 of 10 cases was measured with a positive control: known additions were planted "
    "in the explanations of shadow models, and the same attack was run on them. Other attacks may find smaller "
    "additions, and 0.01 in AUC can still mean that the explanation gives away two members in 100 entirely."
)
UNKNOWN = "That cannot be distinguished from chance, and this audit cannot say what it could have found."
OTHER = (
    "These numbers follow a convention of their own and not the channels of an audit; nothing is said about how many "
    "people could be identified or what explanations add."
)


@dataclass(frozen=True)
class Headline:
    """What the first page says: one lead, what the explanation adds, what it means, what to keep in mind."""

    lead: str
    count: str
    additions: tuple[str, ...]
    meaning: tuple[str, ...]
    notes: tuple[str, ...]


def headline(results: Results) -> Headline:
    """Put the strongest attack and the paired differences into sentences."""
    row, rivals = strongest(results)
    queried = query_attacks.sentences(results)
    if row is not None:
        count = _count(row)
        notes = (*_notes(row, rivals), *_surpassed(results, row), *unchecked(results))
        said = (*_doubt(results, row), *additions(results), *queried)
        return Headline(_lead(row, count), count, said, _meaning(said), notes)
    others = [r for r in _pooled(results) if r.convention]
    if others:
        return Headline(_listed(others), "", (OTHER,), MEANING[1:], ())
    if queried:
        lead, end, rest = queried[0].partition(". ")
        more = (rest,) if rest else ()
        return Headline(
            lead + end.strip(), query_attacks.count(results), (*more, *queried[1:]), query_attacks.meaning(results), ()
        )
    return Headline(_nothing(results), "", additions(results), _meaning(additions(results)), unchecked(results))


def _meaning(said: Sequence[str]) -> tuple[str, ...]:
    """What the words of the first page mean, of those that stand on it."""
    more = {resolution.OFTEN: COULD, resolution.IN_TEN: CONTROL}
    return (*MEANING, *(text for used, text in more.items() if any(used in sentence for sentence in said)))


def unchecked(results: Results) -> tuple[str, ...]:
    """A sentence where attacks of an audit come without a sanity suite.

    >>> unchecked(Results())
    ()
    """
    audited = any(r.kind == "attack" and r.channel is not None for r in results.rows)
    return ("No sanity check was recorded.",) if audited and not results.sanity else ()


def invalid(results: Results) -> str:
    """Why the audit is invalid, empty if it is not.

    >>> invalid(Results())
    ''
    """
    failed = [f"{c.name} ({c.detail})" if c.detail else c.name for c in results.sanity if not c.passed]
    return "This audit is invalid: " + "; ".join(failed) + "." if failed else ""


def strongest(results: Results) -> tuple[Row | None, int]:
    """The row the headline rests on, and among how many it was the largest.

    Combined attacks on score and explanation come first, and those on the score alone with them, for an attacker may
    ignore an explanation that hurts; without explanations, whatever the attacker saw.
    The lowest resolvable false-positive rate is taken, and the AUC where no rate is resolvable.
    """
    attacks = _pooled(results)
    for channel in PREFERRED:
        seen = [r for r in attacks if r.channel == channel]
        pool = [r for r in seen if r.combined] or seen
        for metric in (*RATES, "auc"):
            rows = [r for r in pool if r.metric == metric]
            if rows:
                rows += [r for r in attacks if r.metric == metric and _ignores(r, channel)]
                return max(rows, key=lambda r: r.value or 0.0), len(rows)
    return None, 0


def _ignores(row: Row, channel: Channel) -> bool:
    """Whether a combined attack sees the prediction of this channel without its explanation."""
    return row.combined and row.channel != channel and row.channel == channel.base


def _pooled(results: Results) -> list[Row]:
    attacks = results.find(kind="attack", group="", target=None)
    return [r for r in attacks if r.value is not None]


def _lead(row: Row, count: str) -> str:
    """What the attack achieves, said of the attack: another one may achieve more."""
    who = "the combined attack" if row.combined else "the strongest attack tried"
    at = words.level(row.metric)
    if at is None:
        return f"Shown one member and one non-member, {who} would pick the member in {count} of 100 cases; chance: 50."
    return (
        f"Out of 1,000 people in the training data, {who} would identify {count} at the price of "
        f"{words.price(row.metric)}; by chance alone it would be {words.per_thousand(_chance(row))}."
    )


def _chance(row: Row) -> float:
    """What scores that know nothing achieve on so many non-members: more than the rate itself where these are few."""
    others = 0 if row.base_rate is None else round(row.n * (1 - row.base_rate))
    return roc.chance(row.metric, others)


def _doubt(results: Results, row: Row) -> tuple[str, ...]:
    """A sentence where the attack did not do better than chance, as far as can be seen.

    A rate of few false positives rests on a handful of non-members, so that its interval may reach chance although
    the attack is far above it over all thresholds: then the AUC speaks.
    """
    at = words.level(row.metric)
    chance = _chance(row)
    if row.value is None or row.low is None or row.high is None or row.low > chance:
        return ()
    if at is not None:
        ranked = [r for r in _pooled(results) if r.metric == "auc" and r.channel is not None]
        own = [r for r in ranked if (r.attack, r.channel, r.explainer) == (row.attack, row.channel, row.explainer)]
        better = [r for r in ranked if r.low is not None and r.low > 0.5]
        if any(r in own for r in better):
            return (_by_auc(own[0]),)
        if better:  # the best of many, chosen afterwards, would often lie above one half by luck
            some = f"{len(better)} of {len(ranked)} attacks can (one in 40 would by chance alone)"
            return (f"At that price this audit is too small to distinguish it from chance; in AUC {some}.",)
        if 0 < row.units < resolution.MODELS:
            return _doubt(results, own[0]) if own else (UNKNOWN,)
    others = _rivals(results, row)
    above = [r for r in others if r.low is not None and r.low > chance]
    if above:
        rest = f"{len(above)} of {len(others)} other attacks can (one in 40 would by chance alone)"
        return (f"That cannot be distinguished from chance, but {rest}.",)
    if row.high < chance:
        return ("That is worse than chance: the attack is bad. Read this as no finding, not as protection.",)
    found = resolution.could_have_found(row.value - chance, row.low - chance, row.high - chance)
    if found is None:
        return (UNKNOWN,)
    if found + chance >= 1:
        return ("That cannot be distinguished from chance: this audit is too small and could not have found anything.",)
    of = f"{words.per_thousand(found + chance)} of 1,000"
    count = f"{100 * (found + chance):.1f} of 100 cases" if at is None else of
    return (
        f"That cannot be distinguished from chance; this audit could have found {count} or more, {resolution.OFTEN}.",
    )


def _by_auc(row: Row) -> str:
    """What an attack does over all thresholds, where one rate is too rare to say."""
    return (
        "At that price this audit is too small to distinguish it from chance, but the leak is there: shown one member "
        f"and one non-member, {row.attack} seeing {seen(row.channel)} picks the member in {_count(row)} of 100 cases; "
        "chance: 50."
    )


def _rivals(results: Results, row: Row) -> list[Row]:
    """All other attacks of an audit in the same metric."""
    return [r for r in _pooled(results) if r.metric == row.metric and r.channel is not None and r != row]


def _count(row: Row) -> str:
    """What the lead counts, as a range: people of 1,000, or pairs of 100 where only the AUC is resolvable."""
    if words.level(row.metric) is None:
        return _range(row, lambda x: f"{100 * x:.1f}")
    return _range(row, lambda x: words.per_thousand(min(x, 1.0) if x >= 0.0001 else 0.0))


def _listed(rows: Sequence[Row]) -> str:
    """What rows outside an audit's channels are: the mean of each signal, in the order recorded."""
    first = next((r for r in rows if r.metric == "auc"), rows[0])
    same = [r for r in rows if (r.metric, r.convention) == (first.metric, first.convention)]
    over = f" over {first.units:,} target models" if first.units > 1 else ""
    head = f"{'Mean ' if over else ''}{words.metric_name(first.metric)}{over}"
    source = f" ({first.convention})"
    more = f", and {len(same) - LISTED} more" if len(same) > LISTED else ""
    several = len({r.attack for r in same}) > 1
    return f"{head}{source}: " + ", ".join(_item(r, several) for r in same[:LISTED]) + f"{more}."


def _item(row: Row, several: bool) -> str:
    span = words.span_of(row)
    name = f"{row.attack} on {row.signal}" if several or not row.signal else row.signal
    return f"{words.value_of(row)}{f' ({span})' if span else ''} for {name}"


def _nothing(results: Results) -> str:
    reasons = list(dict.fromkeys(r.reason for r in results.rows if r.kind == "attack" and r.reason))
    return "No attack gave a number that this audit can resolve" + (f": {reasons[0].rstrip('.')}." if reasons else ".")


def _range(row: Row, write: Write) -> str:
    if row.low is None or row.high is None:
        return f"about {write(row.value or 0.0)}"
    low, high = write(row.low), write(row.high)
    return f"about {low}" if low == high else f"between {low} and {high}"


def _notes(row: Row, rivals: int) -> list[str]:
    source = f" on the explanations of {row.explainer}" if row.explainer else ""
    notes = [f"Attack behind this number: {row.attack}{source}, seeing {seen(row.channel)}."]
    if rivals > 1:
        notes.append(
            f"It is the strongest of {rivals} comparable attacks; its interval does not account for that choice."
        )
    if words.covered(row):
        notes.append(f"It was measured {words.covered(row)}.")
    if row.units == 1:
        notes.append("It rests on one model and is conditional on this model.")
    return notes


def _surpassed(results: Results, row: Row) -> list[str]:
    """Another attack that did better than the one in the headline is named beside it."""
    others = _rivals(results, row)
    best = max(others, key=lambda r: r.value or 0.0, default=row)
    if not row.combined or (best.value or 0.0) <= (row.value or 0.0):
        return []
    unit = "of 100 cases" if words.level(row.metric) is None else "of 1,000"
    count = ", ".join(filter(None, [f"{_count(best)} {unit}", words.covered(best)]))
    signal = f" on {best.signal}" if best.signal and not best.combined else ""
    return [
        f"Looking back, the strongest of {len(others)} other attacks did better: {best.attack}{signal}, seeing "
        f"{seen(best.channel)}: {count}."
    ]


def seen(channel: Channel | None) -> str:
    """What the attacker sees, in words.

    >>> seen(Channel.SCORE_AND_EXPLANATION)
    'the score and the explanation'
    """
    if channel is None:
        return "what its signals need"
    parts = [channel.base, Channel.EXPLANATION if channel.explained else None]
    return " and ".join(f"the {part}" for part in parts if part)
