from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jali.report.html import render

from . import sample

pytestmark = pytest.mark.browser
SCREENS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
MAKERS = [sample.full, sample.hostile, sample.invalid]
CONTRAST = """() => {
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(v => linear(v / 255));
  const light = colour => { const [r, g, b] = rgb(colour); return .2126 * r + .7152 * g + .0722 * b };
  const page = light(getComputedStyle(document.documentElement).backgroundColor);
  const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const found = ['main', '.meta', '.span', 'h2 .number', 'a'].map(s => document.querySelector(s)).filter(Boolean);
  return found.map(e => ratio(light(getComputedStyle(e).color), page));
}"""
SIZES = "[...document.querySelectorAll('svg.figure')].map(e => e.getBoundingClientRect().toJSON())"
VISIBLE = "[...document.querySelectorAll('details td')].filter(e => e.checkVisibility()).length"


@functools.cache
def page_of(make: sample.Maker) -> str:
    return render(make())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as session:
        chromium = session.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("make", MAKERS)
def test_page_in_a_browser(browser: Any, tmp_path: Path, make: sample.Maker) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(make), encoding="utf-8")
    page = browser.new_page()
    noise: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), wait_until="load")
    for width, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert min(page.evaluate(CONTRAST)) >= 4.5
        sizes = page.evaluate(SIZES)
        assert len(sizes) >= 4
        assert all(0 < s["width"] <= width and s["height"] > 50 for s in sizes)

    assert page.evaluate("typeof window.hacked") == "undefined"
    assert noise == []
    assert asked == [file.as_uri()]
    page.close()


def test_what_is_folded_is_printed(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(page_of(sample.crowded))
    assert page.evaluate(VISIBLE) == 0
    page.emulate_media(media="print")
    assert page.evaluate(VISIBLE) == page.locator("details td").count() > 50
    page.close()
