"""What was already sent, as a short page: counts, and one person's status where it was asked for."""

from __future__ import annotations

from jali.report import words
from jali.report.sheet import Block, Sheet
from jali.results.exposure import Exposure, Status

SHOWN = 30


def sheet(found: Exposure) -> Sheet:
    """The page of a replay."""
    return Sheet("What was already sent", answer(found), points(found), blocks(found), notes(found), found.jali)


def answer(found: Exposure) -> str:
    """The answer in one sentence; about one person where that was asked."""
    if found.person is not None:
        return status(found.person)
    many = f"{found.together:,} of {found.people:,} training people"
    if not found.together:
        return f"No training person can be singled out from the {found.answers:,} answers by who knows these columns."
    alone = f"{found.alone:,} by one recipient alone"
    return f"{many} can be singled out from the {found.answers:,} answers that were sent, {alone}."


def status(person: Status) -> str:
    """What was sent about one person, in a sentence."""
    if not person.answers:
        return "No answer in the log shows this person's row."
    verb = "shows" if person.answers == 1 else "show"
    shown = f"{_many(person.answers, 'answer')} to {_many(person.recipients, 'recipient')} {verb} this person's row"
    if not person.together:
        return f"{shown}, and nobody can single the person out from them."
    since = f" since {person.since}" if person.since else f" since answer {person.first_answer:,}"
    if person.singled_out_by:
        return f"{shown}, and {_many(person.singled_out_by, 'recipient')} can single the person out,{since}."
    return f"{shown}; no recipient alone can single the person out, but all together can,{since}."


def _many(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def points(found: Exposure) -> list[str]:
    """What else the counts say."""
    if found.person is not None:
        return []
    out = [f"The rows of {found.shown:,} training people are in some answer."]
    if found.together > found.alone:
        out.append(f"{found.together - found.alone:,} people are singled out only if recipients put answers together.")
    if found.wrong:
        out.append(f"{found.wrong:,} answers fit one person alone who is not the person shown: these mislead.")
    return out


def blocks(found: Exposure) -> list[Block]:
    """People over time, and recipients."""
    if found.person is not None:
        return []
    timeline = [[f"{m.answers:,}", m.until, f"{m.alone:,}", f"{m.together:,}"] for m in found.timeline]
    several = [[r.name, f"{r.answers:,}", f"{r.people:,}"] for r in found.recipients[:SHOWN]]
    heads = ["answers sent", "until", "singled out by one recipient", "by all together"]
    return [
        Block("People singled out over time", heads, timeline),
        Block("Recipients", ["recipient", "answers", "people singled out"], several),
    ]


def notes(found: Exposure) -> list[str]:
    """What is assumed of recipients."""
    return [
        *found.notes,
        f"Recipients are assumed to know {words.listed(found.quasi)} of everybody in the register, to put answers with "
        "the same other values together, and to keep everything. Other knowledge is not covered.",
    ]
