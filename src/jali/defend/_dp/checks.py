"""Checks of the fields of defences, and conditions that their guarantees share."""

from __future__ import annotations

import math

from jali.core.errors import JaliError

ROW = "one record is one row; a person with k rows is protected k times less"
EXACT_NOISE = (
    "noise is exact on a public grid; what it is added to is computed in double precision, and the noise allows for "
    "errors of a hundred-thousandth of its sensitivity"
)


def positive(name: str, field: str, value: float) -> None:
    """Refuse a field that is not a positive, finite number.

    >>> positive("dp_logistic", "epsilon", 0.0)
    Traceback (most recent call last):
    jali.core.errors.JaliError: dp_logistic: epsilon must be positive and finite, not 0.0.
    """
    if not 0 < value < math.inf:
        raise JaliError(f"{name}: {field} must be positive and finite, not {value}.")


def bounded(name: str, bound: float) -> None:
    """Refuse a missing bound on the length of rows; zero means that none was given."""
    if not 0 < bound < math.inf:
        raise JaliError(
            f"{name} needs bound, the length that scaled rows are cut to, fixed without looking at the data (a row of "
            f"k columns scaled by their bounds is at most sqrt(k) long): write {name}(bound=…), positive, not {bound}."
        )


def chance(name: str, beta: float, most: float) -> None:
    """Refuse a failure probability outside (0, most]."""
    if not 0 < beta <= most:
        raise JaliError(f"{name}: beta, the share of answers that may fail, must be in (0, {most:g}], not {beta}.")
