"""The five questions of everybody who opens a report, each with its answer in a sentence or two.

Do the explanations leak, how much, whom does it hit, what should I do, what does it cost? A privacy officer must
understand every answer without looking anything up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jali.audit.wrapped import part_of
from jali.core import registry
from jali.core.values import Channel
from jali.report import views, words
from jali.report.audit import before_after, membership, query_attacks, verdicts
from jali.report.audit.findings import Harm
from jali.report.audit.options import Option
from jali.report.audit.verdicts import Verdict
from jali.results import Results, Row

LEAK, MUCH, WHOM, TODO, COST = QUESTIONS = (
    "Do the explanations leak?",
    "How much?",
    "Whom does it hit?",
    "What should I do?",
    "What does it cost?",
)
DOES = {  # what one explanation does, and what several do
    Harm.CLAIM: ("makes a privacy claim that is false", "make privacy claims that are false"),
    Harm.IDENTITY: ("leads to real people", "lead to real people"),
    Harm.ATTRIBUTES: ("gives values of people away", "give values of people away"),
    Harm.MEMBERSHIP: (
        "helps to tell who was in the training data",
        "help to tell who was in the training data",
    ),
    Harm.OPEN: ("was tested on too little to tell", "were tested on too little to tell"),
    Harm.NONE: ("was not found to leak by the attacks tried", "were not found to leak by the attacks tried"),
}
GIVES = {  # what people are told by each kind of explanation
    "attribution": "how much each column counted",
    "counterfactual": "what would have to be different",
    "surrogate": "rules that imitate the model",
}
REASONS = "the main reasons, without numbers"
UNNAMED = 3  # explanations that do the same are counted from here on, not named
UNTRIED = "Not measured yet. The command measures it: answers withheld, valid answers, and time, beside what leaks."


@dataclass(frozen=True)
class Answer:
    """A question, its answer in sentences, and the command that follows from it."""

    question: str
    sentences: tuple[str, ...]
    command: str = ""


def answers(
    results: Results, found: Sequence[Verdict], whom: Sequence[str], options: Sequence[Option]
) -> tuple[Answer, ...]:
    """The five questions of an audit, in their order."""
    first = options[0] if options else Option("")
    return (
        Answer(LEAK, leak(results, found)),
        Answer(MUCH, tuple(filter(None, [*_much(results, found), _baseline(results, found)]))),
        Answer(WHOM, _hit(results, found, whom)),
        Answer(TODO, _advice(found, options), first.command),
        Answer(COST, _cost(results, found, first)),
    )


def leak(results: Results, found: Sequence[Verdict]) -> tuple[str, ...]:
    """Yes, no or too small to tell, with the explanations by what they do, the worst first."""
    claim = verdicts.worst_claim(results)
    if not found:
        return (claim or "No explanation was audited: this is about the predictions alone.",)
    by_harm: dict[Harm, list[str]] = {}
    for verdict in found:
        by_harm.setdefault(verdict.harm, []).append(verdict.explainer)
    said = [_does(results, harm, names) for harm, names in sorted(by_harm.items())]
    open_rows = [v.explainer for v in found if v.harm >= Harm.MEMBERSHIP and verdicts.UNTESTED in v.sentences]
    said += [f"{words.listed(open_rows)}: rows of real people, which no attack tried to name"] if open_rows else []
    worst = min(by_harm)
    start = {Harm.OPEN: "Too small to tell. ", Harm.NONE: "Not by the attacks tried; others may find more. "}
    text = start.get(worst, "Yes. ") + f"{'; '.join(said)}."
    about_model = claim if claim and worst != Harm.CLAIM else ""
    return tuple(filter(None, (about_model, text)))


def _does(results: Results, harm: Harm, names: Sequence[str]) -> str:
    """What explanations of one verdict do, with what they tell people, said once where that is the same."""
    one, several = DOES[harm]
    told = {name: tells(results, name) for name in names}
    if len(names) > UNNAMED:
        return f"{len(names)} explanations {several}"
    if len(set(told.values())) == 1:
        what = told[names[0]]
        return f"{words.listed(names)}{f' ({what})' if what else ''} {one if len(names) == 1 else several}"
    return f"{words.listed([f'{name} ({what})' if what else name for name, what in told.items()])} {several}"


def tells(results: Results, explainer: str) -> str:
    """What people are told by an explanation, in a few words; empty where that is not known."""
    part = part_of(results, explainer)
    if part is None:
        return ""
    return REASONS if registry.name_of(part) == "reason_codes" else GIVES.get(part.gives, "")


def _much(results: Results, found: Sequence[Verdict]) -> tuple[str, ...]:
    """The worst finding in numbers: of 100 answers, or of 100 pairs of a member and a non-member."""
    if not found:
        return query_attacks.sentences(results)[:1]
    worst = found[0]
    if worst.harm == Harm.CLAIM:
        claims = [given.claim for given in results.guarantees if given.what == worst.explainer and given.refuted]
        return (f"The claim is {claims[0]}. It does not hold, so it limits nothing.", *worst.sentences[1:2])
    if worst.harm != Harm.MEMBERSHIP:
        return worst.sentences[:2]
    rows = [membership.contrast(results, worst.explainer, base, "auc") for base in membership.BASES]
    added = [row for row in rows if row is not None and membership.is_found(row)]
    if not added:
        return worst.sentences[:1]
    row = max(added, key=lambda one: one.low or 0.0)
    return (pairs_of_100(results, row),)


def pairs_of_100(results: Results, row: Row) -> str:
    """A paired difference in AUC as pairs of a member and a non-member, which an attack must tell apart."""
    name = membership.BASES[row.against] if row.against is not None else ""
    both = views.side(results, row, row.channel)
    reach = f"in {100 * both.value:.0f} of 100 cases" if both is not None and both.value is not None else "more often"
    more = f"{verdicts.pairs(row.low)} to {verdicts.pairs(row.high)}"
    people = f" ({words.covered(row)})" if words.covered(row) else ""
    return (
        f"Shown one training member and one other person, an attacker who sees {name.removesuffix(' alone')} and "
        f"{row.explainer} picks the member {reach}: {more} more than with {name}{people}. Chance is 50."
    )


def _baseline(results: Results, found: Sequence[Verdict]) -> str:
    """What already leaks without any explanation, from the decision and from the score, as pairs of 100."""
    names = {Channel.DECISION: "the decision", Channel.SCORE: "the score"}
    rows = {name: on_prediction(results, channel, "auc") for channel, name in names.items()}
    said = [f"{_between(row)} from {name}" for name, row in rows.items() if row is not None]
    if not said:
        return ""
    if found and found[0].harm == Harm.MEMBERSHIP:  # the sentence before says what is counted
        return f"Without any explanation, over everybody: {' and '.join(said)}."
    return (
        "Without any explanation, an attacker who is shown one training member and one other person picks the member "
        f"in {' and '.join(said)} of 100 cases; chance is 50."
    )


def _between(row: Row) -> str:
    ends = [f"{100 * end:.0f}" for end in (row.low, row.high) if end is not None]
    if len(ends) < 2:
        return f"about {100 * (row.value or 0.0):.0f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def on_prediction(results: Results, channel: Channel, metric: str) -> Row | None:
    """The strongest combined attack on a prediction, on everybody; the strongest of all where none is combined."""
    rows = results.find(kind="attack", channel=channel, explainer="", metric=metric, group="", target=None)
    known = [row for row in rows if row.value is not None]
    pool = [row for row in known if row.combined] or known
    return max(pool, key=lambda row: row.value or 0.0, default=None)


def _hit(results: Results, found: Sequence[Verdict], whom: Sequence[str]) -> tuple[str, ...]:
    said = (*_singled_out(results, found), *whom, *_ungrouped(results))
    return said or ("It cannot be told: no group of people is large enough to be compared with everybody.",)


def _ungrouped(results: Results) -> tuple[str, ...]:
    """Why groups were not compared, where they were not."""
    rows = results.find(kind="attack")
    if any(row.group for row in rows):
        return ()
    if not rows and results.find(kind="query attack"):
        return ("Groups were not compared: query attacks are judged on everybody together.",)
    return ("Groups were not compared: no column is marked as sensitive or as known to others.",)


def _singled_out(results: Results, found: Sequence[Verdict]) -> tuple[str, ...]:
    """How many training people the answers of the worst explanation single out together."""
    if not found or found[0].harm != Harm.IDENTITY:
        return ()
    rows = results.find(kind="query attack", explainer=found[0].explainer, group="", target=None)
    reached = [row for row in rows if row.metric.startswith("coverage@") and row.value]
    if not reached:
        return ()
    row = max(reached, key=lambda one: (int(one.metric.partition("@")[2]), one.value or 0.0))
    after = words.metric_name(row.metric)
    share = words.whole_percent(row.value or 0.0)
    return (f"{after}, {share} of all training people have been singled out by {row.explainer}.",)


def _advice(found: Sequence[Verdict], options: Sequence[Option]) -> tuple[str, ...]:
    if not options:
        nothing = found and all(verdict.harm == Harm.NONE for verdict in found)
        said = "No change follows from the attacks tried. " if nothing else ""
        return (f"{said}Audit again when the model, the data or the explanations change.",)
    first = options[0]
    rest = f"{len(options) - 1} more below." if len(options) > 1 else ""
    return tuple(filter(None, (first.what, first.guarantee, first.effect, rest)))


def _cost(results: Results, found: Sequence[Verdict], first: Option) -> tuple[str, ...]:
    """The price of what is advised, where it was measured; and what the answers are worth as they are."""
    unknown = UNTRIED if first.command.startswith("jali audit") else "What that costs was not measured here."
    said = [first.price or (unknown if first.what else "")]
    right = before_after.measured(results, "", "test_accuracy")
    if right is not None:
        said.append(f"As it is, the model is right about {before_after.amount(right)} of people it was not trained on.")
    if found:
        said.append(_worth(results, found[0].explainer))
    return tuple(filter(None, said)) or ("The cost was not measured.",)


def _worth(results: Results, explainer: str) -> str:
    """What the answers of one explanation are worth, in one sentence."""
    parts = {"answered": "answers {} of people", "validity": "{} of its answers are valid", "seconds": "{} an answer"}
    rows = {metric: before_after.measured(results, explainer, metric) for metric in parts}
    told = [parts[metric].format(before_after.amount(row)) for metric, row in rows.items() if row is not None]
    return f"{explainer} {', '.join(told)}." if told and rows["answered"] is not None else ""
