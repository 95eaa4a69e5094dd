"""The experiment on a user's own fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jali.api.parts import part_of, text_of
from jali.audit.setup import Experiment
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.data.tables.in_memory import OwnTables
    from jali.models.given import Given

NO_MODEL = {"evidence": "evidence.npz", "data": "", "model": "", "game": ""}


def own_tables(
    train: Any, population: Any, favourable: Any, quasi: Sequence[str], groups: str, sensitive: str, schema: Any
) -> OwnTables:
    """The tables of a user, checked; see `jali.audit`."""
    from jali.data.tables.in_memory import OwnTables, pair

    both = pair(train, "train"), pair(population, "population")
    return OwnTables(*both, favourable, tuple(quasi), groups, sensitive, schema)


def own_experiment(model: Any, source: OwnTables, game: Any, seed: int) -> tuple[Experiment, dict[str, Any]]:
    """The experiment on a user's fitted model; it has no specification, so the configuration names its evidence."""
    from jali.games.given_model import GivenModel
    from jali.games.given_model_offline import GivenModelOffline
    from jali.models.given import Given

    members = len(source.train[1])
    given = Given(model, source.inputs(), source.like())
    default = GivenModel(members) if _refittable(given) else replace(GivenModel(members).with_reference(), shadows=0)
    chosen = part_of("game", game) if game else default
    if not isinstance(chosen, GivenModel | GivenModelOffline) or chosen.members != members:
        raise JaliError(
            f"A model that exists is audited with its real training rows: use game='given_model(members={members})', "
            f"or given_model_offline for an adversary who does not know the candidates, not {text_of(chosen)}."
        )
    experiment = Experiment(source, given, chosen, seed=seed)
    return experiment, NO_MODEL | {"model": type(model).__name__, "game": text_of(chosen)}


def _refittable(model: Given) -> bool:
    """Whether shadow models can be made of a user's model."""
    try:
        model.unfitted()
    except JaliError:
        return False
    return True
