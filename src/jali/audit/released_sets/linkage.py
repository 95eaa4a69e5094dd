"""Are these answers real people? Rows of a release that equal rows of a table, and whom the known columns leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jali.audit.released_sets.matches import row_keys
from jali.audit.released_sets.scores import agreement
from jali.audit.scan.run import Expected
from jali.core.errors import JaliError
from jali.core.values import Bools, Ints
from jali.data.tables.aligned import Aligned
from jali.results.released import KnownColumns, Linkage
from jali.stats.people import people as distinct

RELEASED, REGISTER, OTHERS = "released", "register", "others"
FEW = 10


def link(tables: Aligned, person: Ints | None, quasi: Sequence[str]) -> Linkage:
    """Compare released rows with the rows of a register; tables may have other people as null.

    person (n,): whose row each of the register is. quasi: columns that others know, in the order in which they are
    added.
    """
    names = [c.name for c in tables.schema.columns]
    if unknown := [name for name in quasi if name not in names]:
        raise JaliError(f"quasi: {unknown[0]!r} is no column that both tables have; these are {', '.join(names)}.")
    answers = tables.codes(RELEASED)
    register = tables.codes(REGISTER)
    who = np.arange(len(register)) if person is None else person[tables.at[REGISTER]]
    mine, theirs = row_keys(answers, register)
    exact = np.isin(mine, theirs)
    nearly = agreement(answers, register, np.ones(answers.shape)) >= len(names) - 1
    equal, of = _chance(tables, theirs, who)
    expected = Expected()
    expected.add(equal, of, len(answers), OTHERS not in tables.rows)
    return Linkage(
        released=len(answers),
        register_people=int(distinct(who)),
        columns=len(names),
        exact=int(exact.sum()),
        people=_people(np.isin(theirs, mine[exact]), who),
        but_one=int((nearly & ~exact).sum()),
        chance=len(answers) * equal / of,
        null="other people" if OTHERS in tables.rows else "people of the table",
        real=expected.exceeded(int(exact.sum())),
        known=[_known(tables, [names.index(q) for q in quasi[: k + 1]], who) for k in range(len(quasi))],
        notes=list(tables.notes),
    )


def _chance(tables: Aligned, theirs: Ints, who: Ints) -> tuple[int, int]:
    """How many of so many other people have the row of somebody in the register; without others, of the register."""
    if OTHERS in tables.rows:
        register, others = row_keys(tables.codes(REGISTER), tables.codes(OTHERS))
        return int(np.isin(others, register).sum()), len(others)
    # Another person with the same row, not another row of the same person.
    pairs = np.unique(np.stack([theirs, who], axis=1), axis=0)
    rows, count = np.unique(pairs[:, 0], return_counts=True)
    return int(np.isin(theirs, rows[count > 1]).sum()), len(theirs)


def _known(tables: Aligned, columns: list[int], who: Ints) -> KnownColumns:
    """How many people fit each answer in some columns."""
    mine, theirs = row_keys(tables.codes(RELEASED)[:, columns], tables.codes(REGISTER)[:, columns])
    pairs = np.unique(np.stack([theirs, who], axis=1), axis=0)
    candidates = np.bincount(pairs[:, 0], minlength=int(max(mine.max(), theirs.max())) + 1)
    fits = candidates[mine]
    alone = np.unique(mine[fits == 1])
    return KnownColumns(
        columns=[tables.schema.columns[j].name for j in columns],
        none=int((fits == 0).sum()),
        one=int((fits == 1).sum()),
        few=int(((fits > 1) & (fits <= FEW)).sum()),
        many=int((fits > FEW).sum()),
        median=float(np.median(fits)),
        people=_people(np.isin(theirs, alone), who),
    )


def _people(rows: Bools, who: Ints) -> int:
    return int(distinct(who[rows])) if np.any(rows) else 0
