"""The command `jali store`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from jali.cli.options import OUT
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.store import Entry


def store(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or a store that --store named.")] = OUT,
    unused: Annotated[bool, typer.Option("--unused", help="Remove what the last run did not use.")] = False,
    older: Annotated[Optional[float], typer.Option(help="Remove what was not used for this many days.")] = None,  # noqa: UP045
) -> None:
    """Show what a run has stored so that it need not be computed again, and remove parts of it.

    Without options nothing is removed. With both, what meets either is removed.
    """
    from jali.api import store_in
    from jali.store import BEGAN, remove

    kept = store_in(run)
    if not kept.folder.is_dir() and (run / BEGAN).is_file():  # a store itself, that --store named
        kept = store_in(run, str(run))
    if not kept.folder.is_dir():
        raise JaliError(f"There is no store in {run}: give the folder that a run wrote to.")
    if older is not None and older < 0:
        raise JaliError(f"--older takes a number of days, 0 or more, not {older:g}.")
    typer.echo(f"{kept.root}: {_amount(kept.entries())}, of which the last run did not use {_amount(kept.unused())}.")
    chosen = {entry.path: entry for entry in (kept.unused() if unused else [])}
    chosen |= {entry.path: entry for entry in (kept.older(older) if older is not None else [])}
    if unused or older is not None:
        remove(chosen.values())
        typer.echo(f"Removed: {_amount(chosen.values())}. Left: {_amount(kept.entries())}.")


def _amount(entries: Collection[Entry]) -> str:
    """How many entries of a store, and how large they are together."""
    size = sum(entry.bytes for entry in entries) / 1e6
    return f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'} ({size:,.1f} MB)"
