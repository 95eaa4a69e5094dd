"""The forecast of an audit in sentences."""

from __future__ import annotations

import math

from jali.audit.forecast import BASELINE, Forecast

MINUTE, HOUR = 60.0, 3600.0


def sentences(found: Forecast) -> list[str]:
    """What the audit takes, and the smallest leak that it could see.

    >>> sentences(Forecast(5400, 2e9, 32, 32, 4000, 0.006, 0.012))[0]
    'This audit trains 32 models and attacks 32 of them, each with 4,000 records: about 1.5 hours and 2.0 GB of memory.'
    """
    trained = f"trains {found.models:,} model{'s' * (found.models != 1)} and attacks {found.targets:,} of them"
    records = found.records or found.people
    judged = f"{records:,} records" + (f" of {found.people:,} people" if found.people < records else "")
    out = [
        f"This audit {trained}, each with {judged}: about {_duration(found.seconds)} and "
        f"{found.memory / 1e9:.1f} GB of memory."
    ]
    if math.isfinite(found.leak):
        out.append(f"An attack with an AUC of {0.5 + found.leak:.3f} would be told from chance in 8 of 10 such audits.")
    if found.addition is not None:
        out.append(
            f"An explanation that adds {found.addition:.3f} to a baseline with an AUC of {BASELINE} would be found in "
            "8 of 10 such audits. Smaller additions need more people or more target models."
        )
    elif found.reason:
        out.append(f"What an explanation would have to add to be found cannot be said: {found.reason}.")
    return out


def _duration(seconds: float) -> str:
    """A time as people say it.

    >>> _duration(40), _duration(200), _duration(9000)
    ('40 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 1.5 * MINUTE:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / MINUTE)} minutes" if seconds < 1.5 * HOUR else f"{seconds / HOUR:.1f} hours"
