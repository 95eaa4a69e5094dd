from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from jali.report import curves
from jali.results import Curve
from tests.report import sample

FPR = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]


def flat(label: str, floor: float = 5e-3, explainer: str = "") -> Curve:
    return Curve(label=label, explainer=explainer, fpr=FPR, tpr=FPR, low=FPR, high=FPR, floor=floor)


def lines(figure: str) -> list[str]:
    """Styles of the drawn curves: strokes in a colour of the series."""
    styles = [e.get("style") or "" for e in ET.fromstring(figure).iter("path")]
    return [s for s in styles if "stroke: var(--series" in s and "fill: none" in s]


def test_each_explainer_has_one_figure_with_the_prediction_in_it() -> None:
    panels = curves.panels(sample.full().curves)
    assert [p.title for p in panels] == list(sample.EXPLAINERS[:2])
    for panel in panels:
        assert [c.label for c in panel.curves] == list(curves.STROKES)
        assert [c.explainer for c in panel.curves] == ["", "", *[panel.title] * 3]
        assert panel.title in str(panel.figure)


def test_a_channel_looks_the_same_in_every_figure() -> None:
    first, second = (sorted(lines(str(p.figure))) for p in curves.panels(sample.full().curves))
    assert first == second
    assert len(set(first)) == 5


def test_prediction_alone_is_one_figure() -> None:
    (panel,) = curves.panels(sample.prediction_only().curves)
    assert panel.title == ""
    assert [label for label, _ in curves.legend(panel.curves)] == ["score", "decision"]


def test_nothing_is_drawn_below_the_floor() -> None:
    root = ET.fromstring(str(curves.roc("r", [flat("score")], 1e-4)))
    line = next(e for e in root.iter("path") if "stroke: var(--series-1)" in (e.get("style") or ""))
    assert len(re.findall("[ML]", line.get("d", ""))) == 3


@pytest.mark.parametrize(("floor", "least"), [(0.001, "0.1 %"), (0.03, "2 %"), (0.07, "5 %")])
def test_axes_begin_near_the_floor(floor: float, least: str) -> None:
    (panel,) = curves.panels([flat("score", floor)])
    texts = [e.text or "" for e in ET.fromstring(str(panel.figure)).iter("text")]
    ticks = [t for t in texts if t.endswith(" %")]
    assert ticks[0] == least
    assert len(set(ticks)) >= 4


def test_floors_are_said_once_or_per_channel() -> None:
    same, apart = flat("score", 0.0073), flat("explanation", 0.12, "e")
    assert curves.panels([same])[0].floors == "Resolvable from 0.73 %."
    assert curves.panels([same, apart])[0].floors == "Resolvable: score from 0.73 %; explanation from 12 %."


def test_extreme_inputs_still_draw() -> None:
    zero = Curve(label="z", fpr=[0.0, 1.0], tpr=[0.0, 1.0], low=[0.0, 1.0], high=[0.0, 1.0], floor=0.0)
    nowhere = zero.model_copy(update={"floor": 1.0})
    empty = Curve(label="e", fpr=[], tpr=[], low=[], high=[], floor=0.01)
    for some in ([zero], [nowhere], [empty]):
        assert "<svg" in curves.panels(some)[0].figure


def test_an_explainer_with_a_baseline_of_its_own_people_is_drawn_beside_that() -> None:
    everybody, own = flat("score"), flat("score", 0.07, "e")
    beside = [everybody, own, flat("score + explanation", 0.07, "e"), flat("score + explanation", explainer="f")]
    first, second = curves.panels(beside)
    assert [(c.label, c.explainer) for c in first.curves] == [("score", "e"), ("score + explanation", "e")]
    assert [(c.label, c.explainer) for c in second.curves] == [("score", ""), ("score + explanation", "f")]
