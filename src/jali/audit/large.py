"""Audits that take hours or do not fit into memory: said before anything is trained."""

from __future__ import annotations

import os
from collections.abc import Sequence

from jali.audit.all_models import readouts
from jali.audit.forecast import memory
from jali.audit.setup import Setup
from jali.core.errors import JaliError

MANY = 5_000_000  # records times models, each of which is predicted, explained and attacked
TOO_HIGH = 2.0  # the estimate of the memory may be so many times too high, and must not forbid what would fit
ADVICE = (
    "Audit a random sample of the people, such as --data \"sample(table('loans.csv', 'repaid'), n=20000)\", or fewer "
    "models, such as --game rotate(models=8); --dry-run says how long it takes and what it could see"
)


class LargeAudit(UserWarning):
    """An audit that will take long."""


def notice(records: int, models: int, signals: Sequence[int], available: float) -> str:
    """What is to be said before a large audit, or nothing; raises where it cannot fit into the memory in bytes.

    >>> notice(6_000, 32, [3, 8], 8e9)
    ''
    >>> notice(300_000, 32, [3, 8], 64e9).partition(":")[0]
    'This audit asks 32 models about 300,000 records each, with about 12 GB of memory, which may take hours'
    """
    needed = memory(records, models, signals)
    size = f"asks {models:,} models about {records:,} records each"
    if needed > TOO_HIGH * available:
        raise JaliError(
            f"This audit {size}, which needs about {needed / 1e9:.0f} GB of memory, and this machine has "
            f"{available / 1e9:.0f} GB. {ADVICE}."
        )
    if records * models < MANY:
        return ""
    return f"This audit {size}, with about {needed / 1e9:.0f} GB of memory, which may take hours: {ADVICE}."


def said_before(setup: Setup) -> str:
    """What is to be said before the audit of a setup."""
    chosen = readouts(setup.parts, setup.data.outcome is not None)
    signals = [len(readout.names(setup.data.schema)) for readout in chosen]
    records, models = setup.game.member.shape
    return notice(records, models, signals, float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
