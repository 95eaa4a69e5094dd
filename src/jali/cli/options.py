"""What several commands share: options, the resources of a run, and its last lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from jali import terminal
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.api import Audit
    from jali.audit.setup import Resources
    from jali.parallel import Watch

OUT = Path("jali-audit")
Trust = Annotated[bool, typer.Option("--trust", help="Import the modules that the file names: their code runs.")]
Workers = Annotated[int, typer.Option(help="Processes; 0 means one per core. Changes no number.")]
EngineName = Annotated[
    str, typer.Option("--engine", help="processes, dask (a cluster here) or dask://host:8786. Changes no number.")
]
StoreAt = Annotated[
    str, typer.Option("--store", help="Folder or fsspec URL for intermediate results. Default: in the folder --out.")
]
Many = Optional[list[str]]  # noqa: UP045 (typer reads it at run time)


def resources_for(out: Path, workers: int, watch: Watch, engine: str = "processes", store: str = "") -> Resources:
    """The resources of a run that writes to a folder."""
    from jali.api import store_in
    from jali.audit.setup import Resources
    from jali.parallel import engine as parse

    # How many cores there are is found out when workers are needed: it takes a library.
    made = Resources(workers=_none_negative(workers), store=store_in(out, store), watch=watch, engine=engine)
    parse(engine)  # a mistake in the name is said before anything else is done
    return made


def workers_for(named: int) -> int:
    """The number of workers: as named, or one per core."""
    from jali.parallel import cores

    return _none_negative(named) or cores()


def _none_negative(named: int) -> int:
    if named < 0:
        raise JaliError(f"--workers must be 0 or more, not {named}.")
    return named


def finish(found: Audit, out: Path) -> None:
    """Save an audit and print its first screen and warnings; the last line says where the report is."""
    from jali.api import store_in
    from jali.report import words
    from jali.report.audit import text

    path = found.save(out, store_in(out))
    console = terminal.console()
    console.print(text.opening(found.results), highlight=False)
    for warning in found.results.warnings:
        console.print(f"Warning: {words.clean(warning)}", markup=False, highlight=False)
    for given in found.results.guarantees:
        if given.refuted:
            console.print(f"KNOWN TO BE FALSE: {words.clean(given.claim)}. {given.refuted}", markup=False)
    for sentence in found.results.contradicted[:5]:
        console.print(f"CONTRADICTED: {words.clean(sentence)}", markup=False, highlight=False)
    if not found.results.valid:
        failed = ", ".join(c.name for c in found.results.sanity if not c.passed)
        console.print(f"INVALID: the sanity suite failed ({failed}); the numbers above must not be used.", markup=False)
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
    if not found.results.valid:
        raise SystemExit(3)
