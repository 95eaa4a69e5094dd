"""The command `jali verify`: tests of privacy claims, and of the verifier itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from jali import __version__, terminal
from jali.cli.options import Many
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.report.sheet import Sheet


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
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder for report and results; without it they are only printed."),
    ] = None,
) -> None:
    """Test a privacy claim; the last line is the verdict.

    Exit code: 0 NOT REFUTED, 1 REFUTED, 4 NOT TESTABLE, 2 for a mistake in the command.
    """
    from jali.report import verification, verification_page
    from jali.verify import run as engine
    from jali.verify.mechanisms_under_test import subject
    from jali.verify.own_pairs import chosen_pairs

    if zoo:
        with _folder(out):
            _zoo(name, draws, seeds, only or (), verifier, out)
        return
    if not name:
        raise JaliError("Name what to test: a defence, or your own release as module:name; or use --zoo.")
    imports.expect([name, data, pairs])
    with _folder(out):
        with terminal.watching() as watch:
            watch(f"drawing from {name}")
            tested = subject(name, epsilon, adjacency, delta)  # type: ignore[arg-type]
            found = engine.verify(tested, chosen_pairs(tested, data, target, pairs, seed), draws, seed, minutes)
        _save(found.model_copy(update={"jali": __version__}), verification_page.sheet, out)
    terminal.console().print(verification.text(found), markup=False, highlight=False, soft_wrap=True)
    if verification.EXIT[found.verdict]:
        raise SystemExit(verification.EXIT[found.verdict])


def _folder(out: Path | None) -> AbstractContextManager[None]:
    """The folder for report and results, held by this run alone, if there is to be one."""
    if out is None:
        return nullcontext()
    if out.suffix == ".json":
        raise JaliError(f"--out names a folder for report.html and results.json now: name one instead of {out}.")
    return terminal.writable(out)


def _save(found: Any, page: Callable[[Any], Sheet], out: Path | None) -> None:
    """Write report and results, and say where they are; the verdict comes after that."""
    from jali.api.answers import Answer

    if out is not None:
        path = Answer(found, page).save(out)
        terminal.console().print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)


def _zoo(name: str, draws: int, seeds: int, only: Sequence[str], verifier: str, out: Path | None) -> None:
    """Print the scoreboard of the zoo, a line as soon as it is known."""
    from jali.report import zoo as page
    from jali.verify.zoo import scoreboard

    if name:
        raise JaliError(f"--zoo tests its own mechanisms: leave {name} out.")
    imports.expect([verifier])
    console = terminal.console()

    def show(found: Sequence[Any]) -> None:
        console.print(page.line(found), markup=False, highlight=False, soft_wrap=True)

    board = scoreboard.scored(verifier, draws, seeds, only, show)
    _save(board, page.sheet, out)
    console.print(page.summary(board), markup=False, highlight=False, soft_wrap=True)
