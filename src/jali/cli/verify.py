"""The command `jali verify`: tests of privacy claims, and of the verifier itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from jali import terminal
from jali.cli.options import Many
from jali.core import imports
from jali.core.errors import JaliError


def verify(
    name: Annotated[
        str, typer.Argument(help="A defence, such as laplace_recourse, or your own release, module:name.")
    ] = "",
    epsilon: Annotated[Optional[float], typer.Option(help="The claim; for a defence of jali 1 by default.")] = None,  # noqa: UP045
    adjacency: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="replace-one (default) or add-remove, for a release of your own."),
    ] = None,
    delta: Annotated[Optional[float], typer.Option(help="Delta of the claim, for a release of your own.")] = None,  # noqa: UP045
    draws: Annotated[
        int, typer.Option(help="Draws of each data set that are evaluated; as many choose the test.")
    ] = 2000,
    minutes: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Instead of --draws: as many as fit into this time; a pilot fixes the number beforehand."),
    ] = None,
    data: Annotated[str, typer.Option(help="Test on pairs of your own table: a file or a data set.")] = "",
    target: Annotated[str, typer.Option(help="The column of --data that is decided.")] = "",
    pairs: Annotated[str, typer.Option(help="Test on your own pairs: module:function that returns them.")] = "",
    zoo: Annotated[bool, typer.Option("--zoo", help="Test mechanisms whose true epsilon is known instead.")] = False,
    only: Annotated[Many, typer.Option(help="With --zoo: correct, broken, a name; repeat for several.")] = None,
    seeds: Annotated[int, typer.Option(help="With --zoo: tests of each.")] = 1,
    verifier: Annotated[
        str, typer.Option(help="With --zoo: another verifier, module:function(exhibit, draws, seed) -> bool.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    out: Annotated[Optional[Path], typer.Option(help="A .json file for the numbers.")] = None,  # noqa: UP045
) -> None:
    """Test a privacy claim; the last line is the verdict.

    Exit code: 0 NOT REFUTED, 1 REFUTED, 4 NOT TESTABLE, 2 for a mistake in the command.
    """
    from jali.report import verification
    from jali.store import write_text
    from jali.verify import run as engine
    from jali.verify.mechanisms_under_test import subject
    from jali.verify.own_pairs import chosen_pairs

    if out is not None and out.is_dir():
        raise JaliError(f"Cannot write to {out}: it is a folder; name a .json file with --out.")
    if zoo:
        _zoo(name, draws, seeds, only or (), verifier, out)
        return
    if not name:
        raise JaliError("Name what to test: a defence, or your own release as module:name; or use --zoo.")
    imports.expect([name, data, pairs])
    with terminal.watching() as watch:
        watch(f"drawing from {name}")
        tested = subject(name, epsilon, adjacency, delta)  # type: ignore[arg-type]
        found = engine.verify(tested, chosen_pairs(tested, data, target, pairs, seed), draws, seed, minutes)
    if out is not None:
        write_text(out, found.model_dump_json(indent=1))
    terminal.console().print(verification.text(found), markup=False, highlight=False, soft_wrap=True)
    if verification.EXIT[found.verdict]:
        raise SystemExit(verification.EXIT[found.verdict])


def _zoo(name: str, draws: int, seeds: int, only: Sequence[str], verifier: str, out: Path | None) -> None:
    """Print the scoreboard of the zoo, a line as soon as it is known."""
    from jali.report import zoo as page
    from jali.store import write_text
    from jali.verify.zoo import scoreboard

    if name:
        raise JaliError(f"--zoo tests its own mechanisms: leave {name} out.")
    imports.expect([verifier])
    console = terminal.console()

    def show(found: Sequence[Any]) -> None:
        console.print(page.line(found), markup=False, highlight=False, soft_wrap=True)

    board = scoreboard.scored(verifier, draws, seeds, only, show)
    if out is not None:
        write_text(out, board.model_dump_json(indent=1))
    console.print(page.summary(board), markup=False, highlight=False, soft_wrap=True)
