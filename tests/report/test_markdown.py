from __future__ import annotations

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jali.report.markdown import escape, slug, unused
from jali.report.words import clean

NASTY = st.text(alphabet="ab1 |\\`*_[]()<>!~$&#+-=.:/\"'{}", max_size=40)
READ = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@given(NASTY)
@example("1.")
@example("12)")
def test_a_paragraph_shows_the_text_as_it_is(text: str) -> None:
    wanted = " ".join(clean(text).split())
    shown = READ.render(f"{escape(wanted)}\n")
    assert html.unescape(re.sub(r"^<p>|</p>$", "", shown.strip())) == wanted


@given(NASTY)
def test_a_cell_shows_the_text_as_it_is(text: str) -> None:
    wanted = " ".join(clean(text).split())
    shown = READ.render(f"| a | b |\n|---|---|\n| {escape(wanted)} | end |\n")
    assert html.unescape(re.findall(r"<td>(.*?)</td>", shown)[0]) == wanted
    assert shown.count("<td>") == 2


def test_words_with_underscores_stay_readable() -> None:
    assert escape("growing_spheres(p_norm=1)") == "growing_spheres(p_norm=1)"


def test_names_of_files_are_plain_and_free() -> None:
    assert slug("Figure 2") == "figure-2"
    assert slug("日本") == "unnamed"
    assert len(slug("a" * 500)) == 60
    assert unused("a", []) == "a"
