"""The command `jali frontier`: many defences side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from jali import terminal
from jali.cli.options import EngineName, Many, StoreAt, Trust, Workers, resources_for
from jali.core import imports
from jali.core.errors import JaliError

OUT = Path("jali-frontier")


def frontier(
    file: Annotated[Optional[Path], typer.Argument(help="An audit.toml, with defend = [...].")] = None,  # noqa: UP045
    data: Annotated[str, typer.Option(help="A named data set, or your own .csv or .parquet file.")] = "",
    model: Annotated[str, typer.Option(help="A trainer, such as logistic.")] = "",
    explain: Annotated[Many, typer.Option(help="What you show today; fidelity compares with the first.")] = None,
    defend: Annotated[
        Many, typer.Option(help='A defence, with alternatives such as "k_groups(k=5|10|20)"; repeat.')
    ] = None,
    game: Annotated[str, typer.Option(help='A membership design, drawn twice, such as "rotate(models=16)".')] = "",
    loss: Annotated[float, typer.Option(help="How much accuracy, answers and validity the choice may lose.")] = 0.05,
    seed: Annotated[Optional[int], typer.Option(help="Seed of every random draw.")] = None,  # noqa: UP045
    out: Annotated[Path, typer.Option(help="Folder for report, figures and results.")] = OUT,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    trust: Trust = False,
) -> None:
    """Compare defences: leakage against utility, chosen on some target models and reported on fresh ones."""
    from jali import config
    from jali.api import frontier_of

    given: dict[str, Any] = {"data": data, "model": model, "explain": explain, "defend": defend, "game": game}
    typed = {k: v for k, v in (given | {"seed": seed}).items() if v not in (None, "", [])}
    if file is None and "data" not in typed:
        raise JaliError('Give an audit.toml, or --data, --explain and --defend "k_groups(k=5|10|20)".')
    settings = {} if file is None else config.read(file).model_dump() | {"base": str(file.parent)}
    chosen = config.checked(settings | typed | ({"base": ""} if "data" in typed else {}))
    trusted = config.SPECIFICATIONS if trust else tuple(typed)
    imports.expect(text for name in config.SPECIFICATIONS if name in trusted for text in chosen.specifications(name))
    with terminal.writable(out):
        with terminal.watching() as watch:
            found = frontier_of(chosen, resources_for(out, workers, watch, engine, store), loss, trusted)
        path = found.save(out)
    console = terminal.console()
    console.print(found.printed())
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
