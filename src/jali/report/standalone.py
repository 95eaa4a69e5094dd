"""A figure as a file of its own: its colours, a background, a caption and a legend come with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from markupsafe import Markup

from jali.report import words
from jali.report.curves import Stroke
from jali.report.slim import slim
from jali.report.templates import environment

SPACE = "http://www.w3.org/2000/svg"
EDGE, LEAD, GAP, WIDE, BOLD = 16.0, 21.0, 8.0, 7.3, 8.8
DASHES = {"solid": "none", "filled": "none", "dashed": "9 4", "dotted": "2.5 3"}
SHEET = """.figure{font-family:system-ui,sans-serif}
.figure text{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.figure .bare text{stroke:none}
.sheet{fill:var(--paper)}
.caption,.key{fill:var(--ink);font-size:12.5px}
.caption{font-weight:600;font-size:14px}
"""


def file(drawn: Markup, caption: str, legend: Sequence[tuple[str, Stroke]] = ()) -> str:
    """The figure on an opaque sheet that follows the reader's light or dark setting, so that it is legible anywhere."""
    # Names enter as text of this tree, which escapes them; no text is ever pasted into markup.
    root = ET.fromstring(str(drawn))
    width, height = (float(v) for v in root.get("viewBox", "0 0 0 0").split()[2:])
    rows = _rows(legend, width)
    above = EDGE + LEAD * (len(rows) + 1) + GAP
    place = [-EDGE, -above, width + 2 * EDGE, height + above + EDGE]
    sheet = dict(zip(("x", "y", "width", "height"), (f"{v:g}" for v in place), strict=True))
    head = ET.Element("g", {"transform": f"translate(0 {-above + EDGE + 12:g})"})
    head.append(_text(words.shorten(caption, int(width / BOLD)), 0, 0, "caption"))
    head.extend(key for k, row in enumerate(rows, 1) for key in _keys(row, LEAD * k))
    style = ET.Element("style")
    for k, element in enumerate([style, ET.Element("rect", {"class": "sheet", "rx": "6"} | sheet), head], 1):
        root.insert(k, element)
    root.attrib |= {"xmlns": SPACE, "viewBox": " ".join(sheet.values())}
    root.attrib |= {"width": sheet["width"], "height": sheet["height"]}
    root.attrib.pop("aria-label", None)  # the title names it; the page around it says what it shows
    _still(root)
    rules = slim(root)
    style.text = _coloured(rules + SHEET, ET.tostring(root, encoding="unicode"))
    return ET.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


def _still(root: ET.Element) -> None:
    """Leave out what only shows on a page when a mouse is over it; a picture in a document has no such thing."""
    for parent in list(root.iter()):
        gone = [e for e in parent if e.get("class") == "over" or (e.tag == "title" and parent is not root)]
        for element in gone:
            parent.remove(element)


def _coloured(rules: str, drawn: str) -> str:
    """The rules of a drawing after the colours that they or the drawing name, for light and for dark."""
    css = environment().get_template("drawing.css.j2").render()
    light, dark = (dict(re.findall(r"--([\w-]+): ([^;]+);", part)) for part in css.split("@media", 1))
    named = sorted(set(re.findall(r"var\(--([\w-]+)\)", rules + drawn)))
    own, other = (";".join(f"--{k}:{v[k]}" for k in named) for v in (light, dark))
    scheme = f":root{{{own};color-scheme:light dark}}\n@media (prefers-color-scheme: dark){{:root{{{other}}}}}\n"
    return scheme + rules


def _rows(legend: Sequence[tuple[str, Stroke]], width: float) -> list[list[tuple[str, Stroke, float]]]:
    """Keys from left to right, and below where a row is full; each with its place."""
    rows: list[list[tuple[str, Stroke, float]]] = []
    at = width
    for label, stroke in legend:
        shown = words.shorten(label, int(width / WIDE) - 8)
        need = 34 + WIDE * len(shown)
        if at + need > width:
            rows.append([])
            at = 0.0
        rows[-1].append((shown, stroke, at))
        at += need + 14
    return rows


def _keys(row: Sequence[tuple[str, Stroke, float]], y: float) -> list[ET.Element]:
    found = []
    for label, stroke, x in row:
        line = {"x1": f"{x:g}", "x2": f"{x + 26:g}", "y1": f"{y - 4:g}", "y2": f"{y - 4:g}"}
        paint = f"stroke: var(--series-{stroke.colour}); stroke-width: {stroke.width:g}"
        paint += f"; stroke-dasharray: {DASHES[stroke.dash]}"
        found += [ET.Element("line", line | {"style": paint}), _text(label, x + 34, y, "key")]
        if stroke.dash == "filled":
            area = {"x": f"{x:g}", "y": f"{y - 4:g}", "width": "26", "height": "7", "fill-opacity": "0.22"}
            found.append(ET.Element("rect", area | {"style": f"fill: var(--series-{stroke.colour})"}))
    return found


def _text(text: str, x: float, y: float, kind: str) -> ET.Element:
    element = ET.Element("text", {"x": f"{x:g}", "y": f"{y:g}", "class": kind})
    element.text = text
    return element
