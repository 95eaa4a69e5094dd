"""Results for a terminal and a notebook: a table, the same without colours, and a few sentences."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jali.core.metrics import metric as metric_of
from jali.report import footnotes, resolution, views, words
from jali.report.audit import answers, controls, first_screen, headline
from jali.results import Results, Row

METRICS = ("auc", "tpr@0.01", "tpr@0.001")
QUERIED = (  # in this order
    "candidates",
    "singled_out",
    "reidentified",
    "disclosed",
    "disclosed_baseline",
    "base_rate",
    "precision",
    "recall",
    "auc",
)
REPORT_ONLY = (views.AFTER, views.MEANS)  # blocks that a terminal leaves out


def summary(results: Results) -> str:
    """A few plain sentences.

    >>> summary(Results())
    'No attack gave a number that this audit can resolve. No explanation was attacked beside a prediction, so nothing is said about what explanations add.'
    """  # noqa: E501
    results = words.cleaned(results)
    broken = headline.invalid(results)
    if broken:
        return f"{broken} No statement about leakage can be made from it."
    page = headline.headline(results)
    return " ".join([page.lead, *page.additions, *headline.unchecked(results)])


def opening(results: Results) -> Group:
    """The first screen for a terminal of 80 columns or more; user text is never read as markup."""
    results = words.cleaned(results)
    head = Text(results.title or "jali audit", style="bold")
    broken = headline.invalid(results)
    if broken:
        return Group(head, Text(f"{broken} No statement about leakage can be made from it."))
    shown = first_screen.screen(results)
    parts: list[RenderableType] = [head, Text(shown.lead, style="bold")]
    parts += [Text(sentence) for sentence in headline.unchecked(results)]
    for answer in shown.answers:
        parts.append(Text.assemble((f"{answer.question} ", "bold"), " ".join(answer.sentences)))
        parts += [Padding(Text(answer.command), (0, 0, 0, 2))] if answer.command else []
    parts += [_overview(shown)] if shown.columns else []
    for verdict in shown.verdicts:
        parts.append(Text.assemble((verdict.explainer, "bold"), f": {verdict.tag}"))
        parts += [Padding(Text(sentence), (0, 0, 0, 2)) for sentence in verdict.sentences]
    parts += [Text(shown.without)] if shown.without else []
    for number, option in enumerate(shown.options[1:], 2):
        parts.append(Text.assemble((f"What you can do, {number}: ", "bold"), option.said))
        parts += [Padding(Text(option.command), (0, 0, 0, 2))] if option.command else []
    return Group(*parts)


def _overview(shown: first_screen.Screen) -> Table:
    """What each explanation gives away and what its answers are worth."""
    out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    out.add_column("explanation", overflow="fold")
    for name in shown.columns:
        out.add_column(first_screen.SHORT[name], justify="right")
    for line in shown.overview:
        out.add_row(Text(line.explainer), *(Text(line.cells[name]) for name in shown.columns))
    return out


def table(results: Results) -> Table:
    """Combined attacks, the strongest on single signals and paired differences; user text is never read as markup."""
    results = words.cleaned(results)
    title = results.title or "jali audit"
    out = Table(title=Text(title if results.valid else f"INVALID AUDIT: {title}", style="bold"), box=box.SIMPLE_HEAD)
    found = _lines(results)
    shown = [line for lines in found.values() for _, line in lines]
    notes = footnotes.of(r for r in views.rows(shown) if r.metric in METRICS)
    caption = "\n".join(filter(None, [_left_out(results), *notes.lines, _not_used(results), controls.line(results)]))
    out.caption = Text(caption, style="dim") if caption else None
    out.caption_justify = "left"
    out.add_column("attacker sees: attack", overflow="fold")
    for metric in METRICS:
        out.add_column(metric_of(metric).head, justify="right", no_wrap=True)
    for explainer, lines in found.items():
        out.add_row(Text(explainer, style="bold"), *[""] * len(METRICS))
        for label, line in lines:
            out.add_row(Padding(Text(label), (0, 0, 0, 2)), *(_cell(line.cells.get(m), notes) for m in METRICS))
        out.add_section()
    return out


def tables(results: Results) -> list[Table]:
    """Attacks on signals, where there are any or nothing else, query attacks, and answers as people read them."""
    shown = words.cleaned(results)
    queries = [_queries(block) for block in views.queries(shown) if block.title not in REPORT_ONLY]
    signals = [] if queries and not results.find(kind="attack") else [table(results)]
    return signals + queries + ([answers.table(shown.examples)] if shown.examples else [])


def _queries(block: views.Block) -> Table:
    out = Table(title=Text(f"{views.QUERIES}: {block.title.lower()}", style="bold"), box=box.SIMPLE_HEAD)
    out.add_column("queried: attack, knowledge", overflow="fold")
    metrics = [metric for metric in QUERIED if metric in block.metrics] or list(block.metrics)
    out.add_column("queries", justify="right")
    for metric in metrics:
        out.add_column(metric_of(metric).head, justify="right")
    notes = footnotes.of(r for r in views.rows(block.lines) if r.metric in metrics)
    for line in block.lines:
        label = f"{line.head.explainer or 'the model'}: {line.head.attack}, {line.head.knowledge}"
        made = f"{line.head.queries:,}" if line.head.queries else ""
        out.add_row(Text(label), made, *(_cell(line.cells.get(m), notes) for m in metrics))
    out.caption = Text("\n".join(notes.lines), style="dim") if notes.reasons else None
    out.caption_justify = "left"
    return out


def first(results: Results) -> str:
    """The first screen as plain text, without colours."""
    return _printed([opening(results)])


def plain(results: Results) -> str:
    """The tables as plain text, without colours, for files and logs."""
    return _printed(tables(results))


def _printed(parts: Sequence[RenderableType]) -> str:
    buffer = io.StringIO()
    options = {"width": 120, "color_system": None, "force_terminal": False, "force_jupyter": False}
    console = Console(file=buffer, _environ={}, **options)  # type: ignore[arg-type]
    for part in parts:
        console.print(part, highlight=False)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _lines(results: Results) -> dict[str, list[tuple[str, views.Line]]]:
    """Attacks, then differences, by explainer; above each difference both of its sides, on the same people."""
    found: dict[str, list[views.Line]] = {}
    for block in [*views.attacks(results), *views.contrasts(results), *views.availability(results)]:
        for line in (x for x in block.shown if set(METRICS) & x.cells.keys() and not x.head.group):
            mine = found.setdefault(line.head.explainer or block.name.lower(), [])
            for side in views.sides(results, line) if line.head.kind == "contrast" else ():
                # A side that repeats an attack on everybody it could be made of takes that line's place.
                twins = [x for x in mine if _same_numbers(x, side)]
                mine[:] = [x for x in mine if x not in twins] + [side]
            mine.append(line)
    return {title: [(_label(line, lines), line) for line in lines] for title, lines in found.items()}


def _same_numbers(a: views.Line, b: views.Line) -> bool:
    """Whether two lines show the same numbers of the same attack."""
    if (a.head.channel, a.head.attack, a.head.signal) != (b.head.channel, b.head.attack, b.head.signal):
        return False
    shown = [{m: (words.value_of(r), words.span_of(r)) for m, r in x.cells.items() if m in METRICS} for x in (a, b)]
    return shown[0] == shown[1]


def _label(line: views.Line, lines: Sequence[views.Line]) -> str:
    row = line.head
    several = len({x.head.attack for x in lines if x.head.kind == "contrast"}) > 1
    named = f": {row.attack}" if several else ""
    if row.kind == "contrast":
        return f"adds over {row.against}{named}" + (f" ({line.left_out})" if line.left_out else "")
    if row.kind == "availability":
        return f"whether given adds over {row.against}"
    if row.channel == row.against:
        return f"{row.channel} alone, same people{named}"
    twins = [x for x in lines if (x.head.kind, x.head.channel, x.head.attack) == (row.kind, row.channel, row.attack)]
    single = row.signal and not row.combined
    return f"{row.channel or row.convention}: {row.attack}" + (f" on {row.signal}" if single or len(twins) > 1 else "")


def _left_out(results: Results) -> str:
    folded = sum(len(block.folded) for block in views.attacks(results))
    single = sum(len(block.lines) for block in views.targets(results))
    parts = [
        f"{folded} other attacks on single signals (per channel, the strongest at 1 % FPR is shown)" if folded else "",
        f"{single} lines on single target models" if single else "",
    ]
    return "only in the report: " + "; ".join(p for p in parts if p) if folded or single else ""


def _not_used(results: Results) -> str:
    there = any(resolution.unused(r) for r in results.find(kind="contrast") if r.metric in METRICS)
    return f"{words.NOT_USED}: {words.WHY_NOT_USED[0].lower()}{words.WHY_NOT_USED[1:].rstrip('.')}" if there else ""


def _cell(row: Row | None, notes: footnotes.Footnotes) -> Text:
    """Value over interval; a dash, dimmed, where there is none, with the mark of its footnote."""
    if row is None:
        return Text("")
    if row.value is None:
        return Text(notes.mark(row), style="dim")
    span = words.span_of(row)
    return Text.assemble(words.value_of(row), (f"\n{span}" if span else "", "dim"))
