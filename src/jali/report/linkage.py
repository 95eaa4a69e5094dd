"""Whether released answers are real people, as a short page."""

from __future__ import annotations

from jali.report import words
from jali.report.sheet import Block, Sheet
from jali.results.released import Linkage


def sheet(found: Linkage) -> Sheet:
    """The page of a linkage."""
    title = "Are these answers real people?"
    return Sheet(title, answer(found), points(found), [_known(found)], notes(found), found.jali)


def answer(found: Linkage) -> str:
    """The answer in one sentence."""
    share = f"{found.exact:,} of {found.released:,} released rows"
    chance = f"by chance {words.number(found.chance)} would be expected"
    if found.real:
        people = f"{found.people:,} of the {found.register_people:,} in the table"
        return f"{share} are the exact rows of real people, {people} ({chance})."
    if found.exact:
        return f"{share} equal somebody's row, which chance explains ({chance})."
    return f"None of the {found.released:,} released rows is the exact row of somebody in the table."


def points(found: Linkage) -> list[str]:
    """Rows that are nearly somebody's, and whom the known columns leave."""
    out = [f"{found.but_one:,} more equal somebody's row in all columns but one."] if found.but_one else []
    if found.known:
        last = found.known[-1]
        out.append(
            f"Whoever knows {words.listed(last.columns)} of everybody in the table finds one person alone for "
            f"{last.one:,} released rows ({last.people:,} different people), and two to ten for {last.few:,} more."
        )
    return out


def notes(found: Linkage) -> list[str]:
    """Limits."""
    return [
        *found.notes,
        f"Chance: from {found.null} whose row equals another person's in all {found.columns} columns compared.",
        "A row that fits one person in the known columns may still be nobody's: compare with the exact rows.",
    ]


def _known(found: Linkage) -> Block:
    heads = ["columns known", "nobody fits", "one person", "2 to 10", "more", "median", "people who fit alone"]
    rows = []
    for k in found.known:
        counts = [f"{n:,}" for n in (k.none, k.one, k.few, k.many)]
        rows.append([", ".join(k.columns), *counts, f"{k.median:g}", f"{k.people:,}"])
    return Block("How many people each answer leaves", heads, rows, "Answers by how many people of the table fit them.")
