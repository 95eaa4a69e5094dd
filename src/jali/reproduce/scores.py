"""The scores of other people's models, from one file among the data or from several about the same models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jali.audit import evidence
from jali.core.errors import JaliError
from jali.core.values import Evidence, Game
from jali.data.tables import files
from jali.reproduce.schema import Setup

AND = " + "  # between the names of files that are read together


def scores_of(setup: Setup) -> tuple[Evidence, Game, list[str]]:
    """Evidence and game of the files that a study names, with warnings."""
    read = [evidence.read(_found(name.strip()), raw=setup.raw) for name in setup.scores.split(AND)]
    first, game, _ = read[0]
    if any(not np.array_equal(other.member, first.member) for other, _, _ in read[1:]):
        raise JaliError(f"{setup.scores}: the files are about different models or records: read them one by one.")
    joined = Evidence(
        tuple(name for other, _, _ in read for name in other.names),
        np.concatenate([other.value for other, _, _ in read]),
        np.concatenate([other.observed for other, _, _ in read]),
        first.member,
        tuple(unit for other, _, _ in read for unit in other.units),
    )
    return joined, game, list(dict.fromkeys(text for _, _, warnings in read for text in warnings))


def _found(name: str) -> Path:
    """A file of that name in one of the folders of data."""
    for folder in files.folders():
        if (folder / name).is_file():
            return folder / name
    raise JaliError(f"{name} is not among the data: see `jali data`.")
