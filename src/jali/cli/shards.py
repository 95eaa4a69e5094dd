"""The command `jali merge`, and the part of an audit that `--shard` names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali import terminal
from jali.cli.options import OUT, EngineName, StoreAt, Trust, Workers, finish, resources_for
from jali.core import imports

if TYPE_CHECKING:
    from jali.api.shards import Shard
    from jali.audit.setup import Resources, Setup
    from jali.config import Config


def merge(
    run: Annotated[Path, typer.Argument(help="The folder that all shards wrote to.")] = OUT,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    trust: Trust = False,
) -> None:
    """Finish an audit that was run in shards: attack what they gathered, and report."""
    from jali import config
    from jali.api import shards

    if trust:
        settings = config.read(run / shards.CONFIGURATION)
        imports.expect(text for name in config.SPECIFICATIONS for text in settings.specifications(name))
    with terminal.writable(run):
        with terminal.watching() as watch:
            found = shards.merge(run, resources_for(run, workers, watch, engine, store), trust)
        finish(found, run)


def parsed(text: str) -> Shard | None:
    """The shard that an option names; None for a whole audit."""
    from jali.api import shards

    return shards.Shard.parse(text) if text else None


def run_shard(
    config: Config, resources: Resources, shard: Shard, out: Path, trusted: Collection[str], setup: Setup | None
) -> None:
    """Run one shard and say what it did."""
    from jali.api import shards

    done = shards.run_shard(config, resources, shard, out, trusted, setup)
    typer.echo(
        f"Shard {shard.part} of {shard.of}: {done.models} models, {done.new} of them new. "
        f"When all shards are done: jali merge {out}"
    )
