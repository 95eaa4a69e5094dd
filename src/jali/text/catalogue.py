"""The sentences that customers read, one catalogue per language. A new language is one more value here and its test.

Names of columns, categories and classes stay as they are in the table: whoever holds it knows how to call them.
"""

from __future__ import annotations

from dataclasses import dataclass

from jali.core.errors import JaliError


@dataclass(frozen=True)
class Catalogue:
    """Phrases with places for what is filled in, and how numbers are written.

    first and further: a column with its change, at the beginning of the list and after it. exclusive: `or` between
    values of which one is needed.
    """

    language: str
    withheld: str
    already: str
    another: str
    needed: str
    too_wide: str
    nothing: str
    next_to_nothing: str
    first: str
    further: str
    higher: str
    lower: str
    instead: str
    any_but: str
    now: str
    one_of: str
    share: str
    about_share: str
    left_open: str
    other_columns: str
    conjunction: str
    exclusive: str
    between: str
    or_more: str
    or_less: str
    or_later: str
    or_earlier: str
    thousands: str
    point: str

    def number(self, text: str) -> str:
        """A number that was written with commas between thousands and a decimal point, in this language.

        >>> GERMAN.number("12,345.6")
        '12.345,6'
        """
        if (self.thousands, self.point) == (",", "."):
            return text
        return text.translate({ord(","): self.thousands, ord("."): self.point})

    def listed(self, items: list[str], last: str) -> str:
        """Items as people list them.

        >>> ENGLISH.listed(["a", "b", "c"], "and")
        'a, b and c'
        """
        return f" {last} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


ENGLISH = Catalogue(
    language="en",
    withheld="There is no explanation that may be shown.",
    already="The outcome is {outcome} already.",
    another="another one",
    needed="If {changes}, the outcome would be {outcome}{limits}.",
    too_wide="The answer is too wide to say what would have to change for the outcome to be {outcome}: it covers this "
    "record as it is.",
    nothing="Nothing would have to change for the outcome to be {outcome}.",
    next_to_nothing="Next to nothing would have to change for the outcome to be {outcome}.",
    first="{column} were {change}",
    further="{column} {change}",
    higher="{amount} higher ({to}, not {now})",
    lower="{amount} lower ({to}, not {now})",
    instead="{to} (not {now})",
    any_but="any but {values}",
    now=" (now {now})",
    one_of="one of {count} values (not {now})",
    share="in {percent} % of the cases this covers",
    about_share="in about {percent} % of the cases this covers",
    left_open="with {columns} left open",
    other_columns="{count} other columns",
    conjunction="and",
    exclusive="or",
    between="{low} to {high}",
    or_more="{number} or more",
    or_less="{number} or less",
    or_later="{date} or later",
    or_earlier="{date} or earlier",
    thousands=",",
    point=".",
)
GERMAN = Catalogue(
    language="de",
    withheld="Es gibt keine Erklärung, die gezeigt werden darf.",
    already="Das Ergebnis ist bereits {outcome}.",
    another="ein anderes",
    needed="Das Ergebnis wäre {outcome}{limits}, wenn sich Folgendes änderte: {changes}.",
    too_wide="Die Antwort ist zu weit gefasst, um zu sagen, was sich für das Ergebnis {outcome} ändern müsste: Sie "
    "schließt die Angaben ein, wie sie sind.",
    nothing="Für das Ergebnis {outcome} müsste sich nichts ändern.",
    next_to_nothing="Für das Ergebnis {outcome} müsste sich fast nichts ändern.",
    first="{column} {change}",
    further="{column} {change}",
    higher="um {amount} höher ({to} statt {now})",
    lower="um {amount} niedriger ({to} statt {now})",
    instead="{to} (statt {now})",
    any_but="alles außer {values}",
    now=" (jetzt {now})",
    one_of="einer von {count} Werten (statt {now})",
    share="in {percent} % der Fälle, die dies einschließt",
    about_share="in etwa {percent} % der Fälle, die dies einschließt",
    left_open="{columns} offen gelassen",
    other_columns="{count} weitere Spalten",
    conjunction="und",
    exclusive="oder",
    between="{low} bis {high}",
    or_more="{number} oder mehr",
    or_less="{number} oder weniger",
    or_later="{date} oder später",
    or_earlier="{date} oder früher",
    thousands=".",
    point=",",
)
LANGUAGES = {each.language: each for each in (ENGLISH, GERMAN)}


def catalogue(language: str) -> Catalogue:
    """The catalogue of a language.

    >>> catalogue("de").conjunction
    'und'
    """
    if language not in LANGUAGES:
        raise JaliError(f"There are no sentences in the language {language!r}; there are {', '.join(LANGUAGES)}.")
    return LANGUAGES[language]
