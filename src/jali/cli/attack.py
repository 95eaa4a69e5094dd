"""The command `jali attack`: attacks on files, without any model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from jali import terminal
from jali.cli.options import OUT, EngineName, Many, StoreAt, Workers, finish, resources_for
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jali.api import Audit
    from jali.api.answers import Answer
    from jali.audit.setup import Resources

EVIDENCE = "jali attack evidence.npz"
DUMP = "jali attack dump.csv --member member --output p_ --label y"
TABLES = (".csv", ".tsv", ".parquet", ".gz")
RELEASE = "jali attack --released cfs.csv --candidates people.csv --reference population.csv"


def attack(
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="Evidence, or one model's dump as .csv, .parquet or .npz."),
    ] = None,
    attack: Annotated[Many, typer.Option(help="An attack; repeat for several. Default: all that fit.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Keep the values as they are: no log or logit scale.")] = False,
    low: Annotated[Many, typer.Option(help="A signal that is lower for members; repeat for several.")] = None,
    as_released: Annotated[
        str, typer.Option(help="Count as the authors of a paper do in their released code, such as huang2024.")
    ] = "",
    signal: Annotated[Many, typer.Option(help="Of a dump: a column to attack as it is; repeat.")] = None,
    label: Annotated[str, typer.Option(help="Of a dump: the column of the true class.")] = "",
    output: Annotated[Many, typer.Option(help="Of a dump: columns of probabilities, or how they begin.")] = None,
    attribution: Annotated[str, typer.Option(help="Of a dump: how the columns of attributions begin.")] = "",
    counterfactual: Annotated[str, typer.Option(help="Of a dump: how the columns of counterfactuals begin.")] = "",
    released: Annotated[str, typer.Option(help="Instead of evidence: a file of released counterfactuals.")] = "",
    candidates: Annotated[str, typer.Option(help="With --released: people who may have been trained on.")] = "",
    reference: Annotated[str, typer.Option(help="With --released: a sample of the population outside.")] = "",
    register: Annotated[str, typer.Option(help="With --released: are the answers real people of this table?")] = "",
    quasi: Annotated[Many, typer.Option(help="With --register: a column that others know too; repeat.")] = None,
    others: Annotated[str, typer.Option(help="With --register: people outside it, to count chance matches.")] = "",
    member: Annotated[str, typer.Option(help="The column that says who was trained on, as 1 and 0.")] = "",
    target: Annotated[str, typer.Option(help="The class column; it is not compared, and classes are groups.")] = "",
    favourable: Annotated[str, typer.Option(help="The class people hope for, reported first.")] = "",
    groups: Annotated[str, typer.Option(help="The column that says whose row it is.")] = "",
    distance: Annotated[str, typer.Option(help="How far apart rows are: heom or squared_euclidean.")] = "heom",
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for report, results, evidence and configuration.")] = OUT,
    workers: Workers = 0,
    engine: EngineName = "processes",
    store: StoreAt = "",
    max_gb: Annotated[float, typer.Option(help="Arrays in the file that are read at most, in gigabytes.")] = 8.0,
) -> None:
    """Attack files without any model: evidence of many models, one model's dump, or released counterfactuals."""
    people = {"target": target, "favourable": favourable, "groups": groups}
    if released:
        if file is not None:
            raise JaliError(f"Give either a file of evidence or --released, not both: {RELEASE}.")
        if register:
            conclude(_linked(released, register, quasi, groups, others), out)
            return
        given = {"released": released, "candidates": candidates, "reference": reference}
        conclude(_released(given, people | {"member": member, "distance": distance, "seed": seed}), out)
        return
    if file is None:
        raise JaliError(f"Name what to attack: {EVIDENCE}, {DUMP}, or {RELEASE}.")
    if member or file.suffix.lower() in TABLES:
        columns = {"signal": signal or (), "low": low or (), "label": label, "output": output or ()}
        shown = {"attribution": attribution, "counterfactual": counterfactual, "groups": groups}
        _dump(file, member, columns | shown | {"attack": attack or (), "seed": seed}, out, workers)
        return
    if as_released and (attack or raw or low):
        raise JaliError("--as-released fixes attack, scale and orientation: leave --attack, --raw and --low out.")
    imports.expect(attack or ())
    with terminal.writable(out):
        with terminal.watching() as watch:
            resources = resources_for(out, workers, watch, engine, store)
            found = _evidence(file, attack or (), (raw, low or ()), as_released, seed, resources, max_gb)
        finish(found, out)


def conclude(answer: Answer[Any], out: Path) -> None:
    """Save an answer and print it; the last line says where the report is."""
    with terminal.writable(out):
        path = answer.save(out)
    console = terminal.console()
    console.print(answer.printed())
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)


def _released(given: dict[str, Any], options: dict[str, Any]) -> Answer[Any]:
    """The attack on released counterfactuals."""
    from jali.api import attack_released

    if missing := [name for name in ("candidates", "reference") if not given[name]]:
        raise JaliError(f"--released needs --{missing[0]} too: {RELEASE}.")
    return attack_released(**given, **options)


def _dump(file: Path, member: str, options: dict[str, Any], out: Path, workers: int) -> None:
    """The attack on one model's dump."""
    from jali.api import attack_dump

    if not member:
        raise JaliError(f"Say which column of {file} tells who was trained on: {DUMP}.")
    imports.expect(options["attack"])
    with terminal.writable(out):
        with terminal.watching() as watch:
            found = attack_dump(file, member, **options, resources=resources_for(out, workers, watch))
        finish(found, out)


def _linked(released: str, register: str, quasi: Many, groups: str, others: str) -> Answer[Any]:
    """The linkage of released counterfactuals with a table."""
    from jali.api import link_released

    return link_released(released, register, quasi=quasi or (), groups=groups, others=others or None)


def _evidence(
    file: Path,
    attack: Sequence[str],
    scale: tuple[bool, Sequence[str]],
    as_released: str,
    seed: int,
    resources: Resources,
    max_gb: float,
) -> Audit:
    """The attack on evidence; scale: whether values stay as they are, and which signals are lower for members."""
    from jali.api import as_released as with_conventions
    from jali.api import attack_file
    from jali.store import GIGABYTE

    if as_released:
        return with_conventions(file, as_released)
    return attack_file(file, attack, seed, resources, *scale, max_gb * GIGABYTE)
