"""The scoreboard of the zoo, in words: detections against draws, and false refutations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jali.report.sheet import Block, Sheet
from jali.results.verification import Scoreboard, Sighting


def line(sightings: Sequence[Sighting]) -> str:
    """One mechanism: its true epsilon, and how often it was refuted with each number of draws."""
    one = sightings[0]
    often = ", ".join(f"{each.refuted} of {each.seeds} at {each.draws:,}" for each in sightings)
    kind = one.fault or "correct"
    return f"{one.name:48s} claims {one.claimed:g}, true {_true(one):>5s}  refuted {often} draws  ({kind})"


def summary(board: Scoreboard) -> str:
    """How many broken mechanisms were found, and how many correct ones refuted, with each number of draws."""
    lines = [f"Verifier: {board.verifier}"]
    for draws in sorted({each.draws for each in board.sightings}):
        mine = [each for each in board.sightings if each.draws == draws]
        parts = [_share("broken mechanisms refuted", [each for each in mine if each.fault])]
        parts.append(_share("correct ones refuted", [each for each in mine if not each.fault]))
        lines.append(f"{draws:,} draws: {'; '.join(filter(None, parts))}.")
    return "\n".join(lines)


def sheet(board: Scoreboard) -> Sheet:
    """The scoreboard as a page."""
    first, *rest = summary(board).splitlines()
    rows = [
        [each.name, f"{each.claimed:g}", _true(each), f"{each.draws:,}", f"{each.refuted} of {each.seeds}", each.fault]
        for each in board.sightings
    ]
    heads = ["mechanism", "claims", "true epsilon", "draws", "refuted", "what is wrong with it"]
    answer = " ".join(rest) or "No mechanism was tested."
    return Sheet("The verifier on known mechanisms", answer, [f"{first}."], [Block("Mechanisms", heads, rows)])


def _true(one: Sighting) -> str:
    return "none" if math.isinf(one.true) else f"{one.true:.3g}"


def _share(what: str, sightings: Sequence[Sighting]) -> str:
    """How many tests ended so; empty where there were none."""
    tests = sum(each.seeds for each in sightings)
    return f"{sum(each.refuted for each in sightings)} of {tests} {what}" if tests else ""
