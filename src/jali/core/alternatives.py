"""Specifications with alternatives, such as k_groups(k=5|10|20), written out."""

from __future__ import annotations

import re
from collections.abc import Iterator

VALUE = r'"(?:[^"\\]|\\.)*"|[^\s,()\[\]|="]+'
ALTERNATIVES = re.compile(rf'"(?:[^"\\]|\\.)*"(?!\s*\|)|((?:{VALUE})(?:\s*\|\s*(?:{VALUE}))+)')


def written_out(text: str) -> Iterator[str]:
    """The specifications that a text with alternatives stands for; a bar inside quotes is only a character.

    >>> list(written_out("hardened(nice(), snap=0.1|0.5)"))
    ['hardened(nice(), snap=0.1)', 'hardened(nice(), snap=0.5)']
    >>> len(list(written_out("dp_logistic(epsilon=0.5|1|4, bound=1|2)")))
    6
    >>> list(written_out('nice("none"|"sparsity", ranges="a|b")'))
    ['nice("none", ranges="a|b")', 'nice("sparsity", ranges="a|b")']
    """
    found = next((match for match in ALTERNATIVES.finditer(text) if match[1]), None)
    if found is None:
        yield text
        return
    for value in re.findall(VALUE, found[1]):
        yield from written_out(text[: found.start()] + value + text[found.end() :])
