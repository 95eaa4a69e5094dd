"""The commands `jali compare` and `jali forget`: what changed between two runs, and what a run kept about people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from jali import terminal


def compare(
    before: Annotated[Path, typer.Argument(help="The folder of an audit.")],
    after: Annotated[Path, typer.Argument(help="The folder of another audit.")],
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    out: Annotated[Optional[Path], typer.Option(help="A folder for the page and the numbers.")] = None,  # noqa: UP045
) -> None:
    """Say what changed from one audit to another, person by person where both are about the same people and models."""
    from jali.api import compare as compared

    found = compared(before, after, seed)
    console = terminal.console()
    console.print(found.printed(), highlight=False)
    if out is not None:
        with terminal.writable(out):
            path = found.save(out)
        console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)


def forget(run: Annotated[Path, typer.Argument(help="The folder of a run.")]) -> None:
    """Remove what a run kept about people: evidence, stored numbers, rankings, and row numbers in its report."""
    from jali.api import forget as removed

    gone = removed(run)
    for path in gone:
        typer.echo(f"{'written again without people' if path.exists() else 'removed'}: {path}")
    if not gone:
        typer.echo("Nothing about single people was left.")
    typer.echo("Copies elsewhere, such as backups or a store at another place, are yours to remove.")
