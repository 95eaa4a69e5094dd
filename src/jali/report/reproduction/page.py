"""A paper's claims beside ours, as one HTML page, as Markdown with its figures, and as a table for a terminal."""

from __future__ import annotations

import re

from markupsafe import Markup
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jali.report import standalone, words
from jali.report.markdown import escape, slug, unused
from jali.report.reproduction import compared, mirror, studies
from jali.report.reproduction.compared import MARKS, Section, sections, tally
from jali.report.reproduction.forest import forest
from jali.report.reproduction.panels import Plate, plates
from jali.report.reproduction.templates import environment
from jali.reproduce.placing import items_in
from jali.results.reproduction import Finding, Reproduction, Verdict, published

STYLES: dict[Verdict, str] = {"matches": "green", "deviates": "bold red", "not resolvable": "dim"}


def page(found: Reproduction) -> str:
    """The reproduction as one HTML document that asks the network for nothing.

    >>> page(Reproduction(paper="p", title="T", citation="C", scale="smoke", command="c")).startswith("<!doctype html>")
    True
    """
    note, found = paragraphs(found.note), words.cleaned(found)
    parts = mirror.parts(found)
    ours = mirror.own(found.findings)
    return (
        environment()
        .get_template("reproduction.html.j2")
        .render(
            found=found,
            note=note,
            parts=[(part, _forest(f"ours-{k}", part)) for k, part in enumerate(parts, 1)],
            chapters=mirror.chapters(found.findings),
            ours=ours,
            our_notes=mirror.notes(ours),
            plates=plates(found.drawings),
            made=_made(found),
        )
    )


def _forest(name: str, part: mirror.Part) -> Markup | None:
    """The numbers of a table as a picture."""
    return forest(name, Section(part.item.name, tuple(published(part.findings))))


def markdown(found: Reproduction) -> dict[str, str]:
    """The reproduction as files by name: the page, what was run, and a folder with one SVG per panel.

    >>> list(markdown(Reproduction(paper="p", title="T", citation="C", scale="smoke", command="c")))
    ['p.md', 'p-studies.md']
    """
    note, found = [escape(text) for text in paragraphs(found.note)], words.cleaned(found)
    folder, files = slug(found.paper), dict[str, str]()
    drawn = [(escape(plate.title), plate.reading, _drawn(plate, folder, files)) for plate in plates(found.drawings)]
    escaped = words.cleaned(found, escape)
    ours = mirror.own(escaped.findings)
    shown = environment().get_template("reproduction.md.j2")
    text = shown.render(
        found=escaped,
        command=found.command,
        note=note,
        parts=mirror.parts(escaped),
        chapters=mirror.chapters(escaped.findings),
        ours=ours,
        our_notes=mirror.notes(ours),
        plates=drawn,
        readings=list(dict.fromkeys(sentence for _, reading, _ in drawn for sentence in reading)),
        apart=[plate for plate in drawn if not items_in(plate[0])],
        second=f"{folder}-studies.md",
    )
    ran = environment().get_template("studies.md.j2").render(found=escaped, command=found.command, first=f"{folder}.md")
    return {f"{folder}.md": tidy(text), f"{folder}-studies.md": tidy(ran), **files}


def tidy(text: str) -> str:
    r"""Text without spaces at the ends of lines and without two empty lines in a row.

    >>> tidy("a  \n\n\n\nb\n\n")
    'a\n\nb\n'
    """
    lines = re.sub(r"[ \t]+\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


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
    counted = ", ".join(f"{n} {verdict}" for verdict, n in tally(found.published).items())
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
