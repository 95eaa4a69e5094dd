"""The five questions of the first screen, answered for the demonstration by its own numbers."""

from __future__ import annotations

from jali.core.values import Channel
from jali.report import words
from jali.report.audit import membership, questions, whom
from jali.report.audit.questions import COST, LEAK, MUCH, TODO, WHOM, Answer
from jali.results import Row
from jali.results.demonstration import Demonstration

COMMAND = "jali explain loans.csv --target repaid --favourable yes --people today.csv --out answers.csv"


def answers(found: Demonstration, recognised: Row | None, explainer: str) -> tuple[Answer, ...]:
    """The five answers. recognised: what the strongest attack on the bare file reaches, if that is beyond chance.

    explainer: the attribution that was audited.
    """
    added = membership.contrast(found.audit, explainer, Channel.DECISION, "auc")
    sure = added if added is not None and membership.is_found(added) else None
    return (
        Answer(LEAK, (_leak(found, explainer, sure),)),
        Answer(MUCH, _much(found, recognised, sure)),
        Answer(WHOM, _hit(found)),
        Answer(TODO, _advice(found), COMMAND),
        Answer(COST, _cost(found)),
    )


def _leak(found: Demonstration, explainer: str, added: Row | None) -> str:
    said = []
    if found.bare.linked.real:
        said.append("a file of counterfactuals (what would have to be different) shows real people")
    if added is not None:
        said.append(
            f"attributions ({explainer}: how much each column counted) help to tell who was in the training data"
        )
    said += [
        f"a published privacy claim ({c.name.partition('(')[0]}) is false"
        for c in found.claims
        if c.verdict == "REFUTED"
    ]
    return f"Yes: {'; '.join(said)}." if said else "No attack tried found that they do; others may find more."


def _much(found: Demonstration, recognised: Row | None, added: Row | None) -> tuple[str, ...]:
    out = []
    if recognised is not None and words.level(recognised.metric) is not None:
        share = f"{100 * (recognised.value or 0.0):.0f}"
        price = words.price(recognised.metric)
        out.append(f"From the file alone, {share} of 100 training members are recognised, with {price}.")
    if added is not None:
        out.append(questions.pairs_of_100(found.audit, added))
    return tuple(out) or ("Nothing beyond chance was found.",)


def _hit(found: Demonstration) -> tuple[str, ...]:
    linked = found.bare.linked
    out = []
    if linked.real:
        out.append(
            f"{linked.people:,} of {linked.register_people:,} training people are in the file with their exact row."
        )
    if linked.real and linked.known:
        last = linked.known[-1]
        columns = words.listed(last.columns)
        out.append(f"Whoever knows {columns} of everybody names {last.people:,} of them: nobody else fits.")
    return (*out, *whom.whom(found.audit)[:1]) or ("No group and no record stands out.",)


def _advice(found: Demonstration) -> tuple[str, ...]:
    if found.protected.linked.real:
        return (f"{found.protected.explainer} was tried and still shows real people: give no such answers.",)
    return (
        f"Give answers by {found.protected.explainer}, which stand for groups of people, and name the main reasons "
        "instead of numbers.",
        f"Guarantee: {found.guarantee}",
    )


def _cost(found: Demonstration) -> tuple[str, ...]:
    share = words.whole_percent
    before = found.bare
    after = found.protected
    return (
        f"{after.explainer} answers {share(after.answered)} of those who ask (unprotected: {share(before.answered)}), "
        f"{share(after.valid)} of its answers lead to the wanted outcome ({share(before.valid)}), and "
        f"{share(after.columns)} of the columns change ({share(before.columns)}).",
        f"Reasons without numbers say less. The model stays as it is: right about {share(found.model.accuracy)} of "
        "others.",
    )
