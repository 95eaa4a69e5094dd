from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from jali.report import curves, figures, svg
from jali.results import Row
from tests.report import sample


def drawn() -> list[str]:
    results = sample.full()
    bands = [("a", results.find(kind="contrast", metric="auc", explainer="linear_recourse"))]
    groups = [r for r in results.rows if r.group]
    return [
        str(figures.differences("d", bands, "auc")),
        str(curves.roc("r", results.curves[:5], 1e-4)),
        str(figures.exposure("g", groups, None)),
    ]


def test_figures_are_the_same_each_time_and_carry_no_metadata() -> None:
    assert drawn() == drawn()
    for figure in drawn():
        assert not re.search(r"metadata|matplotlib\.org|<style|Creator|font-family", figure)


def test_figures_have_a_title_and_take_their_colours_from_the_page() -> None:
    for figure in drawn():
        root = ET.fromstring(figure)
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith(root.findtext("title", "?"))
        colours = set(re.findall(r"#[0-9a-f]{6}", figure))
        assert colours == set()
        assert "var(--series-1)" in figure


def test_ids_are_unique_over_figures_and_references_resolve() -> None:
    page = "".join(drawn())
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(ids)


def test_names_appear_as_text_and_not_as_formulas() -> None:
    name = "<b>$x_1$</b> #010201 日本"
    row = Row(kind="contrast", metric="auc", value=0.1, low=0.0, high=0.2, against="score")
    root = ET.fromstring(str(figures.differences("d", [(name, [row])], "auc")))
    assert name in [e.text for e in root.iter("text")]


def test_rows_without_interval_or_value_still_draw() -> None:
    bare = Row(kind="contrast", metric="auc", value=0.1, against="score")
    gone = Row(kind="contrast", metric="auc", value=None, against="score", reason="few")
    assert "not resolvable: few" in figures.differences("d", [("x", [bare, gone])], "auc")


def test_labels_have_a_strip_above_the_lines_of_the_plot() -> None:
    row = Row(kind="contrast", metric="auc", value=0.0, low=-0.1, high=0.1, against="score")
    drawn = str(figures.differences("d", [("a", [row]), ("b", [row])], "auc"))
    zero = drawn.index("stroke: var(--ink)")
    strips = [m.start() for m in re.finditer(r"fill: var\(--paper\)", drawn) if m.start() > zero]
    assert len(strips) >= 2
    assert strips[0] < drawn.index(">a</text>")


def test_drawing_leaves_the_settings_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with svg.canvas(100):
        pass
    assert dict(mpl.rcParams) == before
