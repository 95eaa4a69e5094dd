from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from jali.report import curves
from jali.report.reproduction.panels import plates
from jali.results.reproduction import Drawing, Ranked, Series
from tests.report import reproductions


def texts(figure: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(figure).iter("text")]


def test_figures_hold_their_panels_in_order() -> None:
    found = plates(reproductions.full().drawings)
    assert [(p.title, len(p.panels)) for p in found] == [("Figure 1", 3), ("Figure 2", 3), ("Figure 6", 2)]
    assert [len(p.reading) for p in found] == [1, 1, 1]
    assert plates([]) == []


def test_drawings_without_a_line_are_left_out() -> None:
    assert [p.title for p in plates(reproductions.hollow().drawings)] == ["Figure 2", "Figure 3", "Figure 4"]


def test_attacks_share_a_colour_with_their_likelihood_ratio_test_and_differ_in_dash() -> None:
    found = curves.strokes(["CFD, closed form", "CFD-LRT, closed form", "Loss", "Loss-LRT"])
    assert [(s.colour, s.dash) for s in found.values()] == [(1, "solid"), (1, "dashed"), (2, "solid"), (2, "dashed")]
    assert len({(s.dash, s.width) for s in found.values()}) == 4
    alike = curves.strokes(["CFD on scfe", "CFD on cchvae", "CFD on scfe"])
    assert [s.colour for s in alike.values()] == [1, 2]
    many = curves.strokes([f"a{k}" for k in range(12)])
    assert len({(s.colour, s.dash) for s in many.values()}) == 12
    assert curves.strokes([]) == {}


def test_trade_off_curves_of_a_figure_share_their_axes_and_legend() -> None:
    plate = plates(reproductions.full().drawings)[0]
    ticks = [[t for t in texts(str(p.drawn)) if t.endswith(" %")] for p in plate.panels]
    assert ticks[0] == ticks[1] == ticks[2]
    assert [label for label, _ in plate.legend] == list(reproductions.CFD)
    assert all(p.fine == "Resolvable from 0.31 %." for p in plate.panels)


def test_densities_have_one_step_per_bin_and_lose_what_labels_have_in_common() -> None:
    edges, density = [0.0, 1.0, 2.0, 3.0], [0.2, 0.5, 0.3]
    series = [Series(label=f"CFD: {side}", x=edges, y=density) for side in ("members", "others")]
    (plate,) = plates([Drawing(figure="f", title="t", kind="distances", series=series)])
    (panel,) = plate.panels
    assert [(label, s.dash) for label, s in panel.legend] == [("members", "filled"), ("others", "solid")]
    assert "log distance, CFD" in texts(str(panel.drawn))
    steps = [e for e in ET.fromstring(str(panel.drawn)).iter("path") if "series-2" in (e.get("style") or "")]
    levels = {y for e in steps for y in re.findall(r"[ML] \S+ (\S+)", e.get("d", ""))}
    assert len(levels) == len({0.0, *density})


def test_accuracies_of_a_figure_share_their_axis() -> None:
    plate = plates(reproductions.full().drawings)[2]
    first, second = ([t for t in texts(str(p.drawn)) if t.startswith("0.5")] for p in plate.panels)
    assert first == second


def test_ranks_are_a_critical_difference_diagram_with_its_test() -> None:
    told = Ranked(names=("MIA", "LO"), rank=(1.2, 1.8), distance=0.9, statistic=4.0, p=0.046, settings=9)
    (plate,) = plates([Drawing(figure="Figure 2", title="Ranks by AUC", kind="ranks", ranked=told)])
    (panel,) = plate.panels
    assert {"MIA: 1.20", "LO: 1.80"} <= set(texts(panel.drawn))
    assert panel.fine == "Friedman test over 9 settings: p = 0.046."


def test_sorted_curves_fall_and_bars_have_their_settings() -> None:
    line = Series(label="CF-K", x=[0.0, 0.5, 1.0], y=[0.4, 0.2, 0.0])
    bar = Series(
        label="minority", x=[0.0, 1.0], y=[0.5, 0.3], spread=[(0.0, 0.0, 0.1, 0.1)] * 2, notes=["Adult", "CMC"]
    )
    drawings = [
        Drawing(figure="Figure 4", title="Adult", kind="sorted", series=[line], axes=("share", "NCP")),
        Drawing(
            figure="Figure 7", title="NCP", kind="bars", series=[bar, bar.model_copy(update={"label": "majority"})]
        ),
    ]
    curve, bars = plates(drawings)
    assert "Sorted curves" in curve.reading[0]
    assert {"share", "NCP"} <= set(texts(str(curve.panels[0].drawn)))
    assert [t for t in texts(str(bars.panels[0].drawn)) if t in ("Adult", "CMC")] == ["Adult", "CMC"]
    assert [label for label, _ in bars.legend] == ["minority", "majority"]
