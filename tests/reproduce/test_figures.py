"""Figures of measures: sorted curves of every record, and bars."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from jali.audit.quality import Measured, Quality
from jali.core.values import Column, Dataset, Schema
from jali.games.outsiders import Outsiders
from jali.reproduce.figures import drawings
from jali.reproduce.numbers import Ran
from jali.reproduce.schema import Paper
from jali.results import Row
from jali.results.reproduction import Study

SETUP = {"data": "lending", "model": "logistic", "game": "outsiders", "methods": ["CF"]}


def paper(**more):
    return Paper(title="t", citation="c", methods={"CF": {"explain": "nice"}}, studies={"a": SETUP}, **more)


def sorted_figure(**fields):
    return {"figure": "Figure 4", "kind": "sorted", "methods": ["CF"], "panels": {"a": "Adult"}, **fields}


@pytest.fixture
def ran():
    n = 20
    data = Dataset(np.zeros((n, 1)), np.zeros(n, dtype=int), Schema((Column("x"),)))
    game = Outsiders(targets=2, share=0.5).draw(data, np.random.default_rng(0))
    cells = int(game.scored.sum())
    value = np.random.default_rng(1).permutation(cells).astype(np.float32)
    defined = np.ones((1, cells), dtype=bool)
    defined[0, value >= 10] = False  # ten records are measured, with the values 0 to 9
    quality = Quality((Measured("ncp", "nice()"),), value[None], defined)
    found, setup = SimpleNamespace(quality=quality), SimpleNamespace(game=game)
    return {"a": Ran(Study(name="a", parts={}), found=found, setup=setup)}


def test_every_record_that_was_measured_is_in_the_curve_largest_first(ran, monkeypatch):
    monkeypatch.setattr("jali.reproduce.figures.explainer_of", lambda _: "nice()")
    (drawn,) = drawings(paper(figures=[sorted_figure(metric="ncp")]), ran)
    (line,) = drawn.series
    assert (drawn.kind, drawn.axes[1], line.label) == ("sorted", "NCP", "CF")
    assert (line.y[0], line.y[-1]) == (9.0, 0.0)
    assert line.y == sorted(line.y, reverse=True)
    assert set(line.y) == set(range(10))
    assert line.y[line.x.index(0.5)] == 4.0  # half of ten records, 0 to 4, have no more than this


def test_a_sorted_curve_is_of_a_metric():
    for wrong in (sorted_figure(), sorted_figure(kind="roc", metric="ncp")):
        with pytest.raises(ValidationError, match="need a metric"):
            paper(figures=[wrong])


def test_bars_leave_out_settings_without_a_number():
    rows = [
        Row(kind="measure", metric="ncp", group=group, value=value, low=value - 0.1, high=value + 0.2, units=4)
        for group, value in (("few", 0.5), ("many", 0.3))
    ]
    made = Ran(Study(name="a", parts={}, measures=rows))
    lines = {
        "minority": {"here": "a / model @ few", "there": "a / model @ nobody"},
        "majority": {"here": "a / model @ many"},
    }
    (drawn,) = drawings(paper(bars=[{"figure": "Figure 7", "metric": "ncp", "lines": lines}]), {"a": made})
    few, many = drawn.series
    assert (few.label, few.y, few.notes, many.y) == ("minority", [0.5], ["here"], [0.3])
    assert few.spread[0] == pytest.approx((0.0, 0.0, 0.1, 0.2))
