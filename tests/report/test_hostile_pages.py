"""Pages made of hostile names and values run nothing and ask for nothing; a page that does shows that this is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jali.api import attack_file
from jali.report import scan as scan_page
from jali.report import sheet, verification_page
from jali.report.audit.html import render
from jali.report.reproduction import page as reproduction
from jali.results.scan import Place, Scan
from tests.report import reproductions, sample
from tests.report.scripts import SCRIPT
from tests.report.test_verification import found as verification

pytestmark = pytest.mark.browser
ATTACKS = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    "\"><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<a href=javascript:window.hacked=1>x</a>",
    "<style>@import url(http://127.0.0.1:9/x)</style>",
    "<link rel=stylesheet href=http://127.0.0.1:9/y>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/z'>",
    "<form action=http://127.0.0.1:9><input autofocus onfocus=window.hacked=1>",
)
EVERY = " ".join(ATTACKS)
ALIVE = """own =>
  [...document.querySelectorAll('script, iframe, object, embed, form, link, base, [href^="javascript:"]')]
  .filter(e => e.tagName != 'SCRIPT' || e.textContent != own)
  .map(e => e.outerHTML).concat([...document.querySelectorAll('*')].filter(
     e => [...e.attributes].some(a => a.name.startsWith('on'))).map(e => e.outerHTML))"""


def report_with_values() -> str:
    exposed = sample.Exposed(record=1, recognised=1, member_of=2, rate=0.5, values={EVERY: EVERY})
    return render(
        sample.hostile_answers().model_copy(update={"exposed": [exposed], "title": EVERY, "warnings": [EVERY]})
    )


def attack_report(folder: Path) -> str:
    rng = np.random.default_rng(0)
    member = rng.random((400, 6)) < 0.5
    np.savez(folder / "evidence.npz", member=member, **{EVERY: rng.normal(size=(400, 6)) + member})
    return render(attack_file(folder / "evidence.npz", ["threshold"]).results)


def reproduction_page() -> str:
    found = reproductions.hostile()
    return reproduction.page(found.model_copy(update={"title": EVERY, "citation": EVERY, "note": EVERY}))


def scan_of_names() -> str:
    place = Place(where=EVERY, of=9, rows=9, people=9, chance=0.0, columns=3, form=EVERY, leak=True, fix=EVERY)
    return sheet.html(scan_page.sheet(Scan(what=EVERY, train=9, people=9, places=[place], skipped={EVERY: EVERY})))


def verification_of_names() -> str:
    shown = verification(
        name=EVERY,
        claim=EVERY,
        bounds={EVERY: 2.0, "the whole answer": 0.5},
        distinguisher=EVERY,
        leaking_variables=[EVERY],
        assumes=[EVERY],
        known_flaws=EVERY,
        tables=EVERY,
        jali=EVERY,
    )
    return sheet.html(verification_page.sheet(shown))


PAGES = {
    "report with values": lambda _: report_with_values(),
    "attack report": attack_report,
    "reproduction page": lambda _: reproduction_page(),
    "scan page": lambda _: scan_of_names(),
    "verification page": lambda _: verification_of_names(),
}


def happened(browser: Any, folder: Path, text: str) -> list[str]:
    """What a page did beside being shown: scripts that ran, addresses that it asked for, dialogs, live elements."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    page = browser.new_page()
    seen: list[str] = []
    page.on(
        "request", lambda request: seen.append(f"asked for {request.url}") if request.url != file.as_uri() else None
    )
    page.on("dialog", lambda dialog: (seen.append("opened a dialog"), dialog.dismiss()))
    page.on("console", lambda message: seen.append(f"said {message.text[:80]}"))
    page.goto(file.as_uri(), wait_until="load")
    page.wait_for_timeout(300)
    if page.url != file.as_uri() or any("/z" in line for line in seen):
        seen.append("went elsewhere")
    else:
        if page.evaluate("typeof window.hacked") != "undefined":
            seen.append("ran a script")
        seen += [f"has {found[:80]}" for found in page.evaluate(ALIVE, SCRIPT)]
    page.close()
    return seen


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_does_nothing(browser, tmp_path, name):
    text = PAGES[name](tmp_path)
    assert "window.hacked" in text  # what is hostile stands on the page, as text
    assert happened(browser, tmp_path, text) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_control_page_shows_that_each_of_these_is_seen(browser, tmp_path, attack):
    assert happened(browser, tmp_path, f"<!doctype html><title>control</title><body>{attack}</body>")


@pytest.mark.parametrize("attack", ATTACKS[:4])
def test_our_content_policy_stops_scripts_even_where_a_text_was_not_escaped(browser, tmp_path, attack):
    text = report_with_values()
    assert "Content-Security-Policy" in text
    found = happened(browser, tmp_path, text.replace("</body>", f"{attack}</body>"))
    assert found
    assert "ran a script" not in found
