"""Training rows in an object, a file or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jali import __version__
from jali.api.answers import Answer
from jali.api.released import frame_of
from jali.core.errors import JaliError
from jali.results.scan import Scan

ALONE = (
    "Chance is estimated from training rows that equal another one in the columns compared: give rows of other people "
    "(others, --others) to measure it."
)


def scan(what: Any, train: Any, *, others: Any = None) -> Answer[Scan]:
    """Search an object, a file or a folder for training rows and small counts.

    `what` is a path, a list of paths, or any object in memory: an explainer, a model, a figure. `train` is the training
    table (a path, a pandas table or an array); `others` are rows of other people with the same columns, from which
    chance matches are counted. Nothing that is found is run, and no value of anybody is reported.
    """
    from jali.audit.scan.files import Reader
    from jali.audit.scan.forms import TrainingTable, values_of
    from jali.audit.scan.run import compared
    from jali.audit.scan.walk import Walk
    from jali.report import scan as page

    table = frame_of(train)
    rows = TrainingTable.of(table)
    people = None
    if others is not None:
        given = frame_of(others)
        if missing := [str(c) for c in table.columns if c not in given.columns]:
            raise JaliError(f"others has no column {missing[0]!r}: it must have all columns of the training table.")
        people = [values_of(given[c]) for c in table.columns]
    reader = Reader(rows.known_names)
    walk = Walk(rows.known_names)
    paths = _paths(what)
    found = compared(walk.through(what, type(what).__name__) if paths is None else reader.through(paths), rows, people)
    skipped = dict(reader.skipped)
    if walk.stopped:
        skipped[type(what).__name__] = "too many or too deeply nested objects: the rest was not searched"
    result = Scan(
        jali=__version__,
        what=type(what).__name__ if paths is None else ", ".join(path.name or str(path) for path in paths),
        train=rows.rows,
        people=int(found.people.sum()),
        tables=found.tables,
        files=reader.read,
        null="other people" if people is not None else "training rows",
        places=found.places,
        counts=found.counts,
        skipped=skipped,
        notes=[*([] if people is not None else [ALONE]), *([_coarse(found.doubtful)] if found.doubtful else [])],
    )
    return Answer(result, page.sheet)


def _coarse(tables: int) -> str:
    return (
        f"{tables:,} tables without names of columns have rows that fit training rows, but such rows are too common to "
        "tell: they are not counted."
    )


def _paths(what: Any) -> list[Path] | None:
    """The files or folders to scan; None for an object."""
    if isinstance(what, str | Path):
        return [Path(what).expanduser()]
    if isinstance(what, list | tuple) and what and all(isinstance(part, Path) for part in what):
        return [part.expanduser() for part in what]
    return None
