"""Where the templates lie and what all of them know."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jali.report import footnotes, thumbnails, views, words
from jali.report.audit import answers, headline


def environment() -> Environment:
    """Templates of this folder; all but Markdown, which is given escaped text, escape whatever they are given."""
    here = Path(__file__).parent
    loader = FileSystemLoader([here, here / "audit", here / "reproduction"])
    made = Environment(loader=loader, autoescape=_escaped, undefined=StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    made.globals.update(words=words, views=views, seen=headline.seen, thumbnails=thumbnails)
    made.globals.update(answers=answers, footnotes=footnotes)
    return made


def _escaped(name: str | None) -> bool:
    return not (name or "").endswith(".md.j2")
