"""The command line: parse, call, render. One file per command or group of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from jali import __version__, stopping, terminal
from jali.cli import (
    attack,
    audit,
    compare,
    explain,
    exposure,
    frontier,
    parts,
    reproduce,
    scan,
    schema,
    shards,
    store,
    verify,
)
from jali.core import allocation, imports
from jali.core.errors import JaliError

app = typer.Typer(
    help="What your model's explanations give away about the people in its training data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """What your model's explanations give away about the people in its training data."""
    if version:
        typer.echo(f"jali {__version__}")
        raise typer.Exit


app.command()(audit.audit)
app.command()(attack.attack)
app.command()(shards.merge)
app.command()(explain.explain)
app.command(name="budget")(explain.show_budget)
app.command()(frontier.frontier)
app.command(name="list")(parts.list_parts)
app.command()(audit.report)
app.command()(schema.schema)
app.command()(reproduce.reproduce)
app.command()(verify.verify)
app.command()(scan.scan)
app.command()(exposure.exposure)
app.command()(compare.compare)
app.command()(store.store)
app.command()(compare.forget)
app.add_typer(parts.data_app, name="data")


def main() -> None:
    """Run the command line; anything the user can put right is one sentence and exit code 2."""
    terminal.forgive()
    allocation.keep_freed()
    with imports.beside(), stopping.orderly():
        try:
            app()
        except JaliError as error:
            terminal.complain(f"Error: {error}", 2)
        except MemoryError:
            terminal.complain("Error: There is not enough memory: use fewer rows, models or --workers.", 2)
        except OSError as error:  # a limit of the system, or a disk, where no reader or writer expected it
            where = f" ({error.filename})" if error.filename else ""
            terminal.complain(f"Error: The system refuses: {error.strerror or error}{where}; nothing was changed.", 2)
        except stopping.Stopped as stop:
            stopping.ignore()
            terminal.complain("Stopped; run the same command again to go on.", 128 + stop.number)
