from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

import pytest

from jali.report import sheet, verification_page
from jali.report.audit.html import render
from jali.report.reproduction import page as reproduction
from tests.report import reproductions, sample
from tests.report.test_verification import found
from tests.report.test_verification_page import REFUTED

pytestmark = pytest.mark.browser
SCREENS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
MAKERS = [sample.full, sample.hostile, sample.invalid, *sample.PICTURES, *sample.ANSWERS]
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
LEGIBLE = """() => {
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b };
  const sheet = light(getComputedStyle(document.querySelector('.sheet')).fill);
  const texts = [...document.querySelectorAll('text')].map(e => light(getComputedStyle(e).fill));
  return Math.min(...texts.map(t => (Math.max(t, sheet) + .05) / (Math.min(t, sheet) + .05)));
}"""
TILES = """[...document.querySelectorAll('.tile img')].map(e => {
  const box = e.getBoundingClientRect();
  return [box.width, box.height, e.naturalWidth == 4 ? getComputedStyle(e).imageRendering : 'not loaded'] })"""
VISIBLE = "[...document.querySelectorAll('details td')].filter(e => e.checkVisibility()).length"


@functools.cache
def page_of(make: sample.Maker) -> str:
    return render(make())


@pytest.mark.parametrize("make", MAKERS)
def test_page_in_a_browser(browser: Any, tmp_path: Path, make: sample.Maker) -> None:
    seen = look(browser, tmp_path, page_of(make))
    assert all(len(figures) >= 4 for figures in seen)


@pytest.mark.parametrize("make", reproductions.MAKERS)
def test_reproduction_in_a_browser(browser: Any, tmp_path: Path, make: reproductions.Maker) -> None:
    seen = look(browser, tmp_path, reproduction.page(make()))
    assert len({len(figures) for figures in seen}) == 1


@pytest.mark.parametrize("fields", [REFUTED, {}], ids=["refuted", "not refuted"])
def test_verification_in_a_browser(browser: Any, tmp_path: Path, fields: dict[str, Any]) -> None:
    seen = look(browser, tmp_path, sheet.html(verification_page.sheet(found(**fields))))
    assert [len(figures) for figures in seen] == [1] * len(SCREENS)


def look(browser: Any, folder: Path, text: str) -> list[list[dict[str, float]]]:
    """Open a page on every screen, hold it to what every page must do, and say where its figures stand on each."""
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    page = browser.new_page()
    noise: list[str] = []
    requested: list[str] = []
    found = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(file.as_uri(), wait_until="load")
    for width, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert min(page.evaluate(CONTRAST)) >= 4.5
        found.append(page.evaluate(SIZES))
        assert all(0 < s["width"] <= width and s["height"] > 50 for s in found[-1])

    assert page.evaluate("typeof window.hacked") == "undefined"
    assert noise == []
    assert requested == [file.as_uri()]
    page.close()
    return found


def test_pictures_are_square_and_not_blurred(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(page_of(sample.pictured))
    for width, height, drawn in page.evaluate(TILES):
        assert width == height > 60
        assert drawn == "pixelated"
    page.close()


def test_what_is_folded_stays_folded_on_paper_unless_it_is_opened(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(page_of(sample.many_attacks))
    page.emulate_media(media="print")
    assert page.evaluate(VISIBLE) == 0
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page.evaluate(VISIBLE) == page.locator("details td").count() > 50
    page.close()


def test_figures_of_their_own_are_legible_on_any_page(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    for name, text in reproduction.markdown(reproductions.full()).items():
        if name.endswith(".svg"):
            file = tmp_path / Path(name).name
            file.write_text(text, encoding="utf-8")
            page.goto(file.as_uri())
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(LEGIBLE) >= 4.5
    page.close()


def opened(browser: Any, folder: Path, text: str, width: int = 1280, height: int = 800) -> Any:
    """A page of a browser with its content policy, as a reader opens it."""
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(file.as_uri())
    return page


def test_a_table_is_sorted_by_its_head_and_back(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, page_of(sample.full))
    table = page.locator("table.sortable").first
    head = table.locator("thead th").nth(1)
    cells = table.locator("tbody tr td:nth-child(2)")
    rows = [float(cells.nth(k).get_attribute("data-sort") or "nan") for k in range(cells.count())]
    assert len(set(rows)) > 1
    for order, expected in (("descending", sorted(rows, reverse=True)), ("ascending", sorted(rows))):
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == order
        assert [float(cells.nth(k).get_attribute("data-sort")) for k in range(cells.count())] == expected
    table.locator("thead th button").first.click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(names, reverse=True)
    assert head.get_attribute("aria-sort") is None
    page.close()


def test_everything_is_readable_without_the_script(browser: Any, tmp_path: Path) -> None:
    """The same text with and without it, and no button that does nothing."""
    pages = [opened(browser, tmp_path, page_of(sample.full))]
    surroundings = browser.new_context(java_script_enabled=False)
    still = surroundings.new_page()
    still.goto(pages[0].url)
    texts = [re.sub(r"\s+", " ", page.locator("main").inner_text()) for page in (pages[0], still)]
    assert texts[0] == texts[1]
    assert still.locator("button").count() == 0
    surroundings.close()
    pages[0].close()


def test_the_five_answers_are_on_the_first_screen(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, page_of(sample.full))
    box = page.locator("dl.five").bounding_box()
    assert box["y"] + box["height"] <= 800
    assert page.locator("dl.five dt").count() == 5
    page.close()


def test_dots_and_curves_tell_their_values(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, page_of(sample.full))
    drawn = "[...document.querySelectorAll('svg.figure g > title')].map(e => e.textContent)"
    told = page.evaluate(drawn)
    assert any("over the decision: +" in text for text in told)
    assert any("wrongly flagged" in text for text in told)
    alt = page.evaluate("[...document.querySelectorAll('svg.figure')].map(e => e.getAttribute('aria-label'))")
    assert all(re.search(r"\d", text) for text in alt)
    page.close()


AXE = os.environ.get("AXE_CORE", "")  # the file axe.min.js of the npm package axe-core


@pytest.mark.skipif(not AXE, reason="AXE_CORE names no axe.min.js")
@pytest.mark.parametrize("make", [sample.full, sample.invalid, sample.pictured])
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_no_violation(browser: Any, tmp_path: Path, make: sample.Maker, width: int, scheme: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(page_of(make), encoding="utf-8")
    surroundings = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = surroundings.new_page()
    page.goto(file.as_uri())
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    surroundings.close()
    assert [violation["id"] for violation in found["violations"]] == []


def test_paper_and_file_stay_small(browser: Any, tmp_path: Path) -> None:
    """At most 400 kB, and at most 8 printed pages."""
    text = page_of(sample.full)
    assert len(text.encode()) <= 400_000
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    printed = page.pdf(format="A4")
    page.close()
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 8


def test_regions_that_scroll_have_names_of_their_own() -> None:
    """What axe calls landmark-unique, and heads that are not empty, also where axe is not there."""
    for make in MAKERS:
        text = page_of(make)
        names = re.findall(r'role="region" aria-label="([^"]*)"', text)
        assert len(set(names)) == len(names)
        assert not re.search(r"<th[^>]*>\s*</th>", text)
