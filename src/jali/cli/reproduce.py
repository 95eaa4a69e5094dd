"""The command `jali reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from jali import terminal
from jali.cli.options import EngineName, Many, StoreAt, Trust, Workers, resources_for
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.reproduce.schema import Paper
    from jali.results.reproduction import Chosen

REPRODUCTION = Path("jali-reproduction")


def reproduce(
    paper: Annotated[str, typer.Argument(help="A paper, such as pawelczyk2022, or a .toml file of your own.")],
    scale: Annotated[str, typer.Option(help="smoke (minutes), standard (one to three hours), paper (many).")] = "smoke",
    only: Annotated[Many, typer.Option(help="A study of the paper; repeat for several. Default: all.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, its pictures and all numbers.")] = REPRODUCTION,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    judge: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The .json file of an earlier run: judge its numbers again, run nothing."),
    ] = None,
    keep: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="The .json file of an earlier run: studies not run now keep its numbers, run ones may be larger."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option(help="A time such as 4h: run only the studies that should settle most open claims in it.")
    ] = "",
    trust: Trust = False,
) -> None:
    """Run a paper's experiments again: its numbers beside ours, with a verdict on each."""
    from jali.api import save_reproduction
    from jali.report.reproduction import page as reproduction
    from jali.reproduce import keeping, run
    from jali.reproduce import schema as claims

    if scale not in claims.SCALES:
        raise JaliError(f"There is no scale {scale!r}; there are {', '.join(claims.SCALES)}.")
    if judge is not None and (only or keep or budget):
        raise JaliError(
            "--judge runs nothing and takes all studies of the earlier run: drop --only, --keep and --budget."
        )
    if budget and (keep is None or only):
        raise JaliError(
            "--budget chooses the studies by the numbers of an earlier run: name it with --keep, drop --only."
        )
    study = claims.read(paper, trust)
    imports.expect(text for _, text in study.specifications() if trust)
    with terminal.writable(out), terminal.watching() as watch:
        if judge is not None:
            found = run.judge_again(study, paper, judge)
        else:
            resources = resources_for(out, workers, watch, engine, store)
            chosen = _chosen(study, keep, budget, out) if keep is not None and budget else []
            targets = {c.study: c.targets for c in chosen}
            found = run.reproduce(study, paper, scale, only or tuple(targets), resources, targets)
            if keep is not None:
                found = keeping.joined(study, keep, found)
            found = found.model_copy(update={"budget": budget, "chosen": chosen})
        path = save_reproduction(found, out)
    console = terminal.console()
    console.print(reproduction.table(found))
    console.print(f"Page: {path}", markup=False, highlight=False, soft_wrap=True)


def _chosen(paper: Paper, earlier: Path, text: str, out: Path) -> list[Chosen]:
    """The studies that a budget chooses, put on record in a file before anything is run."""
    from jali.reproduce import budget, files
    from jali.store import write_text

    found = files.read(earlier, paper)
    chosen = budget.choose(paper, found, budget.hours_of(text))
    if not chosen:
        raise JaliError(f"No open claim of {found.paper} can be settled in {text} by one study: give more time.")
    lines = [c.model_dump_json() for c in chosen]
    write_text(out / f"{found.paper}-budget.json", "[\n" + ",\n".join(lines) + "\n]\n")
    for c in chosen:
        said = f"{c.study}: {c.targets} target models, about {c.hours:.2f} h, should settle {c.settles} open claims"
        terminal.console().print(said, markup=False, highlight=False)
    return chosen
