from __future__ import annotations

from xml.etree import ElementTree as ET

from markupsafe import Markup

from jali.report import standalone
from jali.report.curves import Stroke

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = Markup('<svg viewBox="0 0 300 200" class="figure"><title>t</title><g/></svg>')


def test_file_brings_its_colours_sheet_caption_and_legend() -> None:
    legend = [("<b>", Stroke(1, "filled", 2.0)), ("second", Stroke(2, "dashed", 2.0)), ("l" * 99, UNKNOWN)]
    root = ET.fromstring(standalone.file(DRAWN, "a & b", legend))
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    assert "sans-serif" in style
    sheet = root.find(f"{SVG}rect")
    assert sheet is not None
    box = [float(v) for v in root.get("viewBox", "").split()]
    assert [float(sheet.get(k, "")) for k in ("x", "y", "width", "height")] == box
    assert box[0] < 0 > box[1]
    texts = [e.text or "" for e in root.iter(f"{SVG}text")]
    assert texts[:3] == ["a & b", "<b>", "second"]
    assert len(texts[3]) < 40
    lines = list(root.iter(f"{SVG}line"))
    assert [line.get("y1") for line in lines][:2] == [lines[0].get("y1")] * 2
    assert lines[2].get("y1") != lines[0].get("y1")


UNKNOWN = Stroke(3, "dotted", 1.0)
