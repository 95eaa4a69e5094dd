"""What attacks on signals found, kept in the store: an audit that is run again reads it instead of attacking again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jali.audit.kept import kept
from jali.audit.one_model import digest
from jali.audit.plan import COMBINED, usual
from jali.audit.signal_attacks import Attacked
from jali.audit.summary import groups
from jali.core import registry
from jali.core.protocols import Attack
from jali.core.values import Dataset, Evidence, Game
from jali.store import Store

CODE = "jali.audit.signal_attacks"


def key(evidence: Evidence, game: Game, attacks: Sequence[Attack], seed: int, data: Dataset) -> str:
    """The key of everything that the results of attacks on signals depend on."""
    optional = (game.asked, game.aside, game.weight)
    design = (game.member, game.targets, game.shadows, game.scored, *(a for a in optional if a is not None))
    people = digest(data.X, data.y, data.group_numbers(), *groups(data).values())
    found = digest(evidence.value, evidence.observed)
    present = [a is not None for a in optional]
    labels = list(groups(data))
    names = (evidence.names, evidence.units, data.schema, labels, present)
    # Attacks that a plan chooses by name are part of no import, but their code decides as well.
    chosen = (*attacks, *usual(game), *(registry.build("attack", name) for name in COMBINED))
    return registry.key("attacked", registry.source(CODE), found, digest(*design), people, repr(names), seed, *chosen)


def attacked(store: Store | None, key: Callable[[], str], make: Callable[[], Attacked]) -> Attacked:
    """The kept results of a key; where there are none, or they cannot be read, they are made and kept."""
    return kept(store, key, Attacked, make)
