"""Where the templates lie and what all of them know."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from jali.report import footnotes, thumbnails, views, words
from jali.report.audit import answers, headline

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Script:
    """The one script of every page, and the hash by which the content policy knows it: it runs nothing else."""

    text: Markup
    hash: str


@cache
def script() -> Script:
    """The script that makes tables sortable, as it stands in its file."""
    text = (HERE / "sorting.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(Markup(text), f"sha256-{digest}")


def environment() -> Environment:
    """Templates of this folder; all but Markdown, which is given escaped text, escape whatever they are given."""
    loader = FileSystemLoader([HERE, HERE / "audit", HERE / "reproduction"])
    made = Environment(loader=loader, autoescape=_escaped, undefined=StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    made.bytecode_cache = _compiled()
    made.globals.update(words=words, views=views, seen=headline.seen, thumbnails=thumbnails)
    made.globals.update(answers=answers, footnotes=footnotes)
    made.globals.update(script=script())
    return made


class _Compiled(FileSystemBytecodeCache):
    """Compiled templates in a folder, each for its text and for the versions of Python and Jinja."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template; a disk that is full is no reason to have no report."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled() -> _Compiled | None:
    """Where compiled templates are kept: beside compiled modules, if those may be written there.

    To compile them takes a fifth of a second.
    """
    folder = HERE / "__pycache__"
    if sys.dont_write_bytecode or not (folder.is_dir() and os.access(folder, os.W_OK)):
        return None
    return _Compiled(str(folder), "%s.j2c")


def _escaped(name: str | None) -> bool:
    return not (name or "").endswith(".md.j2")
