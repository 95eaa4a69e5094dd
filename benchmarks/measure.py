"""What a command takes: wall time, CPU time of it and all that it started, and the memory of its largest process."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOO_LONG = 124  # the code that `timeout` ends with


@dataclass(frozen=True)
class Used:
    """Seconds of wall and CPU time, peak memory of the largest process in MB, what was printed, and the exit code."""

    wall: float
    cpu: float
    peak: float
    said: str
    code: int

    def line(self) -> str:
        """The three numbers in words."""
        return f"{self.wall:.1f} s wall, {self.cpu:.1f} s CPU, largest process {self.peak:.0f} MB"


def used(command: Sequence[str], limit: float = 600.0, more: Mapping[str, str] | None = None) -> Used:
    """Run a command to its end, or to its limit in seconds; its children count where it waits for them."""
    with tempfile.TemporaryFile() as file:
        began = time.perf_counter()
        words = ["timeout", "--kill-after=5", str(limit), *command]
        # Whoever keeps Python from writing byte code pays for compiling everything at every start; users do not.
        kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT, env=kept | dict(more or {}))
        _, status, spent = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        file.seek(0)
        said = file.read().decode(errors="replace")
    return Used(wall, spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024, said, process.returncode)


def jali(*words: str, limit: float = 600.0) -> Used:
    """Run the command line; one that fails ends the benchmark."""
    found = used([sys.executable, "-m", "jali", *words], limit)
    if found.code:
        sys.exit(f"jali {' '.join(words)} ended with {found.code}: {found.said[-500:]}")
    return found


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log size, by least squares.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    x = [math.log(s) for s in sizes]
    y = [math.log(max(s, 1e-9)) for s in seconds]
    mean_x = sum(x) / len(x)
    mean_y = sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
