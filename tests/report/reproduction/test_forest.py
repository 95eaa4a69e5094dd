from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from jali.report.reproduction.compared import Section, sections
from jali.report.reproduction.forest import forest
from jali.results.reproduction import Finding
from tests.report import reproductions


def finding(**told: object) -> Finding:
    base: dict[str, object] = {"quantity": "AUC", "section": "s", "source": "t", "kind": "value", "verdict": "matches"}
    return Finding.model_validate(base | told)


def drawn(*findings: Finding) -> ET.Element:
    figure = forest("f", Section("Table 1", findings))
    assert figure is not None
    return ET.fromstring(str(figure))


def across(root: ET.Element, colour: str) -> list[tuple[float, float]]:
    """Left and right end of every line or area of a colour."""
    styled = [e for e in root.iter("path") if f"var(--{colour})" in (e.get("style") or "") and "clip-path" in e.attrib]
    found = [[float(x) for x in re.findall(r"[ML] (-?[\d.]+)", e.get("d", ""))] for e in styled]
    return [(min(xs), max(xs)) for xs in found if xs]


def test_interval_tolerance_and_published_number_stand_where_they_belong() -> None:
    root = drawn(finding(published=0.6, tolerance=0.05, value=0.62, low=0.6, high=0.64))
    (line,) = across(root, "ink")
    (ours,) = across(root, "series-1")
    (tolerance,) = [a for a in across(root, "grid") if a[1] - a[0] > 1]
    assert line[0] == line[1] == pytest.approx(sum(tolerance) / 2, abs=0.01)
    assert ours[0] == pytest.approx(line[0], abs=0.01)
    per_unit = (tolerance[1] - tolerance[0]) / 0.1
    assert ours[1] - ours[0] == pytest.approx(0.04 * per_unit, abs=0.01)


def test_an_order_is_open_to_the_right_and_sameness_is_not() -> None:
    ends = {}
    for kind in ("order", "same"):
        root = drawn(finding(kind=kind, tolerance=0.01, value=0.03, low=0.02, high=0.04))
        (area,) = [a for a in across(root, "grid") if a[1] - a[0] > 1]
        (line,) = across(root, "ink")
        ends[kind] = (area[0] - line[0], area[1] - line[0])
    assert ends["order"][0] == pytest.approx(0, abs=0.01)
    assert ends["order"][1] > 300
    assert -ends["same"][0] == pytest.approx(ends["same"][1], abs=0.01)


def test_verdicts_differ_in_shape_and_not_only_in_colour() -> None:
    shapes = set()
    for verdict in ("matches", "deviates", "not resolvable"):
        root = drawn(finding(published=0.5, value=0.5, verdict=verdict))
        marker = next(e for g in root.iter("defs") for e in g.iter("path") if e.get("style"))
        style = re.sub(r"var\(--series-\d\)", "colour", marker.get("style", ""))
        shapes.add((len(re.findall("[CL]", marker.get("d", ""))), style))
    assert len(shapes) == 3


def test_claims_without_any_number_leave_no_figure() -> None:
    assert forest("f", Section("Table 1", (finding(), finding(kind="order")))) is None
    texts = [e.text for e in drawn(finding(published=0.5)).iter("text")]
    assert "none of ours" in texts


def test_every_metric_has_an_axis_and_a_note_stands_once() -> None:
    first = sections(reproductions.full().findings)[0]
    texts = [e.text for e in drawn(*first.findings).iter("text")]
    assert [t for t in texts if t in reproductions.METRICS] == list(reproductions.METRICS)
    assert texts.count("CFD on scfe") == 3
    assert texts.count("line: published; grey: its tolerance") == 1


def test_names_appear_as_text() -> None:
    name = "<b>$x_1$</b> #010201"
    assert name in [e.text for e in drawn(finding(quantity=name, value=0.5)).iter("text")]
