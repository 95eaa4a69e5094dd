"""The command `jali reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from jali import terminal
from jali.cli.options import EngineName, Many, StoreAt, Trust, Workers, resources_for
from jali.core import imports
from jali.core.errors import JaliError

REPRODUCTION = Path("jali-reproduction")


def reproduce(
    paper: Annotated[str, typer.Argument(help="A paper, such as pawelczyk2022, or a .toml file of your own.")],
    scale: Annotated[str, typer.Option(help="smoke (minutes), standard (an hour or so), paper (many).")] = "smoke",
    only: Annotated[Many, typer.Option(help="A study of the paper; repeat for several. Default: all.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, its pictures and all numbers.")] = REPRODUCTION,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    judge: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The .json file of an earlier run: judge its numbers again, run nothing."),
    ] = None,
    trust: Trust = False,
) -> None:
    """Run a paper's experiments again: its numbers beside ours, with a verdict on each."""
    from jali.api import save_reproduction
    from jali.report.reproduction import page as reproduction
    from jali.reproduce import run
    from jali.reproduce import schema as claims

    if scale not in claims.SCALES:
        raise JaliError(f"There is no scale {scale!r}; there are {', '.join(claims.SCALES)}.")
    if judge is not None and only:
        raise JaliError("--judge takes all studies of the earlier run: drop --only.")
    study = claims.read(paper, trust)
    imports.expect(text for _, text in study.specifications() if trust)
    with terminal.writable(out), terminal.watching() as watch:
        if judge is not None:
            found = run.judge_again(study, paper, judge)
        else:
            found = run.reproduce(study, paper, scale, only or (), resources_for(out, workers, watch, engine, store))
        path = save_reproduction(found, out)
    console = terminal.console()
    console.print(reproduction.table(found))
    console.print(f"Page: {path}", markup=False, highlight=False, soft_wrap=True)
