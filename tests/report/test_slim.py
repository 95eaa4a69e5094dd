"""Drawings in fewer bytes: what is seen stays."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from jali.report.slim import slim

DRAWN = """<svg class="figure" id="f"><g id="f-1"><path d="M 0 9 L 9 9 L 9 0 z" style="fill: none"/></g><g id="f-2"/>
<g id="f-3"><path d="M 1.04 2 L 1.04 8.06" clip-path="url(#f-p)" style="fill: none; stroke: var(--grid)"/></g>
<text style="fill: red; text-anchor: start" x="1.0" y="2.26" transform="rotate(-0 1.0 2.26)">a</text>
<path d="M 5 2 L 5 8" clip-path="url(#f-p)" style="fill: none; stroke: var(--grid)"/>
<path d="M -5 2 L 5 8" clip-path="url(#f-p)" style="fill: none; stroke: var(--grid)"/>
<g id="f-bare"><text style="fill: red" transform="rotate(-90)">b</text></g>
<defs><path id="f-m" d="M 0 3.754 C 1 2 3 4 5 6 z"/></defs><g clip-path="url(#f-q)"><use href="#f-m" x="2" y="3"/></g>
<defs><clipPath id="f-p"><rect x="0" y="0" width="9" height="9"/></clipPath></defs>
<defs><clipPath id="f-q"><rect x="0" y="0" width="9" height="9"/></clipPath></defs></svg>"""


def slimmed() -> tuple[ET.Element, str]:
    root = ET.fromstring(DRAWN)
    return root, slim(root)


def test_lines_drawn_alike_are_one_path_and_nothing_unseen_is_left():
    root, _ = slimmed()
    assert [e.get("d") for e in root.findall("path")] == ["M1 2v6.1M5 2v6", "M-5 2l10 6"]


def test_only_what_reaches_beyond_its_frame_is_clipped():
    root, _ = slimmed()
    assert [e.get("style", "").endswith("clip-path:url(#a)") for e in root.findall("path")] == [False, True]
    frames = list(root.iter("clipPath"))
    assert [frame.get("id") for frame in frames] == ["a"]


def test_marks_keep_their_definition_and_two_decimals():
    root, _ = slimmed()
    (mark,) = root.iter("use")
    (shape,) = (e for e in root.iter("path") if e.get("id"))
    assert mark.get("href") == f"#{shape.get('id')}"
    assert shape.get("d") == "M0 3.75C1 2 3 4 5 6z"


def test_texts_keep_place_turn_and_style():
    root, rules = slimmed()
    first, second = root.iter("text")
    assert (first.text, first.get("x"), first.get("y"), first.get("transform")) == ("a", "1", "2.3", None)
    assert second.get("transform") == "rotate(-90)"
    assert rules == ".a{fill:red}\n"
    assert first.get("class") == second.get("class") == "a"
    assert [e.get("class") for e in root.iter("g")] == ["bare"]
