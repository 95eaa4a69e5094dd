"""All fuzzers, and the table of what they tried: `python -m tests.security.fuzz`, or `make fuzz`.

Without a number each runs as many inputs as a release needs (minutes); the suite runs a part of them (seconds).
"""

from __future__ import annotations

import dataclasses
import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jali.core import registry
from tests.security import arrays, documents, ledgers, scans, tables
from tests.security.harness import Use, escapes

Fuzz = Callable[[int, int], list[str]]

ODD = (
    "-1", "0", "1", "2", "1e23", "-0.5", "0.5", '"x"', '""', "none", "true", "[]", "[1, 2]", '["a"]', '"nan"', "1e400",
    "-1e400", "1" + "0" * 23, "1" + "0" * 400, "[[[]]]", "lira()", "nice()", '"a:b"',
)  # fmt: skip


def fields_of_parts(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Odd values for every field of every part, in a random order: a part or a sentence; what escaped."""
    every = [
        (kind, f"{name}({field.name}={value})")
        for kind in registry.FOLDERS
        for name in registry.names(kind)
        for field in dataclasses.fields(registry.find(kind, name))
        for value in ODD
    ]
    chosen = np.random.default_rng(seed).permutation(len(every))[:count]
    build = use or (lambda item: registry.build(*item))
    return escapes(((every[at][1], every[at]) for at in chosen), build)


class Fuzzer(NamedTuple):
    """A fuzzer, and how many inputs it runs for a release."""

    run: Fuzz
    inputs: int


FUZZERS = {
    "tables": Fuzzer(tables.text_tables, 2500),
    "Parquet files": Fuzzer(tables.parquet_tables, 200),
    "evidence files": Fuzzer(arrays.evidence_files, 1000),
    "configurations": Fuzzer(documents.configurations, 1000),
    "fields of parts": Fuzzer(fields_of_parts, 10_000),
    "results and papers": Fuzzer(documents.papers_and_results, 800),
    "weight files": Fuzzer(arrays.weight_files, 400),
    "entries of a store": Fuzzer(arrays.store_entries, 600),
    "ledger damages": Fuzzer(ledgers.ledger_damages, 300),
    "schema files": Fuzzer(documents.schema_files, 500),
    "protected explainers": Fuzzer(documents.protected_folders, 500),
    "files for a scan": Fuzzer(scans.scanned_files, 900),
    "logs, releases, dumps": Fuzzer(scans.logs_and_dumps, 400),
}


def main(factor: float, seed: int, only: tuple[str, ...] = ()) -> int:
    """Run all fuzzers, print a line for each, and return how many inputs escaped."""
    total = 0
    sys.stdout.write(f"{'attack':24}{'tried':>8}{'escaped':>9}{'CPU s':>8}{'peak MB':>9}\n")
    chosen = {name: fuzzer for name, fuzzer in FUZZERS.items() if not only or name in only}
    for name, (run, inputs) in chosen.items():
        count = max(1, round(inputs * factor))
        began = time.process_time()
        found = run(count, seed)
        total += len(found)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds = time.process_time() - began
        sys.stdout.write(f"{name:24}{count:8,}{len(found):9}{seconds:8.1f}{peak:9.0f}\n")
        sys.stdout.writelines(f"  {line}\n" for line in found[:20])
        sys.stdout.flush()
    return total


if __name__ == "__main__":
    times = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sys.exit(1 if main(times, first, tuple(sys.argv[3:])) else 0)
