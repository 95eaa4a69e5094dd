"""Figures are drawn once for the same numbers; what somebody else put in their place is not shown."""

from __future__ import annotations

import numpy as np
import pytest
from markupsafe import Markup

from jali.report.remembered import SVG, remembered, remembering
from jali.store import Store


@pytest.fixture
def drawn():
    """A function that draws, and a list of what it drew."""
    calls = []

    @remembered
    def draw(name: str, size: int = 1) -> Markup:
        calls.append((name, size))
        return Markup(f'<svg id="{name}"><path d="M 0 {size}" /></svg>')

    return draw, calls


def test_the_same_figure_is_drawn_once(drawn, tmp_path):
    draw, calls = drawn
    with remembering(Store(tmp_path)):
        first = [draw("a"), draw("a"), draw("a", size=2), draw("b")]
    with remembering(Store(tmp_path)):
        assert draw("a") == first[0] == first[1]
    assert isinstance(first[1], Markup)
    assert calls == [("a", 1), ("a", 2), ("b", 1)]


def test_without_a_store_nothing_is_kept(drawn, tmp_path):
    draw, calls = drawn
    draw("a")
    with remembering(None):
        draw("a")
    assert len(calls) == 2
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "<svg><script>alert(1)</script></svg>",
        '<svg onload="alert(1)"></svg>',
        '<svg><use href="https://example.org/x.svg#a" /></svg>',
        '<svg><g style="fill: url(javascript:alert(1))" /></svg>',
        "<svg><g></svg>",
        "no drawing",
    ],
)
def test_what_is_no_drawing_is_drawn_again(drawn, tmp_path, text):
    draw, calls = drawn
    store = Store(tmp_path)
    with remembering(store):
        right = draw("a")
        (path,) = tmp_path.glob("??/*.npz")
        store.save(path.stem, {SVG: np.frombuffer(text.encode(), dtype=np.uint8)})
        assert draw("a") == right
    assert len(calls) == 2
