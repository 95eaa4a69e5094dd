"""The demonstration on several seeds: do its findings hold on all of them?

python benchmarks/bench_demonstration.py [--seeds 0 1 2 3 4] [--workers 2]. Chosen on seed 0 before the others were
looked at. With --memory 3, `jali audit` itself is run three times instead, as a user runs it, and what it takes is
said: wall and CPU time, and the peak of the memory of all its processes together (`measure.py` says how it is counted).
"""

from __future__ import annotations

import argparse
import tempfile
import time

import measure
from jali.api.demonstration import demonstrate
from jali.audit.setup import Resources
from jali.core.values import Channel
from jali.report.audit import membership
from jali.report.demonstration import explainers, holds, rate
from jali.results import Row
from jali.results.demonstration import Demonstration


def shown(row: Row | None) -> str:
    """A value with its interval."""
    if row is None or row.value is None or row.low is None or row.high is None:
        return "none"
    return f"{row.value:.3f} ({row.low:.3f} to {row.high:.3f})"


def numbers(found: Demonstration) -> list[str]:
    """The findings of one seed, a line each."""
    model = found.model
    added = [membership.contrast(found.audit, name, Channel.DECISION, "auc") for name in explainers(found.audit)]
    over_score = membership.contrast(found.audit, explainers(found.audit)[0], Channel.SCORE, "auc")
    compared = ", ".join(f"{name} {value:.3f}" for name, value in model.compared.items())
    return [
        f"model: accuracy {model.accuracy:.3f}; cross-validated {compared}",
        f"(a) recognised at 1 % FPR {shown(rate(found.bare))}; exact rows {found.bare.linked.exact} of "
        f"{found.bare.linked.released}, by chance {found.bare.linked.chance:.1f}; named "
        f"{found.bare.linked.known[-1].people}",
        f"(b) over the decision {shown(added[0])}, over the score {shown(over_score)}",
        "(c) " + "; ".join(f"{c.name.partition('(')[0]} {c.verdict} {c.lower:.2f}" for c in found.claims),
        f"(d) recognised {shown(rate(found.protected))}; exact {found.protected.linked.exact}, by chance "
        f"{found.protected.linked.chance:.1f}; answered {found.bare.answered:.2f} and {found.protected.answered:.2f}; "
        f"reason codes {shown(added[1])}",
    ]


def taken(runs: int, workers: int) -> None:
    """Print what the command takes, run by run."""
    for run in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            found = measure.jali("audit", "--workers", str(workers), "--out", folder, limit=3600, together=True)
        print(f"run {run}: {found.line()}", flush=True)


def main() -> None:
    """Print every seed's findings, and which do not hold."""
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--memory", type=int, default=0, metavar="RUNS", help="run the command, say what it takes")
    chosen = options.parse_args()
    if chosen.memory:
        taken(chosen.memory, chosen.workers)
        return
    for seed in chosen.seeds:
        began = time.perf_counter()
        found = demonstrate(Resources(workers=chosen.workers), seed).results
        print(f"seed {seed}: {time.perf_counter() - began:.0f} s")
        for line in numbers(found):
            print(f"  {line}")
        failed = [name for name, held in holds(found).items() if not held]
        print(f"  does not hold: {', '.join(failed) or 'nothing'}", flush=True)


if __name__ == "__main__":
    main()
