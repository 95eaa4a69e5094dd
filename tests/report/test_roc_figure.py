from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from jali.report.roc_figure import Axes, Line, draw


def test_rates_have_their_places_on_logarithmic_axes() -> None:
    axes = Axes(0.01, 440, 400)
    assert axes.box == pytest.approx((66, 8, 426.8, 344))
    assert [axes.across(x) for x in (0.01, 0.1, 1.0)] == pytest.approx([66, 246.4, 426.8])
    assert axes.down(0.01) == pytest.approx(344)
    assert axes.down(1.08) == pytest.approx(8)
    assert axes.down(0.1) == pytest.approx(344 - 336 * 1 / 2.0334237554869494)


def test_a_curve_has_a_band_a_line_and_a_veil_below_the_floor() -> None:
    line = Line((0.1, 1.0), (0.1, 1.0), (0.05, 1.0), (0.2, 1.0), 2, 2.0, (1, 1.3))
    root = ET.fromstring(str(draw("r", "a < b", Axes(0.01, 440, 400), [line], 0.1)))
    styles = {path.get("style", ""): path.get("d", "") for path in root.iter("path")}
    assert root.find("title").text == "a < b"  # type: ignore[union-attr]
    assert styles["fill: var(--veil)"] == "M 66 344 L 246.4 344 L 246.4 8 L 66 8 z"
    drawn = styles["fill: none; stroke-dasharray: 2,2.6; stroke: var(--series-2); stroke-width: 2"]
    assert drawn.startswith("M 246.4 178.76 L 426.8 ")
    assert styles["fill: var(--series-2); fill-opacity: 0.13"].endswith(" z")
    assert "below resolution" in [text.text for text in root.iter("text")]
