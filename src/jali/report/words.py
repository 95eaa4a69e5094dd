"""How text and numbers are written: control characters out, digits in proportion, minus signs that read as such."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from jali.core import metrics
from jali.report import resolution
from jali.results import DIFFERENCES, Row
from jali.text import shares
from jali.text.characters import BREAKS, SURROGATES, UNSEEN

Model = TypeVar("Model", bound=BaseModel)
ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]"
)
PRICES = {0.001: "one person in 1,000 wrongly flagged", 0.01: "ten people in 1,000 wrongly flagged"}
MINUS = "\N{MINUS SIGN}"
THIN = shares.THIN
DASH = "\N{EN DASH}"
MOST_DIGITS = 4
NOT_USED = "not used"
WHY_NOT_USED = "The combined attack judged everybody the same with and without the explanation."
NO_SPREAD = "no spread, so no interval"


def clean(text: str) -> str:
    r"""Text without terminal escapes, control and direction characters; a line break becomes a space.

    >>> clean("\x1b[31mred\x1b[0m\nage")
    'red age'
    """
    text = BREAKS.sub(" ", ESCAPES.sub("", text))
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", UNSEEN.sub("", text))


def cleaned(found: Model, write: Callable[[str], str] = clean) -> Model:
    """The same results with every string cleaned, keys included, so that no rendering has to remember it."""
    return type(found).model_validate(_deep(found.model_dump(), write))


def as_json(found: BaseModel) -> str:
    """Results as JSON; names of files may be no UTF-8, and such bytes of them become replacement characters."""
    try:
        return found.model_dump_json(indent=1)
    except PydanticSerializationError:
        return cleaned(found, lambda text: SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)).model_dump_json(indent=1)


def _deep(value: Any, write: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return write(value)
    if isinstance(value, dict):
        return {_deep(k, write): _deep(v, write) for k, v in value.items()}
    return [_deep(v, write) for v in value] if isinstance(value, (list, tuple)) else value


def level(metric: str) -> float | None:
    """The error rate a metric is read at, None if it has none.

    >>> level("tpr@0.01"), level("auc")
    (0.01, None)
    """
    found = metrics.metric(metric)
    return found.at if found.unit == "rate" else None


def metric_name(metric: str) -> str:
    """A metric as a column head.

    >>> metric_name("tnr@0.001"), metric_name("cost_l2")
    ('TNR at 0.1 % FNR', 'Cost l2')
    """
    return metrics.metric(metric).title


def price(metric: str) -> str:
    """What a rate costs, in words.

    >>> price("tpr@0.01")
    'ten people in 1,000 wrongly flagged'
    """
    at = level(metric)
    return PRICES.get(at or 0.0, f"a false-positive rate of {percent(at or 0.0)} %")


def number(value: float) -> str:
    """A number with digits in proportion to its size.

    >>> number(0.5634), number(0.000042), number(15230), number(-0.02)
    ('0.563', '0.000042', '15,230', '−0.020')
    """
    size = abs(value)
    if size >= 1000 or (size >= 10 and value == int(value)):
        text = f"{size:,.0f}"
    elif size >= 10:
        text = f"{size:.1f}"
    else:
        text = f"{size:.3f}" if size >= 0.005 or size == 0 else f"{Decimal(f'{size:.2g}'):f}"
    return (MINUS if value < 0 else "") + text


def above(value: float) -> str:
    """A positive number rounded up in its last digit, so that "less than" stays true.

    >>> above(0.0112), above(0.05), above(0.00213)
    ('0.012', '0.050', '0.0022')
    """
    step = 0.001 if value >= 0.005 else 10.0 ** (math.floor(math.log10(value)) - 1)
    return number(math.ceil(round(value / step, 6)) * step)


def percent(value: float, digits: int | None = None) -> str:
    """A share in percent without its sign, with two decimals below one per cent, and more where all would be zeros.

    >>> percent(0.0312), percent(0.0042), percent(1.0)
    ('3.1', '0.42', '100.0')
    >>> percent(0.000021), percent(0.99968)
    ('0.002', '99.97')
    """
    text = f"{abs(100 * value):.{_enough(value) if digits is None else digits}f}"
    return (MINUS if value < 0 and not _zero(text) else "") + text


def whole_percent(value: float) -> str:
    """A share in whole per cent with its sign; a little is not rounded to nothing, and most not to all.

    >>> whole_percent(0.031), whole_percent(0.004), whole_percent(0.9971)
    ('3\u202f%', 'less than 1\u202f%', 'more than 99\u202f%')
    """
    return shares.whole_percent(value, THIN)


def _zero(text: str) -> bool:
    """Whether a number was rounded to nothing, which then carries no sign."""
    return not text.strip("0.")


def _digits(value: float) -> int:
    return 2 if abs(value) < 0.01 else 1


def _enough(value: float) -> int:
    """So many decimals that neither little looks like nothing nor most like all; at most four."""
    digits = _digits(value)
    size = abs(value)
    while digits < MOST_DIGITS and size not in (0, 1) and float(f"{100 * size:.{digits}f}") in (0, 100):
        digits += 1
    return digits


def covered(row: Row) -> str:
    """On which part of the guesses a row rests, empty if on all.

    >>> covered(Row(kind="attack", metric="auc", value=0.5, coverage=0.152))
    'on the 15 % of guesses with an explanation'
    """
    if row.coverage is None or row.coverage >= 0.995:
        return ""
    share = shares.whole_percent(row.coverage)
    if share[0].isdigit():
        return f"on the {share} of guesses with an explanation"
    return f"on the guesses with an explanation, {share} of all"


def value_of(row: Row) -> str:
    """A row's value as its cell shows it; contrasts carry a sign, rates a unit.

    >>> value_of(Row(kind="contrast", metric="tpr@0.01", value=0.021))
    '+2.1'
    """
    if row.value is None:
        return DASH
    if resolution.unused(row):
        return NOT_USED
    text = _scaled(row, row.value)
    return text if row.kind in DIFFERENCES or level(row.metric) is None else f"{text}{THIN}%"


def span_of(row: Row) -> str:
    """A row's interval, empty if there is none; a difference without any spread has none worth the name.

    >>> span_of(Row(kind="contrast", metric="auc", value=0.02, low=-0.01, high=0.05))
    '−0.010 to +0.050'
    """
    if resolution.flat(row):
        return "" if resolution.unused(row) else NO_SPREAD
    between = " to " if row.kind in DIFFERENCES or (row.low or 0.0) < 0 else DASH
    return between.join(ends(row))


def listed(names: Iterable[str]) -> str:
    """Names as people list them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def ends(row: Row) -> tuple[str, ...]:
    """Both ends of a row's interval as its cell shows them, none if there is no interval."""
    if row.value is None or row.low is None or row.high is None:
        return ()
    return _scaled(row, row.low), _scaled(row, row.high)


def _scaled(row: Row, x: float) -> str:
    """Value and both ends in the same number of decimals; what rounds to nothing has no sign."""
    if level(row.metric) is not None:
        text = percent(abs(x), _decimals(row))
    else:
        text = f"{abs(x):.{_decimals(row)}f}" if metrics.metric(row.metric).unit == "index" else number(abs(x))
    plus = "+" if row.kind in DIFFERENCES else ""
    return text if _zero(text) else (MINUS if x < 0 else plus) + text


def _decimals(row: Row) -> int:
    """More decimals for a difference whose interval would otherwise shrink to a point."""
    rate, value = level(row.metric) is not None, row.value or 0.0
    digits = _digits(value) if rate else 3
    if row.kind not in DIFFERENCES:
        return digits
    size = abs(value) if row.low is None or row.high is None else row.high - row.low
    while 0 < size * (100 if rate else 1) < 3 * 10**-digits and digits < 6:
        digits += 1
    return digits


def per_thousand(share: float) -> str:
    """How many of 1,000 people a share is.

    >>> per_thousand(0.0234), per_thousand(0.0042), per_thousand(-0.002), per_thousand(0.00004)
    ('23', '4.2', '−2', '0.04')
    """
    count = 1000 * abs(share)
    text = f"{count:,.0f}" if count >= 9.95 else f"{count:.1f}".removesuffix(".0")
    if text == "0":
        text = f"{count:.3f}".rstrip("0").rstrip(".")
    return (MINUS if share < 0 and text != "0" else "") + text


def shorten(text: str, width: int) -> str:
    """At most this many characters; the cut is shown.

    >>> shorten("counterfactual", 8)
    'counter…'
    """
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
