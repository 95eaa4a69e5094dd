"""The command `jali schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jali import terminal
from jali.cli.options import Many
from jali.core.errors import JaliError

HEAD = """# What is known of the columns of {name}. Review it, and give it with --declare {out}.
# Bounds and categories that follow from the rows are no public knowledge: declare them as they are known without the
# rows, or leave them out, and they are taken from the rows each time.
"""


def schema(
    data: Annotated[Path, typer.Argument(help="Your own .csv, .tsv or .parquet file.")],
    target: Annotated[str, typer.Option(help="The column to predict.")] = "",
    favourable: Annotated[str, typer.Option(help="The class people hope for.")] = "",
    quasi: Annotated[Many, typer.Option(help="A column by which people can be found; repeat.")] = None,
    groups: Annotated[str, typer.Option(help="The column that says whose row it is.")] = "",
    sensitive: Annotated[str, typer.Option(help="The column whose groups are compared.")] = "",
    drop: Annotated[Many, typer.Option(help="A column that is no input; repeat.")] = None,
    immutable: Annotated[Many, typer.Option(help="A column that recourse must not change; repeat.")] = None,
    kind: Annotated[Many, typer.Option(help="The kind of a column, such as postcode=category; repeat.")] = None,
    bounds: Annotated[Many, typer.Option(help="The limits of a number, such as income=0:200000; repeat.")] = None,
    out: Annotated[Path, typer.Option(help="The schema file: written, or read if it is there.")] = Path("schema.toml"),
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Write and show bounds and categories that were observed.")
    ] = False,
) -> None:
    """Write what is known of the columns of a file, for review; a file that is there is read and checked instead."""
    from jali.config import written
    from jali.data.table import Table
    from jali.data.tables import schema_files
    from jali.report.audit import schema as page
    from jali.store import write_text

    lists = {"quasi": quasi, "drop": drop, "immutable": immutable, "kind": kind, "bounds": bounds}
    given = {name: tuple(some) for name, some in lists.items() if some}
    there = out.exists()
    if there and (given or favourable or groups or sensitive):
        raise JaliError(f"{out} is there already and is read as it is: edit it, or name another one with --out.")
    source = Table(
        str(data),
        target,
        favourable=favourable,
        groups=groups,
        sensitive=sensitive,
        schema=str(out) if there else "",
        **given,
    )
    frame = source.frame()
    found = source.dataset(frame).schema
    terminal.console().print(page.table(found, show_values))
    for note in found.notes:
        terminal.console().print(note, markup=False, highlight=False)
    if there:
        terminal.console().print(f"{out} fits {data.name}.", markup=False, highlight=False)
        return
    used = {column.name for column in found.columns} | {found.target, groups}
    values = schema_files.entries(found, [str(c) for c in frame.columns if str(c) not in used], groups, show_values)
    write_text(out, f"{HEAD.format(name=data.name, out=out)}{written(values)}\n")
    terminal.console().print(f"Schema: {out}", markup=False, highlight=False)
