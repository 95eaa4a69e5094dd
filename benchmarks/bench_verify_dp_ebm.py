"""Private boosting under `jali verify`: the claim as it is, and the same claim with a third of the noise.

1,000 rows, one column of two categories; in one of them all have one label except one person, who is there or not. With
a large learning rate the first round takes the scores of the others to the right side, where their residuals are nearly
zero and forget nothing, while this person's stays nearly one: every later round adds the person's full share. Both are
tested with the same pair, draws and seed; the first must not be refuted, the second must be. Needs the extra
`glassbox`.
Usage: bench_verify_dp_ebm.py [epsilon] [draws] [seed]
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from jali.core.values import Column, Dataset, Schema
from jali.report.verification import text
from jali.verify.mechanisms_under_test import subject
from jali.verify.neighbours import Pair, fitted
from jali.verify.run import verify

ROWS = 1000
PART = "dp_ebm(epsilon={epsilon}, rounds=20, bins=8, rate=20.0)"
MODULES = ("interpret.glassbox._ebm._ebm", "interpret.utils._preprocessor")


def pair(trainer: Any) -> Pair:
    """One person of 500 has another label than the others, and leaves."""
    schema = Schema((Column("a", "category", categories=("x", "y")),), ("no", "yes"))
    X = np.repeat([0.0, 1.0], ROWS // 2)[:, None]
    y = np.where(X[:, 0] == 0, 0, np.arange(ROWS) % 2)
    y[0] = 1
    data = Dataset(X, y, schema)
    rest = data.rows(np.arange(1, ROWS))
    name = "one of 500 with another label leaves"
    return Pair(name, fitted(trainer, data), fitted(trainer, rest), X[:1].copy())


@contextlib.contextmanager
def less_noise(times: float) -> Iterator[None]:
    """The library's noise, of binning and of boosting, divided by so much."""
    from interpret.utils import _privacy

    exact = _privacy.calc_gdp_noise_multi

    def smaller(*given: Any, **named: Any) -> Any:
        return exact(*given, **named) / times

    with contextlib.ExitStack() as stack:
        for module in MODULES:
            stack.enter_context(mock.patch(f"{module}.calc_gdp_noise_multi", smaller))
        yield


def main(epsilon: float, draws: int, seed: int) -> bool:
    tested = subject(PART.format(epsilon=epsilon))
    verdicts = []
    for times in (1.0, 3.0):
        began = time.process_time()
        with less_noise(times):
            found = verify(tested, pair(tested.trainer), draws, seed)
        print(f"--- noise divided by {times:g} ({time.process_time() - began:.0f} CPU seconds)")
        print(text(found), flush=True)
        verdicts.append(found.verdict)
    return verdicts == ["NOT REFUTED", "REFUTED"]


if __name__ == "__main__":
    given = sys.argv[1:]
    settings = [float(given[0]) if given else 3.0, *(int(v) for v in (given[1:] or ["4000"]))]
    sys.exit(0 if main(settings[0], int(settings[1]), int(settings[2]) if len(settings) > 2 else 0) else 1)
