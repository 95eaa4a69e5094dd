"""Threat models that an audit covered and those it did not test, derived from what ran."""

from __future__ import annotations

from collections.abc import Sequence

from jali.audit import queries
from jali.audit.all_models import EXPLAINED
from jali.audit.attack_runs import AttackRun
from jali.core.claims import Harm
from jali.core.protocols import AsksMore, Signal
from jali.core.values import Channel, Game
from jali.results import Results, Threat
from jali.text.shares import about

SEES = {
    Channel.DECISION: "the decision, and whether an explanation was given",
    Channel.SCORE: "the probability of every class",
    Channel.EXPLANATION: "the explanation",
    Channel.SCORE_AND_EXPLANATION: "the probabilities and the explanation",
    Channel.DECISION_AND_EXPLANATION: "the decision and the explanation",
}
HARMS: dict[Harm, str] = {
    "membership": "who was in the training data",
    "identity": "whose record an explanation shows",
    "attributes": "single attributes of a person, and reconstruction of records",
    "the model": "extraction of the model",
}
MANY = "adversaries who make many queries about one record"
TOGETHER = "what several explanations of one decision tell together: each was attacked by itself"
ALWAYS = (
    "attacks on other releases: gradients, training logs, several model versions, model files",
    "adversaries who adapt their queries to earlier answers, beyond the attacks listed",
    "records and populations other than the ones given",
)


def threats(results: Results, game: Game, runs: Sequence[AttackRun], signals: Sequence[Signal] = ()) -> list[Threat]:
    """What the adversary of each channel and of each attack run is assumed to see, to know, to have and to ask.

    signals: those that were named, with their controls.
    """
    present = {row.channel for row in results.rows}
    common = {"knows": "the record and its label", "has": shadows_held(game)}
    seen = [(channel, sees) for channel, sees in SEES.items() if channel in present]
    on_signals = [Threat(channel=c, sees=sees, asks=_asks(c, signals), **common) for c, sees in seen]
    return on_signals + queries.threats(runs, results)


def _asks(channel: Channel, signals: Sequence[Signal]) -> str:
    """How many queries are made about a record, where some signals ask about other rows too."""
    explained = channel is Channel.SCORE_AND_EXPLANATION
    mine = [s for s in signals if explained or (channel is Channel.SCORE and not s.needs & EXPLAINED)]
    more = sum(s.queries for s in mine if isinstance(s, AsksMore))
    return f"{1 + more} queries per record" if more else "one query per record"


def not_tested(results: Results) -> list[str]:
    """What was not tested: harms without an attack, many queries per record, and what no audit tests."""
    learnt = {row.learns for row in results.rows if row.learns is not None}
    missing = [text for harm, text in HARMS.items() if harm not in learnt]
    rows = results.find(kind="query attack")
    many = any(row.queries > 2 * max(row.n, 1) for row in rows)
    explainers = {row.explainer for row in results.find(kind="contrast") if row.explainer}
    return [*missing, *([] if many else [MANY]), *([TOGETHER] if len(explainers) > 1 else []), *ALWAYS]


def shadows_held(game: Game) -> str:
    """The adversary's shadow models and known non-members, in words."""
    many = int(game.shadows[0].sum())
    aside = 0 if game.aside is None else int(game.aside.sum())
    apart = f", and {aside:,} records of people known to be in no training set, who are not judged" if aside else ""
    return (_shadows_in_words(game, many) if many else "no shadow models") + apart


def _shadows_in_words(game: Game, many: int) -> str:
    """How many shadow models there are, and whether they were trained on records that are scored."""
    scored = game.scored[:, 0]
    inside = game.member[:, game.shadows[0]][scored]
    if not inside.any():
        return f"{many} shadow models, none trained on a record that is judged: an adversary without candidates"
    share = about(float(inside.mean()))
    known = int((game.member[:, game.shadows[0]].all(axis=1) & ~scored).sum())
    more = f" and on {known:,} members it knows, who are not judged" if known else ""
    return f"all {int(scored.sum()):,} candidates, and {many} shadow models, each trained on {share} of these{more}"
