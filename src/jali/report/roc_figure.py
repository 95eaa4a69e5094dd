"""The drawing of ROC curves as SVG: small evidence is attacked in less time than a plotting library takes to load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from markupsafe import Markup

MUTED, GRID, VEIL = "var(--muted)", "var(--grid)", "var(--veil)"
FONT = 12.5
LEFT, RIGHT, BELOW, ABOVE = 66.0, 13.2, 0.14, 0.02  # margins: pixels on the sides, shares of the height
TOP = 1.08  # where the vertical axis ends
STEPS = (*(m * 10.0**e for e in range(-6, 0) for m in (1, 2, 5)), 1.0)
WIDTHS = {" ": 0.32, ".": 0.32, "%": 0.95}  # of characters, in units of the font's size; digits have 0.64
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """One curve: its points, the band around it (lower and upper ends), colour, width and dashes in widths.

    says: its values in words, which a browser shows while the mouse is over it.
    """

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: int
    width: float
    dashes: tuple[float, ...]
    says: str = ""


@dataclass(frozen=True)
class Axes:
    """Both axes logarithmic, from `start` to 1, in a figure of so many pixels."""

    start: float
    width: float
    height: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the plot."""
        return LEFT, self.height * ABOVE, self.width - RIGHT, self.height * (1 - BELOW)

    def across(self, x: float) -> float:
        """The pixel of a false-positive rate."""
        left, _, right, _ = self.box
        return left + (right - left) * (1 - math.log10(x) / math.log10(self.start))

    def down(self, y: float) -> float:
        """The pixel of a true-positive rate."""
        _, top, _, bottom = self.box
        whole = math.log10(TOP) - math.log10(self.start)
        return bottom - (bottom - top) * (math.log10(y) - math.log10(self.start)) / whole

    def points(self, x: Sequence[float], y: Sequence[float]) -> Points:
        """Rates as pixels."""
        return [(self.across(a), self.down(b)) for a, b in zip(x, y, strict=True)]


def draw(name: str, title: str, axes: Axes, lines: Sequence[Line], floor: float, says: str = "") -> Markup:
    """The figure as one SVG element with a title; nothing below the floor can be resolved, and that part is veiled."""
    size = {"viewBox": f"0 0 {axes.width:g} {axes.height:g}", "role": "img", "aria-label": says or title}
    root = ET.Element("svg", size | {"class": "figure", "id": name})
    ET.SubElement(root, "title").text = title
    left, top, right, bottom = axes.box
    clip = ET.SubElement(ET.SubElement(root, "defs"), "clipPath", {"id": f"{name}-plot"})
    ET.SubElement(
        clip, "rect", {"x": f"{left:g}", "y": f"{top:g}", "width": _n(right - left), "height": _n(bottom - top)}
    )
    plot = ET.SubElement(root, "g", {"clip-path": f"url(#{name}-plot)"})
    if floor > axes.start:
        edge = axes.across(floor)
        _path(plot, [(left, bottom), (edge, bottom), (edge, top), (left, top)], f"fill: {VEIL}", closed=True)
    _grid(root, plot, axes)
    ends = [(left, axes.down(axes.start)), (right, axes.down(1.0))]
    _path(plot, ends, f"fill: none; stroke-dasharray: 3,3; stroke: {MUTED}")
    if floor > axes.start:
        place = f"translate({_n(axes.across(floor * 0.93) - 3)} {_n(axes.down(0.9))}) rotate(-90)"
        bare = ET.SubElement(root, "g", {"id": f"{name}-bare"})
        ET.SubElement(bare, "text", {"style": _font("end"), "transform": place}).text = "below resolution"
    for line in lines:
        band = [*axes.points(line.x, line.high), *reversed(axes.points(line.x, line.low))]
        _path(plot, band, f"fill: var(--series-{line.colour}); fill-opacity: 0.13", closed=True)
        dashes = ",".join(f"{line.width * part:g}" for part in line.dashes)
        dashed = f"stroke-dasharray: {dashes}; " if dashes else ""
        style = f"fill: none; {dashed}stroke: var(--series-{line.colour}); stroke-width: {line.width:g}"
        _path(plot, axes.points(line.x, line.y), style)
    for line in (one for one in lines if one.says):
        over = ET.SubElement(plot, "g", {"class": "over"})
        ET.SubElement(over, "title").text = line.says
        _path(over, axes.points(line.x, line.y), f"fill: none; stroke: {MUTED}; stroke-opacity: 0; stroke-width: 12")
    return Markup(ET.tostring(root, encoding="unicode"))


def _grid(root: ET.Element, plot: ET.Element, axes: Axes) -> None:
    """Lines at some rates, with their names, and the names of the axes."""
    left, top, right, bottom = axes.box
    steps = STEPS if axes.start > 0.004 else STEPS[::3]
    ticks = [tick for tick in steps if tick >= axes.start * 0.99]
    style = f"fill: none; stroke: {GRID}; stroke-width: 0.8; stroke-linecap: square"
    for tick in ticks:
        at = axes.across(tick)
        if tick != 0.5:  # side by side, the names of 50 % and 100 % would touch
            _path(plot, [(at, bottom), (at, top)], style)
            _text(root, at, bottom + 15.5, _name(tick), "end" if tick == 1.0 else "middle")
    for tick in ticks:
        at = axes.down(tick)
        _path(plot, [(left, at), (right, at)], style)
        _text(root, left - 6, at + 4.75, _name(tick), "end")
    _text(root, (left + right) / 2, bottom + 32, "false-positive rate", "middle")
    widest = max((sum(WIDTHS.get(c, 0.64) for c in _name(tick)) for tick in ticks), default=0.0)
    place = f"translate({_n(left - 13 - FONT * widest)} {_n((top + bottom) / 2)}) rotate(-90)"
    ET.SubElement(root, "text", {"style": _font("middle"), "transform": place}).text = "true-positive rate"


def _name(tick: float) -> str:
    return f"{100 * tick:.8g} %"


def _text(parent: ET.Element, x: float, y: float, said: str, anchor: str) -> None:
    ET.SubElement(parent, "text", {"style": _font(anchor), "x": _n(x), "y": _n(y)}).text = said


def _font(anchor: str) -> str:
    return f"font-size: {FONT}px; text-anchor: {anchor}; fill: {MUTED}"


def _path(parent: ET.Element, points: Points, style: str, closed: bool = False) -> None:
    said = " ".join(f"{'L' if k else 'M'} {_n(x)} {_n(y)}" for k, (x, y) in enumerate(points))
    ET.SubElement(parent, "path", {"d": f"{said} z" if closed else said, "style": style})


def _n(pixels: float) -> str:
    """A place on the page, to a hundredth of a pixel."""
    return f"{pixels:.2f}".rstrip("0").rstrip(".")
