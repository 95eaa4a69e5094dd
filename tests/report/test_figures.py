from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from jali.report import figures, svg
from jali.results import Curve, Row

from . import sample


def drawn() -> list[str]:
    results = sample.full()
    bands = [("a", results.find(kind="contrast", metric="auc", explainer="linear_recourse"))]
    groups = [r for r in results.rows if r.group]
    return [
        str(figures.differences("d", bands, "auc")),
        str(figures.roc("r", results.curves)),
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
        assert root.find("title").text == root.get("aria-label")  # type: ignore[union-attr]
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


def test_nothing_is_drawn_below_the_floor() -> None:
    fpr = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    curve = Curve(label="c", fpr=fpr, tpr=fpr, low=fpr, high=fpr, floor=5e-3)
    root = ET.fromstring(str(figures.roc("r", [curve])))
    line = next(e for e in root.iter("path") if "stroke: var(--series-1)" in (e.get("style") or ""))
    assert len(re.findall("[ML]", line.get("d", ""))) == 3


def test_extreme_inputs_still_draw() -> None:
    zero = Curve(label="z", fpr=[0.0, 1.0], tpr=[0.0, 1.0], low=[0.0, 1.0], high=[0.0, 1.0], floor=0.0)
    nowhere = zero.model_copy(update={"floor": 1.0})
    empty = Curve(label="e", fpr=[], tpr=[], low=[], high=[], floor=0.01)
    for curves in ([zero], [nowhere], [empty]):
        assert "<svg" in figures.roc("r", curves)
    bare = Row(kind="contrast", metric="auc", value=0.1, against="score")
    gone = Row(kind="contrast", metric="auc", value=None, against="score", reason="few")
    assert "not resolvable: few" in figures.differences("d", [("x", [bare, gone])], "auc")


def test_drawing_leaves_the_settings_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with svg.canvas(100):
        pass
    assert dict(mpl.rcParams) == before
