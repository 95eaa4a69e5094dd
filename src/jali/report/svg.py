"""A matplotlib figure as inline SVG whose colours follow the page: drawn in sentinels, written as CSS properties."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, GRID, VEIL, PAPER = "#010201", "#010202", "#010203", "#010204", "#010205"
SERIES = ("#010211", "#010212", "#010213", "#010214", "#010215")
PROPERTIES = {INK: "ink", MUTED: "muted", GRID: "grid", VEIL: "veil", PAPER: "paper"} | {
    colour: f"series-{k}" for k, colour in enumerate(SERIES, 1)
}
WIDTH = 440
WINDOWS = ("backend", "backend_fallback", "interactive", "toolbar", "timezone", "webagg.port", "webagg.address")
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "jali",
    "text.parse_math": False,
    "text.usetex": False,
    "text.color": INK,
    "font.family": ["DejaVu Sans"],
    "font.size": 12.5,
    "axes.labelsize": 12.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "axes.unicode_minus": True,
    "path.simplify": True,
}


@contextmanager
def canvas(height: float, width: float = WIDTH) -> Iterator[Figure]:
    """A figure in the report's settings; one unit is one pixel.

    Settings that somebody made for matplotlib change no report: what is not set here is as matplotlib has it.
    """
    with _elsewhere():
        import matplotlib as mpl
        from matplotlib.figure import Figure

    with mpl.rc_context(_defaults() | SETTINGS):
        yield Figure(figsize=(width / 72, height / 72), dpi=72)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Load matplotlib while another folder is the working folder, in which it would read a file `matplotlibrc`."""
    if "matplotlib" in sys.modules:
        yield
        return
    try:
        before = os.getcwd()
    except FileNotFoundError:  # the folder was removed: there is nothing in it
        yield
        return
    os.chdir(Path(__file__).parent)
    try:
        yield
    finally:
        os.chdir(before)


@cache
def _defaults() -> dict[Any, Any]:
    """The settings that matplotlib comes with, without those of its windows."""
    import matplotlib as mpl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are deprecated
        return {key: mpl.rcParamsDefault[key] for key in mpl.rcParamsDefault if key not in WINDOWS}


def inline(
    figure: Figure, name: str, title: str, says: str = "", values: Mapping[str, str] = MappingProxyType({})
) -> Markup:
    """The figure as one SVG element with a title, unique ids and no trace of date or program.

    says: what it shows, in words, for those who do not see it. values: what a browser shows over a mark, by its gid.
    """
    # Names reach the page through this tree, which escapes them; no text is ever pasted into markup.
    root = ET.fromstring(_drawn(figure))
    for element in list(root.iter()):
        _localise(element, name)
    _drop(root, "metadata", "style")
    size = root.get("viewBox", "")
    root.attrib = {"viewBox": size, "role": "img", "aria-label": says or title, "class": "figure", "id": name}
    for element in list(root.iter()):
        gid = element.get("id", "").removeprefix(f"{name}-")
        if gid in values:
            _entitle(element, values[gid])
    _entitle(root, title)
    return Markup(ET.tostring(root, encoding="unicode"))


def _entitle(element: ET.Element, title: str) -> None:
    """Give an element a title, which must be its first child."""
    label = ET.Element("title")
    label.text = title
    element.insert(0, label)


def _drawn(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    empty = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with warnings.catch_warnings():
        # A script the bundled font lacks is drawn by the browser, which has it.
        warnings.filterwarnings("ignore", message=r".*[Gg]lyph.*")
        figure.savefig(buffer, format="svg", metadata=empty, transparent=True)
    return buffer.getvalue()


def _localise(element: ET.Element, name: str) -> None:
    """Drop namespaces, make ids unique on the page, put CSS properties in the place of sentinels."""
    element.tag = element.tag.rpartition("}")[2]
    element.attrib = {k.rpartition("}")[2]: _attribute(k.rpartition("}")[2], v, name) for k, v in element.items()}
    if not (element.text or "").strip():
        element.text = None
    if not (element.tail or "").strip():
        element.tail = None


def _attribute(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-", 1)
    if key == "clip-path":
        return value.replace("(#", f"(#{name}-", 1)
    if key == "d":
        return " ".join(value.split())
    value = re.sub(r"font-family: [^;]*;? ?", "", value)
    return re.sub(r"#0102\d\d", lambda m: f"var(--{PROPERTIES[m[0]]})", value)


def _drop(root: ET.Element, *tags: str) -> None:
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in tags or (c.tag == "defs" and all(g.tag in tags for g in c))]:
            parent.remove(child)
