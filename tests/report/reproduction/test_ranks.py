"""The critical-difference diagram."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np

from jali.report.reproduction.ranks import critical_difference
from jali.stats.ranks import Ranking, ranking

NAMES = ("MIA", "MIA on TREPAN", "<b>$x_1$</b> ALOA", "LABELONLY")


def found() -> Ranking:
    return ranking(NAMES, np.random.default_rng(0).normal(size=(20, 4)) + 0.5 * np.arange(4))


def drawn(ranks: Ranking, name: str = "cd") -> str:
    return str(critical_difference(name, ranks, best="1 exposes most"))


def test_it_is_the_same_each_time_and_takes_its_colours_from_the_page() -> None:
    figure = drawn(found())
    assert figure == drawn(found())
    assert not re.search(r"metadata|<style|font-family|#[0-9a-f]{6}", figure)
    assert "var(--series-2)" in figure


def test_names_and_ranks_are_text_from_best_to_worst() -> None:
    ranks = found()
    root = ET.fromstring(drawn(ranks))
    texts = [e.text for e in root.iter("text")]
    order = np.argsort(ranks.rank)
    shown = [f"{NAMES[j]}: {ranks.rank[j]:.2f}" for j in order]
    assert [t for t in texts if t in shown] == shown
    assert f"critical distance {ranks.distance:.2f}" in texts
    assert "average rank over 20 settings, 1 exposes most" in texts
    assert root.find("title").text == root.get("aria-label")  # type: ignore[union-attr]
    assert f"p = {ranks.p:.2g}" in str(root.get("aria-label"))


def test_there_is_one_bar_per_set_that_is_alike() -> None:
    apart = Ranking(("a", "b"), np.array([1.0, 2.0]), 0.5, 9.0, 0.001, 30)
    pairs = Ranking(("a", "b", "c"), np.array([1.0, 1.5, 2.9]), 1.45, 3.0, 0.2, 30)
    bars = [len(re.findall(r"stroke-linecap: round", drawn(r))) for r in (apart, pairs)]
    assert bars == [0, 2]


def test_a_critical_distance_longer_than_the_axis_fits() -> None:
    wide = Ranking(("a", "b"), np.array([1.4, 1.6]), 3.0, 0.1, 0.8, 2)
    assert "critical distance 3.00" in drawn(wide)
