"""The command `jali scan`: training rows in files and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jali.core.errors import JaliError


def scan(
    what: Annotated[list[Path], typer.Argument(help="Files or folders: explainers, models, documents, tables.")],
    train: Annotated[str, typer.Option(help="The training table, .csv, .tsv or .parquet.")] = "",
    others: Annotated[str, typer.Option(help="Rows of other people, from which chance matches are counted.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for report and results.")] = Path("jali-scan"),
) -> None:
    """Search files for training rows: verbatim, rounded, scaled or encoded. Nothing in them is run."""
    from jali.api import scan as searched
    from jali.cli.attack import conclude

    if not train:
        raise JaliError(f"Say which rows to look for: jali scan {what[0]} --train train.csv.")
    conclude(searched(list(what), train, others=others or None), out)
