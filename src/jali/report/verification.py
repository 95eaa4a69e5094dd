"""A test of a privacy claim, in words; the last line is the verdict."""

from __future__ import annotations

from jali.report import words
from jali.results.verification import Verification
from jali.verify.dependence import UNDECLARED

MEANING = {
    "REFUTED": "the draws show a larger epsilon than claimed, with 95 % confidence",
    "NOT REFUTED": "nothing here contradicts the claim; that is no proof of it",
    "NOT TESTABLE": "even a perfect attack on so few draws could not contradict the claim: raise --draws",
}
UNCHANGED = (
    "it may not read the data, or only for queries that were not tried, so there was nothing to test: it may be "
    "private, or the pairs may be the wrong ones"
)
UNREPEATABLE = "draw the noise from the rng that is passed in, so that it can be held fixed"
EXIT = {"NOT REFUTED": 0, "REFUTED": 1, "NOT TESTABLE": 4}


def text(found: Verification) -> str:
    """Lines for a terminal."""
    found = words.cleaned(found)
    lines = [
        f"{found.name}",
        f"Claim: {found.claim}.",
        pairs(found),
        draws(found),
        "Lower bounds on epsilon (95 % for all together), each by a distinguisher learnt on as many other draws; "
        f"at most {found.ceiling:.2f} can be shown:",
        *(
            f"  {view:18s} {bound:5.2f}{'   exceeds the claim' if found.exceeds(view) else ''}"
            for view, bound in found.bounds.items()
        ),
        f"Strongest: {found.distinguisher}.",
        rarest(found),
        dependence(found),
    ]
    if found.recomputed is not None:
        lines.append(recomputed(found))
    lines += [f"Assumed, not tested: {line.rstrip('.')}." for line in found.assumes]
    if found.known_flaws:
        lines.append(f"Known about this mechanism: {found.known_flaws}")
    return "\n".join([*filter(None, lines), verdict(found)])


def verdict(found: Verification) -> str:
    """The verdict in one line."""
    if found.verdict == "NOT TESTABLE" and found.pairs_changed == 0:
        where = "in the pair" if found.pairs == 1 else f"in any of the {found.pairs} pairs"
        return (
            f"NOT TESTABLE (the answer did not change with the record {where} of neighbouring data sets): {UNCHANGED}."
        )
    if found.verdict == "NOT TESTABLE" and found.pairs_changed is None and found.lower == 0:
        return f"NOT TESTABLE (no difference was seen, and none can be ruled out): {UNREPEATABLE}."
    more = f" (epsilon >= {found.lower:.2f}, the claim allows {found.epsilon:g})"
    if found.verdict == "NOT REFUTED":
        more = f" (up to epsilon = {found.ceiling:.2f} could have been shown, {found.lower:.2f} was)"
    if found.verdict == "NOT TESTABLE":
        more = f" (the claim allows {found.epsilon:g}, at most {found.ceiling:.2f} can be shown)"
    return f"{found.verdict}{more}: {MEANING[found.verdict]}."


def draws(found: Verification) -> str:
    """How many draws were evaluated, of how many pairs, and who fixed their number."""
    each = "Two data sets that differ in one record"
    if found.pairs_evaluated > 1:
        each = f"The best {found.pairs_evaluated} pairs of data sets that differ in one record"
    fixed = ""
    if found.minutes is not None:
        fixed = f" A pilot fixed this number beforehand, for {found.minutes:g} minutes."
    return f"{each}, {found.draws:,} draws of each evaluated ({found.seconds:.1f} s).{fixed}"


def recomputed(found: Verification) -> str:
    """What a second accountant computes from the noise that was declared."""
    return f"A second accountant computes epsilon = {found.recomputed:.4g} from the noise that was declared."


def rarest(found: Verification) -> str:
    """The rarest leak that these draws would have shown, and what ten times as many would show."""
    if found.rarest is None:
        return ""
    one_in = 1 / found.rarest
    more = f"`--draws {10 * found.draws}` finds 1 in {round_down(10 * one_in):,}"
    return f"A leak in fewer than 1 of {round_down(one_in):,} answers would probably be missed; {more}."


def round_down(number: float) -> int:
    """A number with two significant digits, never above it.

    >>> round_down(1057.3), round_down(7.6)
    (1000, 7)
    """
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return int(number // unit * unit)


def pairs(found: Verification) -> str:
    """How many pairs were tried, and whether the record mattered in them."""
    tried = f"{found.pairs} pair{'s' if found.pairs > 1 else ''} of neighbouring data sets tried"
    if found.tables:
        tried = f"{tried}, of {found.tables}"
    if found.pairs_changed is None:
        return (
            f"{tried}. The same rng did not give the same answers again, so the noise could not be held fixed: it "
            "comes from elsewhere, or the release remembers earlier calls."
        )
    return f"{tried}; with the noise held fixed, the answer changed with the record in {found.pairs_changed or 'none'}."


def dependence(found: Verification) -> str:
    """What the data-dependence check found."""
    if found.no_dependence_check:
        return f"Data dependence: {found.no_dependence_check}."
    if not found.leaking_variables:
        return "Data dependence: with the declared mechanisms held fixed, the answers of both data sets are the same."
    if found.leaking_variables == [UNDECLARED]:
        return (
            "Data dependence: not checked, because no mechanism was declared; draw the noise inside "
            "jali.privacy.mechanisms.released(name, make, scale=…)."
        )
    return (
        "Data dependence: with the declared mechanisms held fixed, the answer still changes with the record, "
        f"through {', '.join(found.leaking_variables)}."
    )
