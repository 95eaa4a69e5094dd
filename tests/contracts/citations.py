"""What counts as a citation in a docstring, so that it can be looked up."""

from __future__ import annotations

import re

PARTICLE = r"(?:(?:van|von|de|De|Van|Le|La) )?"
SURNAME = rf"{PARTICLE}[^\W\d_a-zß-öø-ÿ][\w’'-]+"
AUTHORS = rf"{SURNAME}(?:(?:, {SURNAME})* and {SURNAME}| et al\.)?"
YEAR = r"(?:19|20)\d\d"
VENUE = r"(?:[A-Z][\w&]*\.? )*"
# "Surname et al. (2022)", or "Surname and Surname, Title, Venue 2022" within one sentence.
CITATION = re.compile(rf"\b{AUTHORS}(?: \({YEAR}\)| {YEAR}|(?:, [^.;]*?)?, {VENUE}{YEAR}\b)")
TITLE = re.compile(r"\b[A-Z]\w* $")


def citations(docstring: str) -> list[str]:
    """The citations of a docstring, without its examples; the last word of a title, as in Challenge (2018), is none.

    >>> citations("After Li and Wu, Trees, ICML 2020; see Chen et al. (2021).")
    ['Li and Wu, Trees, ICML 2020', 'Chen et al. (2021)']
    """
    prose = " ".join(docstring.split(">>>")[0].split())
    matches = CITATION.finditer(prose)
    return [m[0] for m in matches if " and " in m[0] or " et al." in m[0] or not TITLE.search(prose[: m.start()])]
