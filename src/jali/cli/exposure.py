"""The command `jali exposure`: what was already sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from jali.cli.options import Many
from jali.core.errors import JaliError

SHORTEST = "jali exposure --log answers.parquet --train train.csv --quasi age --quasi city"


def exposure(
    log: Annotated[str, typer.Option(help="The log: one answer per row, .csv or .parquet.")] = "",
    train: Annotated[str, typer.Option(help="The training table.")] = "",
    register: Annotated[str, typer.Option(help="The people recipients know; default: the training people.")] = "",
    quasi: Annotated[Many, typer.Option(help="A column that recipients know of people; repeat.")] = None,
    time: Annotated[str, typer.Option(help="The column of the log that says when.")] = "",
    recipient: Annotated[str, typer.Option(help="The column of the log that says to whom.")] = "",
    groups: Annotated[str, typer.Option(help="The column of the training table that says whose row it is.")] = "",
    person: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Only this person's status: a value of --groups, or a row number."),
    ] = None,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show the names of recipients.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for report and results.")] = Path("jali-exposure"),
) -> None:
    """Replay a log of explanations: people singled out over time, by recipient and by all together. Counts only."""
    from jali.api import exposure as replayed
    from jali.cli.attack import conclude

    if missing := [name for name, given in {"log": log, "train": train, "quasi": quasi}.items() if not given]:
        raise JaliError(f"--{missing[0]} is missing: {SHORTEST}.")
    columns: dict[str, Any] = {"quasi": quasi or (), "time": time, "recipient": recipient, "groups": groups}
    conclude(replayed(log, train, register or None, person=person, show_values=show_values, **columns), out)
