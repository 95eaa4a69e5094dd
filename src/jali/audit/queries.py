"""Query attacks in an audit: which attacks run, with what knowledge, against what, and in what game."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.audit.attack_runs import AttackRun
from jali.audit.setup import Setup
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.protocols import Attack, Design, is_local, releases_rows
from jali.core.query import Holds, Knowledge, QueryAttack, RunsOnOracle
from jali.core.values import Dataset, Game, Rng
from jali.games.folds import Folds
from jali.games.given_model import GivenModel
from jali.games.outsiders import Outsiders
from jali.results import Results, Threat

LINKAGE = "linkage"
HELD: dict[Holds, str] = {"register": "register", "rows": "noise"}  # the default knowledge
OUTSIDERS = 1000  # outsiders queried at most
CANDIDATES = 2000  # members and non-members queried at most
SEES = {
    "labels": "the decision",
    "probabilities": "the probability of every class",
    "counterfactuals": "the explanation",
    "local surrogates": "the surrogate",
}


@dataclass(frozen=True)
class Targets:
    """The targets of a game without its shadow models: query attacks train their own.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> game = Targets(Folds(k=3)).draw(LinearGaussian(n=100, d=2).load(), np.random.default_rng(0))
    >>> game.member.shape, bool(game.shadows.any())
    ((100, 3), False)
    """

    game: Design

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw the game and keep only the models that are attacked."""
        return targets_of(self.game.draw(data, rng))


def targets_of(whole: Game) -> Game:
    """A game without its shadows."""
    many = len(whole.targets)
    nobody = np.zeros((many, many), dtype=bool)
    return Game(whole.member[:, whole.targets], np.arange(many), nobody, whole.scored, asked=whole.scored)


def by_kind(named: Sequence[Any]) -> tuple[tuple[Attack, ...], tuple[QueryAttack, ...]]:
    """Attacks on signals, and query attacks, from specifications or parts.

    >>> [len(some) for some in by_kind(["threshold", "linkage", "lira"])]
    [2, 1]
    """
    built = [_built(part) if isinstance(part, str) else part for part in named]
    queries = tuple(a for a in built if _queries(a))
    return tuple(a for a in built if not _queries(a)), queries


def _queries(part: Any) -> bool:
    """Whether an attack is run against an oracle."""
    return isinstance(part, RunsOnOracle)


def _built(text: str) -> Any:
    """The attack, of either kind, that a specification names."""
    name = (re.match(r"\s*([\w.:]*)", text) or [""])[0].strip()
    if ":" in name:
        kind: registry.PartKind = (
            "query_attack" if issubclass(registry.find("attack", name), RunsOnOracle) else "attack"
        )
        return registry.build(kind, text)
    on_signals = registry.names("attack")
    on_oracles = registry.names("query_attack")
    known = (*on_signals, *on_oracles)
    if name and name not in known and name not in registry.RENAMED:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(known)}"
        raise JaliError(f"There is no attack called {name!r}; {hint}? (A part of your own is package.module:Class.)")
    return registry.build("query_attack" if registry.RENAMED.get(name, name) in on_oracles else "attack", text)


def identifiable(data: Dataset) -> bool:
    """Whether some column is a quasi-identifier."""
    return any(column.role == "quasi" for column in data.schema.columns)


def usual(explainers: Sequence[Explainer], knowledge: Any = "") -> tuple[AttackRun, ...]:
    """The default query attack: linkage, on explainers that release rows of people."""
    shown = [e for e in explainers if releases_rows(e)]
    return runs([registry.build("query_attack", LINKAGE)] if shown else [], shown, knowledge)


def untried(explainers: Sequence[Explainer], tried: Sequence[AttackRun], data: Dataset) -> list[str]:
    """A warning where rows of people are released and no attack tried to identify these people."""
    linked = [run.explainer for run in tried if run.attack.learns == "identity"]
    shown = [registry.spec(e) for e in explainers if releases_rows(e) and e not in linked]
    if not shown:
        return []
    why = (
        "because the attacks were named and linkage is not among them (--attack linkage)"
        if identifiable(data)
        else "because no column is marked as a quasi-identifier (--quasi, or role quasi)"
    )
    return [f"{' and '.join(shown)} shows rows of real people. No attack tried to identify these people, {why}."]


def runs(attacks: Sequence[QueryAttack], explainers: Sequence[Explainer], knowledge: Any = "") -> tuple[AttackRun, ...]:
    """Each attack with its knowledge, run against everything that it can query."""
    given = registry.build("knowledge", knowledge) if isinstance(knowledge, str) and knowledge else knowledge or None
    if given is not None and not any(_fits(given, attack) for attack in attacks):
        named = " and ".join(map(registry.name_of, attacks)) or "any attack here"
        raise JaliError(
            f"{registry.name_of(given)} is no knowledge for {named}: linkage, intersection and minimality hold a list "
            "of people (register or population_register), attacks that claim membership hold rows (noise, statistical "
            "or random)."
        )
    out = []
    for attack in attacks:
        held = given if given is not None and _fits(given, attack) else registry.build("knowledge", HELD[attack.holds])
        out += [AttackRun(attack, held, explainer) for explainer in _queried(attack, explainers)]
    return tuple(out)


def _fits(knowledge: Knowledge, attack: QueryAttack) -> bool:
    return ("rows" if knowledge.whose == "others" else "register") == attack.holds


def _queried(attack: QueryAttack, explainers: Sequence[Explainer]) -> list[Explainer | None]:
    """The explainers that an attack queries; None stands for the model itself."""
    if attack.sees in ("labels", "probabilities"):
        return [None, *(e for e in explainers if e.gives == "surrogate" and not is_local(e))]
    local = attack.sees == "local surrogates"
    fit = [e for e in explainers if (e.gives == "surrogate" and is_local(e) if local else e.gives == "counterfactual")]
    if not fit:
        what, such = ("a model for each record", "lore") if local else ("counterfactuals", "nice")
        name = registry.name_of(attack)
        raise JaliError(f"{name} reads {what}, and no explainer named gives them: add one, such as --explain {such}.")
    return list(fit)


def check(chosen: Sequence[AttackRun], data: Dataset) -> None:
    """Refuse linkage on a table without quasi-identifiers."""
    linking = [run for run in chosen if run.attack.holds == "register"]
    if linking and not identifiable(data):
        raise JaliError(
            f"{registry.name_of(linking[0].attack)} finds people by quasi-identifiers, and no column of this table is "
            "one: name the columns that others know too, such as --quasi age --quasi postcode."
        )


def own_game(setup: Setup) -> Setup:
    """The setup in which the query attacks are run.

    Where a game scores every record, no people are left as the adversary's background knowledge, or to compare an
    answer with: the game is then `outsiders`, or `folds` where membership is claimed. A model that exists stays the
    target, and its adversary has no candidates. Otherwise the game is kept, without its shadow models.
    """
    game = setup.parts.game
    if isinstance(game, GivenModel):
        return setup.with_game(Targets(game.offline()))
    if not setup.game.scored.all():
        if not setup.game.shadows.any():
            return setup
        return Setup(setup.with_parts(game=Targets(game)).parts, setup.data, targets_of(setup.game))
    if all(run.grader.about == "outsiders" for run in setup.parts.runs):
        return setup.with_game(Outsiders(most=max(1, min(OUTSIDERS, len(setup.data) // 5))))
    return setup.with_game(Folds(shadows=0, most=CANDIDATES))


def threats(chosen: Sequence[AttackRun], results: Results) -> list[Threat]:
    """What the adversary of each attack run is assumed to see and to have, and how many queries it made."""
    return [_threat(run, results) for run in chosen]


def _threat(run: AttackRun, results: Results) -> Threat:
    attack = registry.spec(run.attack)
    mine = results.find(kind="query attack", attack=attack, explainer=run.queried)
    queries = max((row.queries for row in mine), default=0)
    records = max((row.n for row in mine), default=0)
    name = registry.name_of(run.knowledge)
    built_in = name in registry.names("knowledge")
    knows = registry.summary("knowledge", name).rstrip(".") if built_in else name
    surrogate = run.explainer is not None and run.explainer.gives == "surrogate"
    return Threat(
        channel=f"{attack}, querying {run.queried or 'the model'}",
        sees="the surrogate" if surrogate else SEES[run.attack.sees],
        knows=knows[:1].lower() + knows[1:],
        has="shadow models of its own making" if run.attack.trains_shadows else "no shadow models",
        asks=in_words(queries, records),
    )


def in_words(queries: int, records: int) -> str:
    """How many queries an attack made, in words.

    >>> in_words(500, 500), in_words(50_500, 500)
    ('one query per record', '50,500 queries, about 101 per record')
    """
    if queries <= records or not records:
        return "one query per record" if queries == records else f"{queries:,} queries"
    return f"{queries:,} queries, about {round(queries / records):,} per record"
