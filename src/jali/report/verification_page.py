"""The page of a test of a privacy claim: the verdict, claimed against shown epsilon, and what was not tested."""

from __future__ import annotations

from jali.report import verification, words
from jali.report.sheet import Block, Drawing, Sheet
from jali.report.verification_figure import drawable, figure
from jali.results.verification import Verification

UNSEEN = (
    "how long an answer took, how an array lies in memory, and the bits of NaN",
    "value and last bits of a number together: noise in double precision can show more to whoever reads both",
    "a query that alone is answered truthfully (a trapdoor), and an answer that only the first caller gets",
    "what can be read only with the code of the release, such as noise from a seed that is published beside it",
)
LEGEND = (
    "Each bar is what the draws rule out when somebody looks at one thing: a mechanism whose epsilon lies within it "
    "would have given such draws in fewer than {error} of such tests, all bars together. A bar beyond what is allowed "
    "refutes the claim."
)
TIED = "\N{NO-BREAK SPACE}"
NO_PROOF = "A claim that is not refuted is not proved: only these pairs, queries and distinguishers were tried."


def sheet(found: Verification) -> Sheet:
    """The page."""
    found = words.cleaned(found)
    return Sheet(
        "Test of a privacy claim",
        answer(found),
        points(found),
        [_bounds(found), _setup(found), _conditions(found), _unseen(found)],
        notes(found),
        found.jali,
        [Drawing("Claimed and shown epsilon", figure(found))] if drawable(found) else [],
        LEGEND.format(error=f"{words.percent(1 - found.confidence, 0)} %"),
    )


def answer(found: Verification) -> str:
    """The verdict in a sentence."""
    sure = _confidence(found)
    claim = f"{found.name} claims epsilon{TIED}={TIED}{found.epsilon:g}"
    if found.verdict == "REFUTED":
        return f"REFUTED: {claim}, and its answers show an epsilon of {found.lower:.2f} or more ({sure})."
    if found.verdict == "NOT REFUTED":
        return (
            f"NOT REFUTED: {claim}. The draws show an epsilon of {found.lower:.2f} or more ({sure}) and could have "
            f"shown up to {found.ceiling:.2f}. This is no proof of the claim."
        )
    return f"NOT TESTABLE: {claim}, and this test could not have contradicted it. {_why(found)}"


def _confidence(found: Verification) -> str:
    return f"{words.percent(found.confidence, 0)}{TIED}% confidence"


def _why(found: Verification) -> str:
    """Why a claim could not be tested."""
    if found.pairs_changed == 0:
        return f"The answer changed with the record in none of the {found.pairs} pairs: {verification.UNCHANGED}."
    if found.pairs_changed is None and found.lower == 0:
        return f"No difference was seen, and none can be ruled out: {verification.UNREPEATABLE}."
    return f"So few draws show an epsilon of {found.ceiling:.2f} and no more: raise --draws."


def points(found: Verification) -> list[str]:
    """What follows from the verdict, one sentence each."""
    out = []
    if found.verdict == "REFUTED":
        out.append("Do not state this claim. Treat the answers as if they were not protected, until it is mended.")
    out += [f"Strongest test: {found.distinguisher}.", verification.dependence(found), verification.rarest(found)]
    if found.recomputed is not None:
        out.append(verification.recomputed(found))
    return [point.replace("`", "") for point in out if point]


def notes(found: Verification) -> list[str]:
    """What to keep in mind."""
    out = [NO_PROOF] if found.verdict != "REFUTED" else []
    if found.known_flaws:
        out.append(f"Known about this mechanism: {found.known_flaws}")
    return out


def _bounds(found: Verification) -> Block:
    rows = [
        [view, f"{bound:.2f}", _allowed(found, view), "yes" if found.exceeds(view) else "no"]
        for view, bound in sorted(found.bounds.items(), key=lambda each: -each[1])
    ]
    caption = (
        f"Lower bounds, which hold together with {_confidence(found)}. Each distinguisher was learnt on other draws. "
        f"So many draws can show an epsilon of up to {found.ceiling:.2f}."
    )
    heads = ["what is looked at", "shown: this or more", "allowed", "exceeds the claim"]
    return Block("Shown epsilon, by what is looked at", heads, rows, caption)


def _allowed(found: Verification, view: str) -> str:
    return f"{found.allowed.get(view, found.epsilon):g}"


def _setup(found: Verification) -> Block:
    rows = [
        ["claim", found.claim],
        ["data sets", verification.pairs(found)],
        ["draws", verification.draws(found)],
        ["seed", str(found.seed)],
    ]
    return Block("What was tested", ["what", "how"], rows)


def _conditions(found: Verification) -> Block:
    rows = [[_sentence(line)] for line in found.assumes]
    return Block("What the claim rests on, assumed and not tested", ["condition"], rows)


def _unseen(found: Verification) -> Block:
    tables = [f"tables other than these: {found.tables}"] if found.tables else []
    rows = [[_sentence(line)] for line in (*UNSEEN, *tables)]
    return Block("What was not looked at", ["a leak through this is missed"], rows)


def _sentence(text: str) -> str:
    """A clause as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
