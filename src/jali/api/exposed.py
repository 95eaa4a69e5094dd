"""What was already sent: a log of explanations, replayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jali import __version__
from jali.api.answers import Answer
from jali.api.parts import several
from jali.api.released import frame_of
from jali.core.errors import JaliError
from jali.results.exposure import Exposure


def exposure(
    log: Any,
    train: Any,
    register: Any = None,
    *,
    quasi: Sequence[str] = (),
    time: str = "",
    recipient: str = "",
    groups: str = "",
    person: Any = None,
    show_values: bool = False,
) -> Answer[Exposure]:
    """Replay a log of explanations: who of the training people could be singled out, when, and by whom.

    The log has one row per answer, with columns named as in the training table (or `answer_` before the name): values,
    ranges such as 30..40, sets such as a|b, or * for anything; `time` and `recipient` name further columns. `quasi`
    names the columns that recipients know of everybody in the register (by default the training people). `groups` is
    the column of the training table that says whose row it is. With `person`, a value of that column or a row number,
    only that person's status is returned.
    """
    from jali.audit.exposure.log import known, read
    from jali.audit.exposure.replay import replay
    from jali.report import exposure as page

    table = frame_of(train)
    if groups and groups not in table.columns:
        raise JaliError(f"groups: the training table has no column {groups!r}.")
    people, notes = known(table, table if register is None else frame_of(register), several("quasi", quasi), groups)
    answers, more = read(frame_of(log), people.schema, time, recipient)
    wanted = None if person is None else _number(table, groups, person)
    found = replay(people, answers, wanted, show_values)
    found.notes = [*notes, *more]
    found.jali = __version__
    return Answer(found, page.sheet)


def _number(table: Any, groups: str, person: Any) -> int:
    """The number of a person: the place of a value in the column of people, or a row number."""
    from jali.data.tables import columns
    from jali.data.tables.frames import label

    if groups:
        names = columns.whose(table, groups)[1]
        if (name := label(person)) not in names:
            raise JaliError(f"person: nobody in column {groups!r} of the training table is called {name!r}.")
        return names.index(name)
    if not str(person).isdigit() or not int(person) < len(table):
        raise JaliError(
            f"person must be a row number from 0 to {len(table) - 1}, or name the column of people (groups)."
        )
    return int(person)
