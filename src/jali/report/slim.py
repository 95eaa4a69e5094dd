"""A drawing in fewer bytes that looks the same: short numbers, styles said once, nothing that is not seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
STILL = re.compile(r"rotate\(-?0 [^)]*\)")  # a rotation by nothing
PLACED = ("x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform", "d")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def slim(root: ET.Element) -> str:
    """Shorten a drawing in place; return the rules of the classes that now stand for its styles."""
    for element in root.iter():
        _shorten(element)
    _unclip(root)
    for path in root.iter("path"):
        path.set("d", _path(path.get("d", "")))
    _rename(root)
    _prune(root)
    _join(root)
    return _classes(root)


def _shorten(element: ET.Element) -> None:
    """A tenth of a pixel is enough, a hundredth for marks, which are small and curved."""
    if transform := element.attrib.pop("transform", ""):
        kept = STILL.sub("", transform).strip()
        element.attrib |= {"transform": kept} if kept else {}
    marks = "C" in element.get("d", "")
    for key in PLACED:
        if key in element.attrib:
            element.set(key, NUMBER.sub(lambda m: _short(float(m[0]), 2 if marks else 1), element.attrib[key]))
        if key in ("x", "y") and element.get(key) == "0":  # the default
            del element.attrib[key]


def _short(number: float, digits: int) -> str:
    """A number without zeros that say nothing.

    >>> _short(-0.04, 1), _short(0.55, 2), _short(12.0, 1)
    ('0', '.55', '12')
    """
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text) if text not in ("-0", "") else "0"


def _path(d: str) -> str:
    """A path without needless spaces and letters; each point of a line is given by its step from the one before.

    >>> _path("M 1 2 L 3 4 L 3 4 L -5 6 z"), _path("M 1 2 L 1 .5 L 3 .5")
    ('M1 2l2 2-8 2z', 'M1 2v-1.5h2')
    """
    if "C" in d:
        return re.sub(r" ?([A-Za-z]) ?", r"\1", d).replace(" -", "-")
    out, at = "", (0.0, 0.0)
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", d):
        x, y = (float(v) for v in numbers.split()) if letter != "z" else at
        if letter != "L":
            out += "z" if letter == "z" else f"M{_short(x, 1)} {_short(y, 1)}"
        elif (x, y) != at:
            out += _step(out, x - at[0], y - at[1])
        at = (x, y)
    return out.replace(" -", "-")


def _step(before: str, right: float, down: float) -> str:
    if not round(right, 1) or not round(down, 1):
        return f"h{_short(right, 1)}" if round(right, 1) else f"v{_short(down, 1)}"
    going = re.search(r"l[^a-zA-Z]*$", before) is not None  # after a step of both kinds the letter is understood
    return f"{' ' if going else 'l'}{_short(right, 1)} {_short(down, 1)}"


def _unclip(root: ET.Element) -> None:
    """Drop the frame of what does not reach beyond it."""
    frames = {f"url(#{e.get('id')})": _box(e[0]) for e in root.iter("clipPath")}
    for element in root.iter():
        frame = frames.get(element.get("clip-path", ""))
        if frame is not None and all(_inside(x, y, frame) for x, y in _points(element)):
            del element.attrib["clip-path"]


def _box(frame: ET.Element) -> tuple[float, float, float, float]:
    left, top, width, height = (float(frame.get(k, "0")) for k in ("x", "y", "width", "height"))
    return left, top, left + width, top + height


def _inside(x: float, y: float, box: tuple[float, float, float, float], slack: float = 0.11) -> bool:
    return box[0] - slack <= x <= box[2] + slack and box[1] - slack <= y <= box[3] + slack


def _points(element: ET.Element) -> list[tuple[float, float]]:
    """Where a path of straight lines leads, or where the marks of a group stand."""
    marks = [e for e in element if e.tag == "use"]
    if marks:
        return [(float(e.get("x", "0")), float(e.get("y", "0"))) for e in marks]
    numbers = [float(v) for v in NUMBER.findall(element.get("d", ""))]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _rename(root: ET.Element) -> None:
    """Keep the ids that something refers to, under short names."""
    text = ET.tostring(root, encoding="unicode")
    used = dict.fromkeys(re.findall(r'(?:href="|url\()#([^")]+)', text))
    short = {name: _label(k) for k, name in enumerate(used)}
    for element in root.iter():
        name = element.attrib.pop("id", "")
        if name in short:
            element.set("id", short[name])
        elif name.endswith("-bare"):
            element.set("class", "bare")
        for key in ("href", "clip-path"):
            if key in element.attrib:
                element.set(key, re.sub(r"#([^)]+)", lambda m: f"#{short[m[1]]}", element.attrib[key]))


def _label(k: int) -> str:
    """Names in the order a, b, …, z, ba, bb, ….

    >>> _label(0), _label(25), _label(26)
    ('a', 'z', 'ba')
    """
    return (_label(k // 26) if k >= 26 else "") + LETTERS[k % 26]


def _prune(parent: ET.Element) -> None:
    """Leave out what draws nothing, and put what groups without attributes hold in their place."""
    kept: list[ET.Element] = []
    for child in parent:
        _prune(child)
        if _unseen(child):
            continue
        kept += list(child) if child.tag == "g" and not child.attrib else [child]
    parent[:] = kept


def _unseen(element: ET.Element) -> bool:
    if element.tag in ("g", "defs"):
        return not len(element)
    if element.tag == "clipPath":
        return "id" not in element.attrib
    style = element.get("style", "")
    bare = re.sub(r"\s", "", style).rstrip(";") == "fill:none"
    return element.tag == "path" and "id" not in element.attrib and (bare or not _drawn(element.get("d", "")))


def _drawn(d: str) -> bool:
    """Whether a path leads anywhere."""
    return re.search(r"[lhvC]", d) is not None


def _join(parent: ET.Element) -> None:
    """One path for what is drawn alike, in a row or with nothing but texts between; these lie beside the lines."""
    kept: list[ET.Element] = []
    for child in parent:
        _join(child)
        before = next((e for e in reversed(kept) if e.tag != "text"), None)
        if before is not None and _opaque(child) and _opaque(before) and _rest(child) == _rest(before):
            before.set("d", before.attrib["d"] + child.attrib["d"])
        else:
            kept.append(child)
    parent[:] = kept


def _opaque(element: ET.Element) -> bool:
    """Whether a path may be one with another: where it is drawn twice it looks as if drawn once."""
    return element.tag == "path" and "id" not in element.attrib and "opacity" not in element.get("style", "")


def _rest(element: ET.Element) -> dict[str, str]:
    return {k: v for k, v in element.items() if k != "d"}


def _classes(root: ET.Element) -> str:
    """Styles, and what they are clipped to, as classes; one that occurs once stays where it is."""
    styled = list(_styled(root))
    count = Counter(style for _, style in styled)
    names = {style: _label(k) for k, (style, n) in enumerate(count.most_common()) if n > 1}
    for element, style in styled:
        for key in ("style", "clip-path"):
            element.attrib.pop(key, None)
        if style in names:
            element.set("class", names[style])
        else:
            element.set("style", style)
    return "".join(f".{name}{{{style}}}\n" for style, name in names.items())


def _styled(root: ET.Element) -> Iterator[tuple[ET.Element, str]]:
    for element in root.iter():
        style = re.sub(r"\s*([:;,])\s*", r"\1", element.get("style", "").strip().rstrip(";"))
        style = re.sub(r"stroke-dash(array:none|offset:0)(;|$)|text-anchor:start(;|$)", "", style).rstrip(";")
        clip = element.get("clip-path", "")
        rule = ";".join(filter(None, [style, f"clip-path:{clip}" if clip else ""]))
        if rule and "class" not in element.attrib:
            yield element, rule
