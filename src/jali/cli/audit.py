"""The commands `jali audit` and `jali report`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from jali import terminal
from jali.cli.options import OUT, EngineName, Many, StoreAt, Trust, Workers, finish, resources_for, workers_for
from jali.cli.shards import parsed, run_shard
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.audit.forecast import Forecast
    from jali.audit.setup import Setup
    from jali.config import Config


def audit(
    file: Annotated[Optional[Path], typer.Argument(help="An audit.toml; options override it.")] = None,  # noqa: UP045
    data: Annotated[str, typer.Option(help="A named data set, or your own .csv or .parquet file.")] = "",
    target: Annotated[str, typer.Option(help="The column to predict, for a file of your own.")] = "",
    favourable: Annotated[str, typer.Option(help="The class people hope for, for a file of your own.")] = "",
    quasi: Annotated[Many, typer.Option(help="A column of your own file by which people can be found; repeat.")] = None,
    groups: Annotated[str, typer.Option(help="The column of your own file that says whose row it is.")] = "",
    sensitive: Annotated[str, typer.Option(help="The column of your own file whose groups are compared.")] = "",
    drop: Annotated[Many, typer.Option(help="A column of your own file that is no input; repeat.")] = None,
    immutable: Annotated[Many, typer.Option(help="A column that recourse must not change; repeat.")] = None,
    kind: Annotated[Many, typer.Option(help="The kind of a column, such as postcode=category; repeat.")] = None,
    bounds: Annotated[Many, typer.Option(help="The limits of a number, such as income=0:200000; repeat.")] = None,
    declare: Annotated[str, typer.Option(help="A schema file: what is known of columns without the rows.")] = "",
    model: Annotated[str, typer.Option(help='A trainer, such as logistic or "mlp(epochs=20)".')] = "",
    explain: Annotated[Many, typer.Option(help="An explainer, or none; repeat for several.")] = None,
    attack: Annotated[Many, typer.Option(help="An attack; repeat for several. Default: all that fit.")] = None,
    knowledge: Annotated[str, typer.Option(help="What query attacks hold, such as register or noise.")] = "",
    signal: Annotated[Many, typer.Option(help="A signal of your own beside the built-in ones; repeat.")] = None,
    game: Annotated[str, typer.Option(help='A membership design, such as "rotate(models=32)".')] = "",
    targets: Annotated[int, typer.Option(help="Models attacked, drawn as halves; instead of --game.")] = 0,
    shadows: Annotated[int, typer.Option(help="Shadow models of the adversary; instead of --game.")] = 0,
    seed: Annotated[Optional[int], typer.Option(help="Seed of every random draw.")] = None,  # noqa: UP045
    out: Annotated[Path, typer.Option(help="Folder for report, results, evidence and configuration.")] = OUT,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    shard: Annotated[str, typer.Option(help="Do one part of the models, such as 2/7; `jali merge` ends it.")] = "",
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show people's values, and what they are shown.")
    ] = False,
    trust: Trust = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it takes and what it could see.")] = False,
) -> None:
    """Audit a model: train, explain, attack, report. Without options: a demonstration on real people, in one page."""
    from jali.api import foresee, from_config
    from jali.config import SPECIFICATIONS

    given: dict[str, Any] = {"data": data, "target": target, "favourable": favourable, "model": model, "seed": seed}
    given |= {"quasi": quasi, "groups": groups, "sensitive": sensitive, "declare": declare, "knowledge": knowledge}
    given |= {"drop": drop, "immutable": immutable, "kind": kind, "bounds": bounds}
    given |= {"explain": explain, "attack": attack, "signal": signal, "game": _game(game, targets, shadows)}
    typed = {k: v for k, v in given.items() if v not in (None, "", [])}
    if file is None and set(typed) <= {"seed"} and not (shard or show_values or dry_run):
        _demonstrate(seed or 0, out, workers, engine, store)
        return
    config = _config(file, typed)
    trusted = SPECIFICATIONS if trust else tuple(typed)
    imports.expect(text for setting in SPECIFICATIONS if setting in trusted for text in config.specifications(setting))
    if dry_run:
        _foreseen(foresee(config, workers_for(workers), trusted))
        return
    part = parsed(shard)
    with terminal.writable(out, shared=part is not None):
        setup = _shown(config, show_values, trusted)
        with terminal.watching() as watch:
            resources = resources_for(out, workers, watch, engine, store)
            if part is not None:
                run_shard(config, resources, part, out, trusted, setup)
                return
            found = from_config(config, resources, show_values, trusted, setup)
        finish(found, out)


def _demonstrate(seed: int, out: Path, workers: int, engine: str, store: str) -> None:
    """Run the demonstration; the last line says where its page is."""
    from jali.api import store_in
    from jali.api.demonstration import demonstrate
    from jali.report import demonstration

    with terminal.writable(out):
        with terminal.watching() as watch:
            shown = demonstrate(resources_for(out, workers, watch, engine, store), seed)
        path = shown.save(out, store_in(out, store))
    console = terminal.console()
    console.print(demonstration.printed(shown.results), highlight=False)
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
    if not shown.results.audit.valid:
        raise SystemExit(3)


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or its results.json.")],
    tables: Annotated[bool, typer.Option("--tables", help="Print the tables of all attacks here as well.")] = False,
) -> None:
    """Render the report of a run again."""
    from jali.report.audit import html, text
    from jali.report.received import drawing
    from jali.results import read
    from jali.store import write_text

    file = run / "results.json" if run.is_dir() else run
    results = read(file)
    if not results.rows:
        raise JaliError(f"{file} holds no results: give the folder of a run or its results.json.")
    with drawing(file):
        page = html.render(results)
        shown = text.tables(results) if tables else ()
    write_text(file.parent / "report.html", page)
    for table in shown:
        terminal.console().print(table)
    typer.echo(f"Report: {file.parent / 'report.html'}")


def _game(game: str, targets: int, shadows: int) -> str:
    if game and (targets or shadows):
        raise JaliError("Give either --game or --targets and --shadows, not both.")
    if targets or shadows:
        return f"halves(targets={targets or 8}, shadows={shadows or 32})"
    return game


def _config(file: Path | None, given: dict[str, Any]) -> Config:
    """File, then options; without a file or data, the embedded example, whatever else is changed."""
    from jali import config

    if "none" in (chosen := given.get("explain", [])):
        if len(chosen) > 1:
            raise JaliError("--explain none stands alone: leave it out, or leave the other explainers out.")
        given["explain"] = []
    if file is not None:
        settings = config.read(file)
        if settings.evidence and set(given) - {"attack", "seed"}:
            raise JaliError(f"{file} repeats attacks on evidence: only --attack and --seed can be changed.")
        base = "" if "data" in given else settings.base
        return config.checked(settings.model_dump() | given | {"base": base})
    start = config.DEFAULT.model_dump() if "data" not in given else {"explain": config.DEFAULT.explain}
    return config.checked(start | given)


def _foreseen(found: Forecast) -> None:
    """Print what an audit takes and what it could see."""
    from jali.report.audit.forecast import sentences

    for sentence in sentences(found):
        terminal.console().print(sentence, markup=False, highlight=False)


def _shown(config: Config, show_values: bool, trusted: Collection[str]) -> Setup | None:
    """Load a user's own file and print what was inferred from it; None: the data are no file."""
    if not config.is_file() or config.evidence:
        return None
    from jali.api.audits import loaded
    from jali.report.audit import schema

    setup = loaded(config, trusted)
    terminal.console().print(schema.table(setup.data.schema, show_values))
    return setup
