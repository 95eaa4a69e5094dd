"""Published numbers beside ours as a picture: a line and its tolerance, a dot and its interval, one lane per claim."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from jali.report import svg
from jali.report.figures import bare
from jali.report.reproduction.compared import Group, Section, band, groups, points
from jali.results.reproduction import Finding, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 410.0
LANE, LINE, HEAD, TICKS, NOTE, GAP = 22.0, 17.0, 26.0, 24.0, 18.0, 14.0
HALF, ROOM = 7.5, 190.0
MARKERS: dict[Verdict, tuple[str, str, float]] = {
    "matches": ("o", svg.SERIES[0], 7.5),
    "deviates": ("D", svg.SERIES[1], 6.5),
    "not resolvable": ("o", svg.SERIES[2], 7.0),
}
NUMBERS = "line: {}; grey: its tolerance"
SENTENCES = "difference; grey: where the sentence puts it"


@dataclass(frozen=True)
class Block:
    """One axis: a title, lanes with their labels in lines, on the left if short and above if long, a note below."""

    title: str
    findings: tuple[Finding, ...]
    labels: tuple[tuple[str, ...], ...]
    note: str

    @property
    def left(self) -> float:
        """The room labels take on the left, none if they stand above."""
        widest = max(_width(line) for lines in self.labels for line in lines) + 10
        several = any(len(lines) > 1 for lines in self.labels)
        return 0.0 if several or widest > ROOM else widest

    @property
    def lanes(self) -> list[float]:
        """The height of each lane."""
        return [LANE + (0.0 if self.left else LINE * len(lines) + 2) for lines in self.labels]

    @property
    def height(self) -> float:
        """Everything from the title to the note."""
        return HEAD * bool(self.title) + sum(self.lanes) + TICKS + NOTE * bool(self.note)


def forest(name: str, section: Section) -> Markup | None:
    """One figure for all claims of a section that have a number."""
    parts = _blocks(groups(f for f in section.findings if points(f)), NUMBERS.format(section.claimant))
    if not parts:
        return None
    height = sum(b.height for b in parts) + GAP * (len(parts) - 1)
    left = max(b.left for b in parts)
    with svg.canvas(height, WIDTH) as figure:
        top = 0.0
        for block in parts:
            _block(figure, block, top, left if block.left else 0.0)
            top += block.height + GAP
        return svg.inline(figure, name, f"{section.claimant.capitalize()} and ours: {section.title}")


def _blocks(some: Sequence[Group], numbers: str) -> list[Block]:
    """What the lines mean is said once, below the last axis it holds for; numbers: what those of numbers mean."""
    notes = [SENTENCES if g.kind == "difference" else numbers for g in some]
    shown = [note if note not in notes[k + 1 :] else "" for k, note in enumerate(notes)]
    return [
        Block(g.title, g.findings, tuple(_wrapped(g.label(f)) for f in g.findings), note)
        for g, note in zip(some, shown, strict=True)
    ]


def _wrapped(label: str) -> tuple[str, ...]:
    return tuple(textwrap.wrap(label, 56, max_lines=3, placeholder=" …")) or ("",)


def _width(text: str) -> float:
    """About how wide a label is: capitals and wide letters need more."""
    return sum(8.3 if c.isupper() or c in "mw%" or ord(c) > 0x2E80 else 6.3 for c in text)


def _block(figure: Figure, block: Block, top: float, left: float) -> None:
    height = 72 * figure.get_figheight()
    if block.title:
        figure.text(0, 1 - (top + 15) / height, block.title, color=svg.INK, fontsize=13.5, fontweight="bold")
        top += HEAD
    body, inset = sum(block.lanes), left + 6
    frame = (inset / WIDTH, 1 - (top + body) / height, 1 - (inset + 6) / WIDTH, body / height)
    axes = _axis(figure.add_axes(frame), block.findings, body)
    at = 0.0
    for finding, label, lane in zip(block.findings, block.labels, block.lanes, strict=True):
        y = at + lane - LANE / 2
        for k, line in enumerate(label):
            down = y + 4.5 if left else at + LINE * k + 13
            figure.text(0, 1 - (top + down) / height, line, color=svg.INK, fontsize=12.5)
        _claim(axes, finding, y)
        at += lane
    axes.set_xlabel(block.note, fontsize=11.5)


def _axis(axes: Axes, findings: Sequence[Finding], height: float) -> Axes:
    found = [x for f in findings for x in points(f)]
    low, high = min(found), max(found)
    room = 0.04 * (high - low) or max(0.05 * abs(high), 0.01)
    bare(axes, height)
    axes.set_xlim(low - room, high + room)
    axes.locator_params(axis="x", nbins=5, integer=all(f.kind == "count" for f in findings))
    axes.tick_params(labelsize=11.5)
    return axes


def _claim(axes: Axes, finding: Finding, y: float) -> None:
    agreed = band(finding)
    if agreed is not None:
        low, line, high = agreed
        end = axes.get_xlim()[1] if high is None else high
        axes.fill([low, end, end, low], [y - HALF, y - HALF, y + HALF, y + HALF], color=svg.GRID, linewidth=0, zorder=2)
        axes.plot([line, line], [y - HALF, y + HALF], color=svg.INK, linewidth=1.8, zorder=3, solid_capstyle="butt")
    if finding.value is None:
        _nothing(axes, finding.published or 0.0, y)
        return
    marker, colour, size = MARKERS[finding.verdict]
    if finding.low is not None and finding.high is not None:
        axes.plot([finding.low, finding.high], [y, y], color=colour, linewidth=2.2, zorder=4, solid_capstyle="butt")
    hollow = finding.verdict == "not resolvable"
    (dot,) = axes.plot([finding.value], [y], marker, color=svg.PAPER if hollow else colour, markersize=size, zorder=5)
    dot.set(markeredgecolor=colour if hollow else svg.PAPER, markeredgewidth=1.8 if hollow else 1.0)


def _nothing(axes: Axes, published: float, y: float) -> None:
    """Words in the place of a dot, on the side where there is room."""
    right = published < sum(axes.get_xlim()) / 2
    style = {"ha": "right" if right else "left", "va": "center", "fontsize": 11, "color": svg.MUTED}
    place = {"xycoords": ("axes fraction", "data"), "zorder": 5}
    axes.annotate("none of ours", (0.99 if right else 0.01, y), **place, **style)  # type: ignore[arg-type]
