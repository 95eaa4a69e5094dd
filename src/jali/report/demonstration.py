"""The demonstration as one page: five findings in one story. Page and terminal render the same values."""

from __future__ import annotations

import io
from dataclasses import dataclass

from rich.console import Console, Group
from rich.padding import Padding
from rich.text import Text

from jali.audit.released_sets.attack import CHANCE
from jali.audit.released_sets.scores import TITLES
from jali.core.values import Channel
from jali.report import linkage, released, verification, words
from jali.report.audit import membership
from jali.report.audit.questions import Answer
from jali.report.demonstration_answers import COMMAND, answers
from jali.report.sheet import Block, table
from jali.report.templates import environment
from jali.results import PositiveControl, Results, Row
from jali.results.demonstration import Demonstration, Release
from jali.results.verification import Verification

CODES = "reason_codes names the four columns that count most, and no numbers."
POINTS = 2.0  # of accuracy: how far a model may be below the best and still be one that people deploy


@dataclass(frozen=True)
class Finding:
    """One finding: its heading, the answer, what stands beside it, a table, and a command for one's own files."""

    heading: str
    answer: str
    points: tuple[str, ...]
    block: Block
    command: str


@dataclass(frozen=True)
class Story:
    """The page: a lead with the worst of it, the five answers, what it is about, and the findings."""

    lead: str
    answers: tuple[Answer, ...]
    about: tuple[str, ...]
    findings: tuple[Finding, ...]
    identity: tuple[tuple[str, str], ...]


def story(found: Demonstration) -> Story:
    """The demonstration in words."""
    findings = (_release(found), _membership(found), _claims(found), _protected(found), _open(found))
    identity = (
        ("date", found.date),
        ("seed", str(found.seed)),
        ("trained on", f"{found.model.trained_on:,} people"),
        ("sanity checks", f"{sum(c.passed for c in found.audit.sanity)} of {len(found.audit.sanity)} passed"),
        ("jali", found.jali),
    )
    recognised = rate(found.bare)
    beyond = recognised if recognised is not None and _beyond_chance(recognised) else None
    told = answers(found, beyond, explainers(found.audit)[0])
    return Story(_lead(found), told, _about(found), findings, identity)


def holds(found: Demonstration) -> dict[str, bool]:
    """Which of the findings the numbers show; the page words each by its own numbers, also where it does not hold."""
    inside = next((row for row in found.bare.attacked.best if row.group == found.bare.attacked.favourable), None)
    after = rate(found.protected)
    names = explainers(found.audit)
    over = [membership.contrast(found.audit, name, Channel.DECISION, "auc") for name in names]
    verdicts = [claim.verdict for claim in found.claims]
    return {
        "a model that one would deploy": found.model.behind * 100 <= POINTS,
        "members of the favourable class are recognised": inside is not None and _beyond_chance(inside),
        "released rows are real people": found.bare.linked.real,
        "people stand alone": bool(found.bare.linked.known) and found.bare.linked.known[-1].people > 0,
        "attributions add to the decision": over[0] is not None and membership.is_found(over[0]),
        "one claim is refuted, one stands": verdicts == ["REFUTED", "NOT REFUTED"],
        "protected rows are nobody's": not found.protected.linked.real,
        "protected, nobody is recognised beyond chance": after is not None and not _beyond_chance(after),
        "reason codes add less": _lower(over[0], over[1]),
        "the audit is valid": found.audit.valid,
    }


def _lower(before: Row | None, after: Row | None) -> bool:
    """Whether the interval after lies below the one before."""
    if before is None or after is None or before.low is None or after.high is None:
        return False
    return after.high < before.low


def html(found: Demonstration) -> str:
    """The page as one HTML document that loads nothing."""
    return environment().get_template("demonstration.html.j2").render(story=story(found), version=found.jali)


def printed(found: Demonstration) -> Group:
    """The page for a terminal."""
    told = story(found)
    parts: list[object] = [Text(told.lead, style="bold")]
    for answer in told.answers:
        parts.append(Text.assemble((f"{answer.question} ", "bold"), " ".join(answer.sentences)))
        parts += [_indented(answer.command, "dim")] if answer.command else []
    parts += [Text(""), *(Text(line) for line in told.about)]
    for letter, finding in zip("abcde", told.findings, strict=True):
        parts += [Text(""), Text(f"({letter}) {finding.heading}", style="bold"), _indented(finding.answer)]
        parts += [_indented(point) for point in finding.points]
        parts += [table(finding.block)] if finding.block.rows else []
        parts.append(_indented(f"On your own files: {finding.command}", "dim"))
    return Group(*parts)  # type: ignore[arg-type]


def _indented(text: str, style: str = "") -> Padding:
    return Padding(Text(text, style=style), (0, 0, 0, 2))


def plain(found: Demonstration, width: int = 120) -> str:
    """The page as plain text, without colours."""
    buffer = io.StringIO()
    Console(file=buffer, width=width, color_system=None, force_terminal=False, force_jupyter=False, _environ={}).print(
        printed(found)
    )
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _lead(found: Demonstration) -> str:
    """Whether released answers are real people, before and after protection."""
    before = found.bare.linked
    after = found.protected.linked
    if not before.real:
        return "A model of real people, its explanations, and what attacks find in them."
    rest = f"still {after.exact:,}" if after.real else "no more than chance explains"
    return (
        f"Of {before.released:,} counterfactuals in a file, {before.exact:,} are the exact rows of people the model "
        f"was trained on; of the protected answers to the same people, {rest}."
    )


def _beyond_chance(row: Row) -> bool:
    return row.low is not None and row.low > CHANCE[row.metric]


def _about(found: Demonstration) -> tuple[str, ...]:
    model = found.model
    best, reached = max(model.compared.items(), key=lambda pair: pair[1])
    near = "as good as" if model.behind * 100 <= POINTS else "not as good as"
    return (
        f"A forest decides who earns more than 50,000 dollars. It was trained on {model.trained_on:,} real people of "
        f"the census of 1994 and is right about {words.percent(model.accuracy)} % of others, {near} what one would "
        f"deploy: the best of logistic regression, forest and boosting, {best}, reaches {words.percent(reached)} % in "
        "cross-validation on the same rows.",
        f"Data: {found.data}; {found.licence}; it comes with the package. An attack may wrongly flag ten people in "
        "1,000 who were not trained on, in all that follows. AUC: how often an attack ranks a training member above "
        "somebody else; 0.5 is chance. Epsilon: how strongly what is released may depend on one person; 0 is not at "
        "all, and the smaller, the more private.",
    )


def _release(found: Demonstration) -> Finding:
    """(a) From a file of counterfactuals alone."""
    bare = found.bare
    points = (released.answer(bare.attacked), *released.points(bare.attacked), *linkage.points(bare.linked))
    return Finding(
        "What does a file of counterfactuals give away, without the model?",
        linkage.answer(bare.linked),
        points,
        _rates(found),
        "jali attack --released cfs.csv --candidates people.csv --reference population.csv",
    )


def _rates(found: Demonstration) -> Block:
    """What each attack reaches on the bare answers, at 1 % false positives."""
    rows = [row for row in found.bare.attacked.rows if not row.group and row.metric in ("auc", "tpr@0.01")]
    cells: dict[str, dict[str, Row]] = {}
    for row in rows:
        cells.setdefault(row.attack, {})[row.metric] = row
    lines = [[TITLES.get(name, name), _cell(of.get("tpr@0.01")), _cell(of.get("auc"))] for name, of in cells.items()]
    return Block("Attacks on the file", ["attack", "members recognised", "AUC"], lines, "95 % intervals over people.")


def _membership(found: Demonstration) -> Finding:
    """(b) What attributions add to the decision and to the score."""
    audit = found.audit
    rows = []
    for name in explainers(audit):
        added = [membership.contrast(audit, name, base, "auc") for base in (Channel.DECISION, Channel.SCORE)]
        rows.append([name, *(_cell(row) for row in added)])
    first = explainers(audit)[0]
    over = membership.contrast(audit, first, Channel.DECISION, "auc")
    answer = f"How much each column counted ({first}) was not found to add to the decision."
    if over is not None and membership.is_found(over):
        answer = (
            f"Whoever is told how much each column counted ({first}), and not only the decision, tells training "
            f"members from others better by {words.span_of(over)} AUC: the numbers add up to the score."
        )
    rates = membership.contrast(audit, first, Channel.DECISION, "tpr@0.01")
    more: tuple[str, ...] = ()
    if rates is not None and rates.value is not None and words.span_of(rates):
        span = " to ".join(end.removeprefix("+") for end in words.ends(rates))
        more = (f"Of 100 training members, that recognises {span} more than the decision alone.",)
    seen = f"{audit.facts.get('models', 0)} forests on halves of {audit.facts.get('rows', 0):,} people"
    return Finding(
        "What does an attribution add to the decision, and to the score?",
        answer,
        (*more, f"{seen}; the whole audit, with who is hit and what to do, is in audit/report.html.", CODES),
        Block(
            "AUC added by the explanation",
            ["explanation", "to the decision", "to the score"],
            rows,
            "Paired differences on the same people; 95 % intervals over target models.",
        ),
        "jali audit --data loans.csv --target repaid --model 'sklearn(\"sklearn.ensemble:RandomForestClassifier\")' "
        "--explain tree_paths",
    )


def _claims(found: Demonstration) -> Finding:
    """(c) Two claims of differential privacy."""
    rows = [[_name(c), c.claim, _shown(c), c.verdict] for c in found.claims]
    refuted = [c for c in found.claims if c.verdict == "REFUTED"]
    stands = [c for c in found.claims if c.verdict == "NOT REFUTED"]
    said = [
        f"Recourse with noise on the score ({_name(c)}) was published with a proof that epsilon is {c.epsilon:g}. "
        f"That is false: an epsilon of {_shown(c)} is shown."
        for c in refuted
    ]
    said += [
        f"Recourse from private weights ({_name(c)}), built for the same purpose, is not refuted; that is no proof "
        "of it."
        for c in stands
    ]
    said += [f"{_name(c)} could not be tested." for c in found.claims if c.verdict == "NOT TESTABLE"]
    return Finding(
        "Are privacy claims true?",
        " ".join(said),
        tuple(f"{_name(c)}: {verification.verdict(c)}" for c in found.claims),
        Block("Claims", ["mechanism", "claim", "epsilon shown", "verdict"], rows, "Lower bounds at 95 % confidence."),
        "jali verify my_module:release --epsilon 1",
    )


def _protected(found: Demonstration) -> Finding:
    """(d) The same attacks after protection, and the price."""
    pairs = (("unprotected", found.bare), ("protected", found.protected))
    reached = [rate(release) for _, release in pairs]
    alike = all(row is None or row.metric == "tpr@0.01" for row in reached)
    rows = [
        [
            f"{release.explainer}, {name}",
            _cell(rate(release)) if alike else _reached(rate(release)),
            f"{release.linked.exact:,} of {release.linked.released:,}",
            *(words.whole_percent(share) for share in (release.answered, release.valid, release.columns)),
        ]
        for name, release in pairs
    ]
    strongest = "members recognised" if alike else "strongest attack"
    heads = ["answers", strongest, "rows that are somebody's", "answered", "valid", "columns that change"]
    told = membership_after(found.audit)
    return Finding(
        "What is left after protection, and what does it cost?",
        linkage.answer(found.protected.linked),
        (released.answer(found.protected.attacked), f"Guarantee: {found.guarantee}", *told),
        Block(
            "Before and after",
            heads,
            rows,
            f"The same {found.bare.asked:,} people asked; rows equal somebody's by chance too: "
            f"{words.number(found.protected.linked.chance)} would be expected.",
        ),
        COMMAND,
    )


def membership_after(audit: Results) -> tuple[str, ...]:
    """What is left of the attributions' addition where people are told the main reasons instead of numbers."""
    bare, *coarse = explainers(audit)
    if not coarse:
        return ()
    after = membership.contrast(audit, coarse[0], Channel.DECISION, "auc")
    before = membership.contrast(audit, bare, Channel.DECISION, "auc")
    if after is None or before is None or after.value is None or before.value is None:
        return ()
    return (
        f"Attributions: the four main reasons, without numbers, add {words.span_of(after)} AUC to the decision, where "
        f"the numbers add {words.span_of(before)}.",
    )


def _open(found: Demonstration) -> Finding:
    """(e) What could not have been seen."""
    rows = [
        [c.explainer, f"the {c.against.value}" if c.against is not None else words.DASH, _least(c)]
        for c in found.audit.controls
    ]
    rare = [c for c in found.claims if c.rarest is not None]
    points = [
        f"{_name(c)}: a leak in fewer than 1 of {verification.round_down(1 / (c.rarest or 1)):,} answers would "
        "probably be missed."
        for c in rare
    ]
    untested = [f"Not tested in the audit of attributions: {'; '.join(found.audit.not_tested)}."]
    gaps = dict.fromkeys(row.reason for row in found.bare.attacked.rows if row.reason and not row.group)
    return Finding(
        "What could this not have seen?",
        f"{_blind(found.audit)}All of this is about the attacks that were tried; others may find more.",
        (*points, *(f"Released answers: {_at_length(reason)}" for reason in gaps), *untested),
        Block(
            "Smallest addition that 8 of 10 audits like this would find",
            ["explanation", "beside", "AUC"],
            rows,
            "From additions of known size that were planted in the same audit.",
        ),
        "jali audit --dry-run --data loans.csv --target repaid",
    )


def _at_length(reason: str) -> str:
    """Why a rate could not be read, without the abbreviation.

    >>> _at_length("FPR 0.1 % needs at least 2,995 non-members; there are 2,000.")
    'a false-positive rate of 0.1 % needs at least 2,995 non-members; there are 2,000.'
    """
    level = reason.removeprefix("FPR ")
    return reason if level == reason else f"a false-positive rate of {level}"


def _blind(audit: Results) -> str:
    """The smallest addition of the first explanation that would have been found beside the score."""
    name = explainers(audit)[0]
    beside = [c for c in audit.controls if c.explainer == name and c.against is Channel.SCORE]
    if not beside or beside[0].detectable is None:
        return ""
    least = words.above(beside[0].detectable)
    return f"Beside the score, an addition of less than {least} AUC by {name} would often have been missed. "


def _least(control: PositiveControl) -> str:
    if control.detectable is None:
        return control.reason.rstrip(".") or f"more than {words.number(max(control.sizes, default=0.0))}"
    return words.above(control.detectable)  # as in the sentence above the table


def explainers(audit: Results) -> list[str]:
    """The explanations of an audit, in its order."""
    rows = audit.find(kind="contrast", metric="auc", group="")
    return list(dict.fromkeys(row.explainer for row in rows))


def rate(release: Release) -> Row | None:
    """What the strongest attack reaches on everybody, in its own metric; its interval allows for having chosen it."""
    return next((row for row in release.attacked.best if not row.group and row.value is not None), None)


def _reached(row: Row | None) -> str:
    """The same as a cell, with its metric."""
    return words.DASH if row is None else f"{words.metric_name(row.metric)} {_cell(row)}"


def _cell(row: Row | None) -> str:
    if row is None or row.value is None:
        return words.DASH
    span = words.span_of(row)
    return f"{words.value_of(row)} ({span})" if span else words.value_of(row)


def _name(claim: Verification) -> str:
    """The name of a mechanism without its settings."""
    return claim.name.partition("(")[0]


def _shown(claim: Verification) -> str:
    return f"at least {claim.lower:.2f}" if claim.lower > 0 else "none"
