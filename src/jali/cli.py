"""The command line: parse, call, render."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from jali import __version__, stopping, terminal
from jali.cli_verify import verify
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.api import Audit
    from jali.audit.forecast import Forecast
    from jali.audit.setup import Resources
    from jali.config import Config
    from jali.parallel import Watch
    from jali.store import Entry

app = typer.Typer(
    help="What your model's explanations give away about the people in its training data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="List data sets, where each comes from and under which licence; `fetch` gets one.")
app.add_typer(data_app, name="data")

OUT, REPRODUCTION = Path("jali-audit"), Path("jali-reproduction")
Trust = Annotated[bool, typer.Option("--trust", help="Import the modules that the file names: their code runs.")]
Many = Optional[list[str]]  # noqa: UP045 (typer reads it at run time)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """What your model's explanations give away about the people in its training data."""
    if version:
        typer.echo(f"jali {__version__}")
        raise typer.Exit


@app.command()
def audit(
    file: Annotated[Optional[Path], typer.Argument(help="An audit.toml; options override it.")] = None,  # noqa: UP045
    data: Annotated[str, typer.Option(help="A named data set, or your own .csv or .parquet file.")] = "",
    target: Annotated[str, typer.Option(help="The column to predict, for a file of your own.")] = "",
    favourable: Annotated[str, typer.Option(help="The class people hope for, for a file of your own.")] = "",
    quasi: Annotated[Many, typer.Option(help="A column of your own file by which people can be found; repeat.")] = None,
    groups: Annotated[str, typer.Option(help="The column of your own file that says whose row it is.")] = "",
    sensitive: Annotated[str, typer.Option(help="The column of your own file whose groups are compared.")] = "",
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
    workers: Annotated[int, typer.Option(help="Processes; 0 means one per core. Changes no number.")] = 0,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show people's values, and what they are shown.")
    ] = False,
    trust: Trust = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it takes and what it could see.")] = False,
) -> None:
    """Audit a model: train, explain, attack, report. Without options: the embedded example."""
    from jali.api import foresee, from_config
    from jali.config import SPECIFICATIONS

    given: dict[str, Any] = {"data": data, "target": target, "favourable": favourable, "model": model, "seed": seed}
    given |= {"quasi": quasi, "groups": groups, "sensitive": sensitive, "declare": declare, "knowledge": knowledge}
    given |= {"explain": explain, "attack": attack, "signal": signal, "game": _game(game, targets, shadows)}
    typed = {k: v for k, v in given.items() if v not in (None, "", [])}
    config = _config(file, typed)
    trusted = SPECIFICATIONS if trust else tuple(typed)
    imports.expect(text for setting in SPECIFICATIONS if setting in trusted for text in config.specifications(setting))
    if dry_run:
        _foreseen(foresee(config, _workers(workers), trusted))
        return
    with terminal.writable(out):
        _show_schema(config, show_values)
        with terminal.watching() as watch:
            found = from_config(config, _resources(out, workers, watch), show_values, trusted)
        _finish(found, out)


@app.command()
def attack(
    file: Annotated[Path, typer.Argument(help="An evidence.npz: `member` and signals, each (records, models).")],
    attack: Annotated[Many, typer.Option(help="An attack; repeat for several. Default: all that fit.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Keep the values as they are: no log or logit scale.")] = False,
    low: Annotated[Many, typer.Option(help="A signal that is lower for members; repeat for several.")] = None,
    as_released: Annotated[
        str, typer.Option(help="Count as the authors of a paper do in their released code, such as huang2024.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for report, results, evidence and configuration.")] = OUT,
    workers: Annotated[int, typer.Option(help="Processes; 0 means one per core. Changes no number.")] = 0,
) -> None:
    """Attack evidence without any model: every model takes its turn as target."""
    from jali.api import as_released as with_conventions
    from jali.api import attack_file

    if as_released and (attack or raw or low):
        raise JaliError("--as-released fixes attack, scale and orientation: leave --attack, --raw and --low out.")
    imports.expect(attack or ())
    with terminal.writable(out):
        with terminal.watching() as watch:
            resources = _resources(out, workers, watch)
            if as_released:
                found = with_conventions(file, as_released)
            else:
                found = attack_file(file, attack or (), seed, resources, raw, low or ())
        _finish(found, out)


@app.command(name="list")
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


@app.command()
def report(run: Annotated[Path, typer.Argument(help="The folder of a run, or its results.json.")]) -> None:
    """Render the report of a run again."""
    from jali.report.audit import html
    from jali.results import read
    from jali.store import write_text

    file = run / "results.json" if run.is_dir() else run
    results = read(file)
    if not results.rows:
        raise JaliError(f"{file} holds no results: give the folder of a run or its results.json.")
    try:
        page = html.render(results)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise JaliError(f"{file} was changed in a way that cannot be drawn ({error}): run the audit again.") from None
    write_text(file.parent / "report.html", page)
    typer.echo(f"Report: {file.parent / 'report.html'}")


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="A paper, such as pawelczyk2022, or a .toml file of your own.")],
    scale: Annotated[str, typer.Option(help="smoke (minutes), standard (an hour or so), paper (many).")] = "smoke",
    only: Annotated[Many, typer.Option(help="A study of the paper; repeat for several. Default: all.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, its pictures and all numbers.")] = REPRODUCTION,
    workers: Annotated[int, typer.Option(help="Processes; 0 means one per core. Changes no number.")] = 0,
    judge: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="The .json file of an earlier run: judge its numbers again, run nothing."),
    ] = None,
    trust: Trust = False,
) -> None:
    """Run a paper's experiments again: its numbers beside ours, with a verdict on each."""
    from jali.api import save_reproduction
    from jali.report.reproduction import page as reproduction
    from jali.reproduce import run as engine
    from jali.reproduce import schema as claims

    if scale not in claims.SCALES:
        raise JaliError(f"There is no scale {scale!r}; there are {', '.join(claims.SCALES)}.")
    if judge is not None and only:
        raise JaliError("--judge takes all studies of the earlier run: drop --only.")
    study = claims.read(paper, trust)
    imports.expect(text for _, text in study.specifications() if trust)
    with terminal.writable(out), terminal.watching() as watch:
        if judge is not None:
            found = engine.judge_again(study, paper, judge)
        else:
            found = engine.reproduce(study, paper, scale, only or (), _resources(out, workers, watch))
        path = save_reproduction(found, out)
    console = terminal.console()
    console.print(reproduction.table(found))
    console.print(f"Page: {path}", markup=False, highlight=False, soft_wrap=True)


app.command()(verify)


@app.command()
def store(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")] = OUT,
    unused: Annotated[bool, typer.Option("--unused", help="Remove what the last run did not use.")] = False,
    older: Annotated[Optional[float], typer.Option(help="Remove what was not used for this many days.")] = None,  # noqa: UP045
) -> None:
    """Show what a run has stored so that it need not be computed again, and remove parts of it.

    Without options nothing is removed. With both, what meets either is removed.
    """
    from jali.api import store_in
    from jali.store import remove

    kept = store_in(run)
    if not kept.folder.is_dir():
        raise JaliError(f"There is no store in {run}: give the folder that a run wrote to.")
    if older is not None and older < 0:
        raise JaliError(f"--older takes a number of days, 0 or more, not {older:g}.")
    typer.echo(f"{kept.root}: {_amount(kept.entries())}, of which the last run did not use {_amount(kept.unused())}.")
    chosen = {entry.path: entry for entry in (kept.unused() if unused else [])}
    chosen |= {entry.path: entry for entry in (kept.older(older) if older is not None else [])}
    if unused or older is not None:
        remove(chosen.values())
        typer.echo(f"Removed: {_amount(chosen.values())}. Left: {_amount(kept.entries())}.")


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


# --- helpers ---------------------------------------------------------------------------------------------------


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


def _resources(out: Path, workers: int, watch: Watch) -> Resources:
    from jali.api import store_in
    from jali.audit.setup import Resources

    return Resources(workers=_workers(workers), store=store_in(out), watch=watch)


def _workers(named: int) -> int:
    from jali.parallel import cores

    if named < 0:
        raise JaliError(f"--workers must be 0 or more, not {named}.")
    return named or cores()


def _amount(entries: Collection[Entry]) -> str:
    """How many entries of a store, and how large they are together."""
    size = sum(entry.bytes for entry in entries) / 1e6
    return f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'} ({size:,.1f} MB)"


def _foreseen(found: Forecast) -> None:
    """Print what an audit takes and what it could see."""
    from jali.report.audit.forecast import sentences

    for sentence in sentences(found):
        terminal.console().print(sentence, markup=False, highlight=False)


def _show_schema(config: Config, show_values: bool) -> None:
    """Print what was inferred from a user's own file."""
    if not config.is_file():
        return
    from jali.core import registry
    from jali.report.audit import schema

    terminal.console().print(schema.table(registry.build("data", config.source()).load().schema, show_values))


def _finish(found: Audit, out: Path) -> None:
    from jali.report import words
    from jali.report.audit import text

    path = found.save(out)
    console = terminal.console()
    for table in text.tables(found.results):
        console.print(table)
    console.print(text.summary(found.results), markup=False, highlight=False)
    for warning in found.results.warnings:
        console.print(f"Warning: {words.clean(warning)}", markup=False, highlight=False)
    for given in found.results.guarantees:
        if given.refuted:
            console.print(f"KNOWN TO BE FALSE: {words.clean(given.claim)}. {given.refuted}", markup=False)
    for sentence in found.results.contradicted[:5]:
        console.print(f"CONTRADICTED: {words.clean(sentence)}", markup=False, highlight=False)
    if not found.results.valid:
        failed = ", ".join(c.name for c in found.results.sanity if not c.passed)
        console.print(f"INVALID: the sanity suite failed ({failed}); the numbers above must not be used.", markup=False)
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
    if not found.results.valid:
        raise SystemExit(3)


def main() -> None:
    """Run the command line; anything the user can put right is one sentence and exit code 2."""
    with imports.beside(), stopping.orderly():
        try:
            app()
        except JaliError as error:
            terminal.complain(f"Error: {error}", 2)
        except stopping.Stopped as stop:
            stopping.ignore()
            terminal.complain("Stopped; run the same command again to go on.", 128 + stop.number)
