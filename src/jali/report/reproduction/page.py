"""A paper's claims beside ours, as one HTML page, as Markdown with its figures, and as a table for a terminal."""

from __future__ import annotations

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jali.report import standalone, words
from jali.report.markdown import escape, slug, unused
from jali.report.reproduction import compared, studies
from jali.report.reproduction.compared import MARKS, Section, sections, tally
from jali.report.reproduction.forest import forest
from jali.report.reproduction.panels import Plate, plates
from jali.report.templates import environment
from jali.results.reproduction import Finding, Reproduction, Verdict

Pictured = tuple[Section, tuple[str, str] | None]
STYLES: dict[Verdict, str] = {"matches": "green", "deviates": "bold red", "not resolvable": "dim"}


def page(found: Reproduction) -> str:
    """The reproduction as one HTML document that asks the network for nothing.

    >>> page(Reproduction(paper="p", title="T", citation="C", scale="smoke", command="c")).startswith("<!doctype html>")
    True
    """
    note, found = paragraphs(found.note), words.cleaned(found)
    parts = sections(found.findings)
    return (
        environment()
        .get_template("reproduction.html.j2")
        .render(
            found=found,
            note=note,
            sections=[(s, forest(f"ours-{k}", s)) for k, s in enumerate(parts, 1)],
            plates=plates(found.drawings),
            made=_made(found),
        )
    )


def markdown(found: Reproduction) -> dict[str, str]:
    """The reproduction as files by name: `<paper>.md`, and beside it a folder with one SVG per figure.

    >>> list(markdown(Reproduction(paper="p", title="T", citation="C", scale="smoke", command="c")))
    ['p.md']
    """
    note, found = [escape(text) for text in paragraphs(found.note)], words.cleaned(found)
    folder, files = slug(found.paper), dict[str, str]()
    shown = [_pictured(section, k, folder, files) for k, section in enumerate(sections(found.findings), 1)]
    drawn = [(escape(plate.title), plate.reading, _drawn(plate, folder, files)) for plate in plates(found.drawings)]
    text = (
        environment()
        .get_template("reproduction.md.j2")
        .render(found=words.cleaned(found, escape), note=note, command=found.command, sections=shown, plates=drawn)
    )
    return {f"{folder}.md": text, **files}


def paragraphs(note: str) -> list[str]:
    r"""What blank lines part, each cleaned.

    >>> paragraphs("One.\n\nTwo,\nstill two.")
    ['One.', 'Two, still two.']
    """
    return [text for part in note.split("\n\n") if (text := words.clean(part).strip())]


def table(found: Reproduction) -> Table:
    """Every claim with its verdict; user text is never read as markup."""
    found = words.cleaned(found)
    out = Table(title=Text(f"{found.paper}, scale {found.scale}", style="bold"), box=box.SIMPLE_HEAD)
    out.add_column("quantity", overflow="fold")
    out.add_column("claimed", justify="right")
    out.add_column(Text("ours [low, high]"), justify="right", no_wrap=True)
    out.add_column("verdict", no_wrap=True)
    for section in sections(found.findings):
        out.add_row(Text(section.title, style="bold"), "", "", "")
        for finding in section.findings:
            out.add_row(*_cells(finding))
        out.add_section()
    counted = ", ".join(f"{n} {verdict}" for verdict, n in tally(compared.published(found.findings)).items())
    out.caption = Text("\n".join([counted, *studies.cautions(found)]), style="dim")
    return out


def _made(found: Reproduction) -> list[tuple[str, str]]:
    """What made the numbers, without what was not recorded."""
    pairs = [
        ("scale", found.scale),
        ("made", found.made),
        ("judged again", found.judged),
        ("time of this run", studies.duration(found.seconds) if found.seconds else ""),
        ("peak memory", studies.memory(found.memory_mb) if found.memory_mb else ""),
        *found.versions.items(),
    ]
    return [(name, text) for name, text in pairs if text]


def _pictured(section: Section, place: int, folder: str, files: dict[str, str]) -> Pictured:
    """A section for Markdown: its title and findings escaped, its figure filed."""
    drawn, inside = forest(f"ours-{place}", section), tuple(words.cleaned(f, escape) for f in section.findings)
    shown = Section(escape(section.title), inside)
    if drawn is None:
        return shown, None
    file = _filed(files, f"{folder}/{slug(section.title)}", standalone.file(drawn, section.title))
    return shown, (file, escape(f"{section.title}: {section.claimant} and ours"))


def _drawn(plate: Plate, folder: str, files: dict[str, str]) -> list[tuple[str, str]]:
    """The panels of a figure, filed; where each lies and what to say where it cannot be seen."""
    shown = []
    for k, panel in enumerate(plate.panels, 1):
        text = standalone.file(panel.drawn, panel.title, panel.legend)
        shown.append(
            (_filed(files, f"{folder}/{slug(plate.title)}-{k}", text), escape(f"{plate.title}: {panel.title}"))
        )
    return shown


def _filed(files: dict[str, str], name: str, text: str) -> str:
    """Put an SVG among the files; where it lies."""
    free = unused(name, {file.removesuffix(".svg") for file in files})
    files[f"{free}.svg"] = text
    return f"{free}.svg"


def _cells(finding: Finding) -> tuple[Padding, Text, Text, Text]:
    """One claim in a terminal; tolerance, interval and reason stand below what they belong to: 80 columns do."""
    verdict = Text(f"{MARKS[finding.verdict]} {finding.verdict}", style=STYLES[finding.verdict])
    return (
        Padding(_over(finding.quantity, finding.reason), (0, 0, 0, 2)),
        _over(compared.claimed(finding), compared.tolerated(finding)),
        _over(compared.ours(finding), compared.span(finding)),
        verdict,
    )


def _over(text: str, below: str) -> Text:
    return Text.assemble(text, (f"\n{below}" if below else "", "dim"))
