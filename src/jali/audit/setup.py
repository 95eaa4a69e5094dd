"""Attacks that ask in an audit: which of them, knowing what, of whom, and in what game."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.audit.attack_runs import Inquest
from jali.audit.worker import GAME, stream
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.protocols import Attack, Design, is_local, releases_rows
from jali.core.query import Inquiry, Knowledge
from jali.core.values import Dataset, Game, Rng
from jali.games.fixed import Fixed
from jali.games.folds import Folds
from jali.games.visitors import Visitors

LINKAGE = "linkage"
REGISTER, NOISE = "register", "noise"  # what is known by default: to say who somebody is, and who was a member
PEOPLE, CLAIMED = 1000, 2000  # asked about at most
SEES = {"label": "the decision", "probabilities": "the probability of every class", "explanation": "the explanation"}


@dataclass(frozen=True)
class Targets:
    """The targets of a game without its shadows: attacks that ask need none.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Targets(Folds(k=3)).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> game.member.shape, bool(game.shadows.any())
    ((100, 3), False)
    """

    game: Design

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """The same draw, of which only the models attacked are kept."""
        whole = self.game.draw(data, rng)
        many = len(whole.targets)
        nobody = np.zeros((many, many), dtype=bool)
        return Game(whole.member[:, whole.targets], np.arange(many), nobody, whole.scored, asked=whole.scored)


def parted(named: Sequence[Any]) -> tuple[tuple[Attack, ...], tuple[Inquiry, ...]]:
    """Attacks on signals, and attacks that ask, from specifications or parts.

    >>> [len(some) for some in parted(["threshold", "linkage", "lira"])]
    [2, 1]
    """
    built = [registry.build(_kind(part), part) if isinstance(part, str) else part for part in named]
    return tuple(a for a in built if not hasattr(a, "run")), tuple(a for a in built if hasattr(a, "run"))


def _kind(text: str) -> Any:
    """Whether a specification names an attack or an inquiry."""
    name = (re.match(r"\s*([\w.:]*)", text) or [""])[0].strip()
    if ":" in name:
        return "inquiry" if hasattr(registry.find("attack", name), "run") else "attack"
    attacks, inquiries = registry.names("attack"), registry.names("inquiry")
    if name and name not in (*attacks, *inquiries):
        near = difflib.get_close_matches(name, (*attacks, *inquiries), n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join((*attacks, *inquiries))}"
        raise JaliError(f"There is no attack called {name!r}; {hint}? (A part of your own is package.module:Class.)")
    return "inquiry" if name in inquiries else "attack"


def identifiable(data: Dataset) -> bool:
    """Whether some column is a quasi-identifier."""
    return any(column.role == "quasi" for column in data.schema.columns)


def usual(explainers: Sequence[Explainer], knowledge: Any = "") -> tuple[Inquest, ...]:
    """The attack that is tried unasked: linkage, of explainers that release rows of people."""
    shown = [e for e in explainers if releases_rows(e)]
    return inquests([registry.build("inquiry", LINKAGE)] if shown else [], shown, knowledge)


def untried(explainers: Sequence[Explainer], inquests: Sequence[Inquest], data: Dataset) -> list[str]:
    """A warning where rows of people are released and nobody tried to find these people."""
    tried = [inquest.explainer for inquest in inquests if inquest.inquiry.links]
    shown = [registry.spec(e) for e in explainers if releases_rows(e) and e not in tried]
    if not shown:
        return []
    why = (
        "because the attacks were named and linkage is not among them (--attack linkage)"
        if identifiable(data)
        else "because no column is marked as one by which they are known (--quasi, or role quasi)"
    )
    return [f"{' and '.join(shown)} shows rows of real people. Whether these can be found was not tried, {why}."]


def inquests(inquiries: Sequence[Inquiry], explainers: Sequence[Explainer], knowledge: Any = "") -> tuple[Inquest, ...]:
    """Each inquiry with what it knows, held against everything it can ask.

    Those that say who somebody is ask every explainer that gives counterfactuals, and hold a register unless told
    otherwise. The others ask the model and every surrogate of it, and hold noisy rows of other people.
    """
    given = registry.build("knowledge", knowledge) if isinstance(knowledge, str) and knowledge else knowledge or None
    if given is not None and not any(_fits(given, inquiry) for inquiry in inquiries):
        asked = " and ".join(map(registry.name_of, inquiries)) or "any attack here"
        raise JaliError(
            f"{registry.name_of(given)} is no knowledge for {asked}: linkage, intersection and replay hold a list of "
            "people (register or census), attacks that claim membership hold rows (noise, statistical or random)."
        )
    return tuple(
        Inquest(inquiry, given if given is not None and _fits(given, inquiry) else _usual_knowledge(inquiry), explainer)
        for inquiry in inquiries
        for explainer in _whom(inquiry, explainers)
    )


def _fits(knowledge: Knowledge, inquiry: Inquiry) -> bool:
    return (knowledge.whose != "others") == inquiry.links


def _usual_knowledge(inquiry: Inquiry) -> Knowledge:
    made: Knowledge = registry.build("knowledge", REGISTER if inquiry.links else NOISE)
    return made


def _whom(inquiry: Inquiry, explainers: Sequence[Explainer]) -> list[Explainer | None]:
    """Whom an inquiry asks; None is the model itself."""
    name = registry.name_of(inquiry)
    gives = "counterfactual" if inquiry.links else "surrogate"
    local = inquiry.shows == "explanation"
    fit = [e for e in explainers if e.gives == gives and (inquiry.links or is_local(e) == local)]
    if inquiry.shows != "explanation":
        return [None, *fit]
    if not fit:
        what, such = ("counterfactuals", "nice") if inquiry.links else ("a model for each record", "lore")
        raise JaliError(f"{name} reads {what}, and no explainer named gives them: add one, such as --explain {such}.")
    return list(fit)


def check(inquests: Sequence[Inquest], data: Dataset) -> None:
    """Refuse to look for people in a table that says nothing of how they can be found."""
    linking = [inquest for inquest in inquests if inquest.inquiry.links]
    if linking and not identifiable(data):
        raise JaliError(
            f"{registry.name_of(linking[0].inquiry)} finds people by quasi-identifiers, and no column of this table is "
            "one: name the columns that others know too, such as --quasi age --quasi postcode."
        )


def design(game: Design, inquests: Sequence[Inquest], data: Dataset, seed: int) -> Design:
    """The game in which inquests are held.

    Where a game asks about everybody, nobody is left from whom an adversary could know something, and with whom an
    answer could be compared: then it is `visitors`, or `folds` where membership is claimed. A model that exists stays
    the one that is asked, by an outsider. Otherwise it is the game itself, without its shadows.
    """
    if isinstance(game, Fixed):
        return Targets(game.offline())
    drawn = game.draw(data, stream(seed, GAME))
    if not drawn.scored.all():
        return Targets(game) if drawn.shadows.any() else game
    if all(inquest.inquiry.links for inquest in inquests):
        return Visitors(most=max(1, min(PEOPLE, len(data) // 5)))
    return Folds(shadows=0, most=CLAIMED)


def unshadowed(game: Design, data: Dataset, seed: int) -> bool:
    """Whether a game has no shadow models, so that signals cannot be attacked in it."""
    return not game.draw(data, stream(seed, GAME)).shadows.any()


def threats(inquests: Sequence[Inquest]) -> list[dict[str, str]]:
    """What the adversary of each inquest is assumed to see and to have."""
    out = []
    for q in inquests:
        asked = "the model" if q.explainer is None else registry.spec(q.explainer)
        surrogate = q.explainer is not None and q.explainer.gives == "surrogate"
        name, built_in = registry.name_of(q.knowledge), registry.names("knowledge")
        knows = registry.summary("knowledge", name).rstrip(".") if name in built_in else name
        out.append(
            {
                "channel": f"{registry.spec(q.inquiry)}, asking {asked}",
                "sees": "the surrogate" if surrogate else SEES[q.inquiry.shows],
                "knows": knows[:1].lower() + knows[1:],
                "has": "no shadow models" if q.inquiry.links else "shadow models of its own making",
                "asks": "many questions per record" if q.inquiry.shows == "label" else "one question per record",
            }
        )
    return out
