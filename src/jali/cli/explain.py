"""The commands `jali explain` and `jali budget`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from jali import terminal
from jali.cli.options import Many
from jali.core import imports
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.protect.budget import Budget

SHOWN = 20  # sentences that are printed; a file holds all


def explain(
    data: Annotated[str, typer.Argument(help="The training rows: your own .csv or .parquet file, or a data set.")],
    target: Annotated[str, typer.Option(help="The column that is decided, for a file of your own.")] = "",
    favourable: Annotated[str, typer.Option(help="The class people hope for.")] = "",
    model: Annotated[
        str, typer.Option(help="A trainer, such as logistic, or your fitted model, module:name.")
    ] = "logistic",
    method: Annotated[str, typer.Option(help="How to protect, such as k_groups(k=20) or mutual.")] = "k_groups",
    row: Annotated[Optional[int], typer.Option(help="Explain to this row of the file, counted from 0.")] = None,  # noqa: UP045
    where: Annotated[str, typer.Option(help="Explain to the rows with column=value.")] = "",
    people: Annotated[str, typer.Option(help="Take the people from this file, not from the training rows.")] = "",
    immutable: Annotated[Many, typer.Option(help="A column that cannot change; repeat for several.")] = None,
    quasi: Annotated[Many, typer.Option(help="A column by which people can be found; repeat.")] = None,
    groups: Annotated[str, typer.Option(help="The column that says whose row it is.")] = "",
    grid: Annotated[Many, typer.Option(help="The width of intervals, column=width; repeat.")] = None,
    declare: Annotated[str, typer.Option(help="A schema file: what is known of columns without the rows.")] = "",
    budget: Annotated[str, typer.Option(help="The file of a budget, for methods that pay for each answer.")] = "",
    epsilon: Annotated[float, typer.Option(help="The whole budget, with --budget.")] = 0.0,
    public: Annotated[str, typer.Option(help="A file of public rows, for methods that learn a direction.")] = "",
    language: Annotated[str, typer.Option(help="The language of the sentences: en or de.")] = "en",
    out: Annotated[Optional[Path], typer.Option(help="A .csv or .json file for all answers.")] = None,  # noqa: UP045
) -> None:
    """Explain decisions to people without giving others away: sentences, and the guarantee."""
    from jali.api.explaining import chosen_people, explain_table, training_table, write_answers
    from jali.data.tables import frame_files

    if row is not None and where:
        raise JaliError("Give --row or --where, not both.")
    if out is not None and out.suffix not in (".csv", ".json"):
        raise JaliError(f"--out names a .csv or .json file, not {out}.")
    imports.expect([model, method, data])
    table = training_table(data, target)
    asked = chosen_people(frame_files.read(Path(people)) if people else table.rows, row, where)
    options: dict[str, Any] = {"favourable": favourable, "immutable": immutable, "quasi": quasi, "groups": groups}
    options |= {"grid": _widths(grid or []), "schema": declare, "budget": _budget(budget, epsilon)}
    if public:
        other = training_table(public, target)
        options["population"] = (other.rows, other.labels)
    protected, answers = explain_table(table, asked, model, method, language, **options)
    console = terminal.console()
    for answer in answers[:SHOWN]:
        console.print(answer.sentence, markup=False, highlight=False, soft_wrap=True)
    if len(answers) > SHOWN:
        console.print(f"… and {len(answers) - SHOWN} more" + ("" if out else ": name a file with --out."), markup=False)
    console.print(f"Guarantee: {protected.guarantee}", markup=False, highlight=False, soft_wrap=True)
    if out is not None:
        write_answers(answers, out)
        console.print(f"Answers: {out}", markup=False, highlight=False, soft_wrap=True)


def show_budget(
    file: Annotated[Path, typer.Argument(help="The file of a budget.")],
    price: Annotated[float, typer.Option(help="Epsilon of one answer; by default that of the last one paid.")] = 0.0,
    receipt: Annotated[
        str, typer.Option(help="An earlier receipt: is this still the same file, nothing changed?")
    ] = "",
) -> None:
    """Show what is left of a budget, in answers."""
    from jali.protect.budget import Budget

    found = Budget.open(file)
    found.ledger.check(receipt)
    paid = [entry.epsilon for entry in found.ledger.entries(1000) if not entry.hit]
    each = price or (paid[-1] if paid else 0.0)
    state = found.state()
    typer.echo(f"Budget: epsilon = {state.epsilon:g}, delta = {state.delta:g} ({state.adjacency}).")
    typer.echo(f"Spent: {state.spent:.6g} on {state.answers:,} answers; {state.hits:,} repeated ones were free.")
    if state.unfinished:
        typer.echo(f"Paid and not finished: {state.unfinished:,}; asking again is free.")
    typer.echo(found.sentence(each) if each else "Nothing was paid yet: name the price of an answer with --price.")
    if receipt:
        typer.echo("The receipt fits: nothing before it was changed or removed.")
    typer.echo(f"Receipt: {found.ledger.receipt()}")


def _widths(texts: list[str]) -> dict[str, float]:
    """Widths of intervals by column, from column=width."""
    out = {}
    for text in texts:
        name, _, width = text.rpartition("=")
        try:
            out[name] = float(width)
        except ValueError:
            raise JaliError(f"--grid takes column=width, such as income=5000, not {text!r}.") from None
    return out


def _budget(path: str, epsilon: float) -> Budget | None:
    from jali.protect.budget import Budget

    if not path:
        return None
    if Path(path).exists() and not epsilon:
        return Budget.open(Path(path))
    if not epsilon:
        raise JaliError(f"There is no budget in {path} yet: say how large it is with --epsilon.")
    return Budget(epsilon, path)
