"""A released set of counterfactuals, without any model: whom does it give away?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jali import __version__
from jali.api.answers import Answer
from jali.api.parts import several
from jali.core.errors import JaliError
from jali.core.values import Bools, Ints
from jali.results.released import Linkage, ReleasedSet

Table = Any  # a path, a pandas table or an array


def attack_released(
    released: Table,
    candidates: Table,
    reference: Table,
    *,
    member: str = "",
    target: str = "",
    favourable: str = "",
    groups: str = "",
    distance: str = "heom",
    seed: int = 0,
) -> Answer[ReleasedSet]:
    """Attack a released set of counterfactuals with tables alone: nobody needs the model or its answers' askers.

    released, candidates and reference are files (.csv, .tsv, .parquet) or pandas tables with the same columns: the
    counterfactuals, the people who may have been in the training set, and a sample of the population outside of it.
    `member` names a column of the candidates that says who was; without it candidates are ranked and compared with the
    reference. `target` is the class column, which is not compared; `groups` says whose row it is.
    """
    from jali.audit.released_sets.attack import CANDIDATES, People, attack
    from jali.data.tables.aligned import aligned
    from jali.report import released as page

    tables = {"candidates": frame_of(candidates), "released": frame_of(released), "reference": frame_of(reference)}
    if favourable and not target:
        raise JaliError("favourable names a class: also name the column that holds it, with target (--target).")
    mine = tables["candidates"]
    people = People(
        truths(mine, member, "member") if member else None,
        _whose(mine, groups) if groups else None,
        _labels(mine, target) if target else None,
        favourable,
    )
    together = aligned(tables, [name for name in (member, target, groups) if name], alike=True)
    found, scores = attack(together, people, distance, seed)
    found.jali = __version__
    return Answer(found, page.sheet, {"ranking.csv": ranking(together.at[CANDIDATES], scores)})


def link_released(
    released: Table, register: Table, *, quasi: Sequence[str] = (), groups: str = "", others: Table = None
) -> Answer[Linkage]:
    """Are these answers real people? Compare a file of counterfactuals with a table of people.

    Rows that equal a person's row, in all columns and in all but one, beside what chance gives on the same columns;
    and for the columns in `quasi`, which others know too, how many people of the table each answer leaves. `groups`
    names the column that says whose row it is; `others` are people outside the table, from whom chance is counted.
    """
    from jali.audit.released_sets.linkage import link
    from jali.data.tables.aligned import aligned
    from jali.report import linkage as page

    tables = {"released": frame_of(released), "register": frame_of(register)}
    if others is not None:
        tables["others"] = frame_of(others)
    person = _whose(tables["register"], groups) if groups else None
    found = link(aligned(tables, [groups] if groups else [], alike=True), person, several("quasi", quasi))
    found.jali = __version__
    return Answer(found, page.sheet)


def frame_of(given: Table) -> Any:
    """A table that was given as a path, a pandas table or an array."""
    import pandas as pd

    from jali.data.tables import frame_files

    if isinstance(given, str | Path):
        return frame_files.read(Path(given).expanduser())
    if isinstance(given, pd.DataFrame):
        return given.reset_index(drop=True).rename(columns=str)
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths, or a pair (X, y)
        raise JaliError(
            f"A table was expected: a path, a pandas table or rows of shape (n, columns), not a {type(given).__name__} "
            "of parts that differ in length."
        ) from None
    if array.ndim != 2:
        raise JaliError(
            f"A table was expected: a path, a pandas table or rows of shape (n, columns), not {array.shape}."
        )
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])


def column(table: Any, name: str, option: str) -> Any:
    """A column of a table as an array, or a sentence that says which there are."""
    from jali.data.tables import frames

    if name not in table.columns:
        raise JaliError(f"{option}: there is no column {name!r}; {frames.near(name, [str(c) for c in table.columns])}")
    return table[name].to_numpy()


def _whose(table: Any, groups: str) -> Ints:
    """Numbers of people (n,), by the column that says whose row it is."""
    from jali.data.tables import columns

    column(table, groups, "groups")
    return columns.whose(table, groups)[0]


def truths(table: Any, name: str, option: str) -> Bools:
    """A column of yes and no: booleans, 0 and 1, or the texts true and false, yes and no."""
    values = column(table, name, option)
    known = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False, "yes": True, "no": False}
    read = [known.get(str(value).strip().lower()) for value in np.unique(values.astype(str))]
    if None in read:
        raise JaliError(
            f"{option}: column {name!r} must hold 1 and 0, true and false, or yes and no, and nothing else."
        )
    return np.array([known[text.strip().lower()] for text in values.astype(str)], dtype=bool)


def ranking(rows: Any, scores: dict[str, Any]) -> str:
    """Row numbers of the candidates by falling distance score, with all scores, as CSV."""
    import pandas as pd

    table = pd.DataFrame({"row": rows, **scores}).sort_values(["distance", "calibrated"], ascending=False)
    return str(table.to_csv(index=False, float_format="%.6g"))


def _labels(table: Any, target: str) -> Any:
    from jali.data.tables import frames

    return np.array([frames.label(value) for value in column(table, target, "target")], dtype=str)
