"""The one script of a page: its text is that of our file, and the content policy knows it by its hash."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from jali import report

SCRIPT = (Path(report.__file__).parent / "sorting.js").read_text(encoding="utf-8")


def check_script(page: str) -> None:
    """The page has our script and no other, and its policy allows no other."""
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script == SCRIPT
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (allowed,) = re.findall(r"script-src ([^;]*);", page)
    assert allowed == f"'sha256-{digest}'"
