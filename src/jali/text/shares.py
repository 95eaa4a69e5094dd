"""Shares as text: rounding makes no share of people nothing, and none of them all."""

from __future__ import annotations

THIN = "\N{NARROW NO-BREAK SPACE}"


def whole_percent(share: float, space: str = " ") -> str:
    """A share in whole per cent; "0 %" is said of nobody only, and "100 %" of everybody only.

    >>> whole_percent(0.031), whole_percent(0.004), whole_percent(0.9971)
    ('3 %', 'less than 1 %', 'more than 99 %')
    >>> whole_percent(0.0), whole_percent(1.0), whole_percent(0.005)
    ('0 %', '100 %', 'less than 1 %')
    """
    text = f"{100 * share:z.0f}"  # z: what rounds to nothing has no sign
    if share > 0 and text == "0":
        text = "less than 1"
    elif share < 1 and text == "100":
        text = "more than 99"
    return f"{text}{space}%"


def about(share: float) -> str:
    """The same with "about" before it, where it is a number.

    >>> about(0.5), about(0.001)
    ('about 50 %', 'less than 1 %')
    """
    text = whole_percent(share)
    return f"about {text}" if text[0].isdigit() else text
