"""The records themselves and the people known not to be in a training set, for attacks that compare with these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from jali.core.encoding import Encoding
from jali.core.guesses import Records
from jali.core.protocols import Attack, Design, SetsAside
from jali.core.values import Dataset, Game, Rng
from jali.store import Arrays

REFERENCE = "reference"  # what such an attack requires
FIELDS = ("features", "label", "person", "lot")


def needed(attacks: Iterable[Attack]) -> bool:
    """Whether some attack compares records with people known not to be in the training set."""
    return any(REFERENCE in attack.requires for attack in attacks)


def provided(design: Design, attacks: Iterable[Attack]) -> Design:
    """The game, with people set aside where an attack needs them and the game can do so."""
    return design.with_reference() if needed(attacks) and isinstance(design, SetsAside) else design


def records_of(data: Dataset, rng: Rng) -> Records:
    """The encoded rows, labels and people of a table, with a random number for each person; nobody is known yet."""
    person = data.group_numbers()
    people = int(person.max()) + 1
    lot = rng.permutation(people)[person] / people
    return Records(Encoding(data.schema).encode(data.X), data.y, person, lot, np.zeros(len(data), dtype=bool))


def known(records: Records, game: Game, t: int) -> Records:
    """The records with the reference of target t: queried people of whom no row trained it and none is scored."""
    used = game.member[:, game.targets[t]] | game.scored[:, t]
    involved = np.isin(records.person, np.unique(records.person[used]))
    return replace(records, reference=game.reference(t) & ~involved)


def arrays_of(records: Records | None) -> Arrays:
    """The arrays that jobs share; none without records."""
    return {} if records is None else {name: vars(records)[name] for name in FIELDS}


def restored(arrays: Arrays) -> Records | None:
    """The records among shared arrays."""
    if FIELDS[0] not in arrays:
        return None
    fields = {name: arrays[name] for name in FIELDS}
    return Records(**fields, reference=np.zeros(len(arrays["label"]), dtype=bool))
