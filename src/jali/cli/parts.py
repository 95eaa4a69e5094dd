"""The commands `jali list` and `jali data`."""

from __future__ import annotations

from typing import Annotated

import typer

from jali import terminal
from jali.core import imports
from jali.core.errors import JaliError

data_app = typer.Typer(help="List data sets, where each comes from and under which licence; `fetch` gets one.")


def list_parts(
    kind: Annotated[str, typer.Argument(help="data, game, model, explain, signal, attack, query_attack or knowledge.")],
) -> None:
    """List the parts of a kind."""
    from rich.markup import escape
    from rich.table import Table

    from jali.core import registry

    if kind not in registry.FOLDERS:
        raise JaliError(f"There is no kind of part {kind!r}; there are {', '.join(registry.FOLDERS)}.")
    table = Table(box=None, show_header=False)
    for name in registry.names(kind):  # type: ignore[arg-type]
        table.add_row(f"[bold]{name}[/]", escape(registry.summary(kind, name)))  # type: ignore[arg-type]
    terminal.console().print(table)


@data_app.callback(invoke_without_command=True)
def data_list(context: typer.Context) -> None:
    """List data sets, where each comes from and under which licence."""
    if context.invoked_subcommand:
        return
    from rich.table import Table

    from jali.data.tables.catalogue import catalogue

    table = Table("data set", "here", "origin", "licence", box=None, pad_edge=False)
    for entry in catalogue():
        table.add_row(entry.name, entry.state, entry.origin, entry.licence)
    terminal.console().print(table)


@data_app.command()
def fetch(name: Annotated[str, typer.Argument(help="A data set of `jali data`.")]) -> None:
    """Download a data set into the data folder, with a checksum."""
    from jali.core import registry
    from jali.data.tables import files

    imports.expect([name])
    source = registry.build("data", name)
    if not source.files:
        typer.echo(f"{name} is embedded: there is nothing to fetch.")
        return
    for remote in source.files:
        with terminal.watching() as watch:
            path = files.fetch(remote, files.folders()[0], watch(remote.path))
        typer.echo(f"{remote.path}: {path}")
