"""Text that Markdown shows as it is, and names of files made from titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from jali.report.words import clean

# An underscore inside a word is plain text, as in growing_spheres.
SPECIAL = re.compile(r"[\\`*\[\]<>|~$&]|(?<![^\W_])_|_(?![^\W_])")
OPENING = re.compile(r"^(\s*)([#+=>-]|\d{1,9}(?=[.)](?:\s|$)))")


def escape(text: str) -> str:
    r"""Text in which nothing is read as markup, in a paragraph or a cell of a table.

    >>> print(escape("a|b *growing_spheres* <b>"))
    a\|b \*growing_spheres\* \<b\>
    """
    text = SPECIAL.sub(r"\\\g<0>", clean(text))
    return OPENING.sub(lambda m: f"{m[1]}{m[2]}\\" if m[2].isdigit() else f"{m[1]}\\{m[2]}", text)


def slug(text: str) -> str:
    """A name for a file: lower-case letters, digits and hyphens.

    >>> slug("Table 2: heloc"), slug("../../etc")
    ('table-2-heloc', 'etc')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "unnamed"


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken.

    >>> unused("a", {"a", "a-2"})
    'a-3'
    """
    found, k = name, 1
    while found in taken:
        k += 1
        found = f"{name}-{k}"
    return found
