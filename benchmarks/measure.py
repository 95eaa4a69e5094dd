"""What a command takes: wall time, CPU time of it and all that it started, and memory.

Memory is that of its largest process, and on request that of all its processes together: the sum of their proportional
set sizes (PSS, Linux), in which a page that several processes share counts once. A library that processes of others use
at the same time counts for less, so measure where nothing else runs.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOO_LONG = 124  # the code that `timeout` ends with
OFTEN = 0.1  # seconds between two looks at the memory of all processes
PROC = Path("/proc")


@dataclass(frozen=True)
class Used:
    """Seconds of wall and CPU time, peak memory of the largest process in MB, what was printed, and the exit code.

    together: the peak of all processes together in bytes, where it was asked for.
    """

    wall: float
    cpu: float
    peak: float
    said: str
    code: int
    together: int = 0

    def line(self) -> str:
        """The numbers in words."""
        text = f"{self.wall:.1f} s wall, {self.cpu:.1f} s CPU, largest process {self.peak:.0f} MB"
        if not self.together:
            return text
        return f"{text}, all processes together {self.together / 1e6:.0f} MB ({self.together / 2**20:.0f} MiB) of PSS"


class Memory(threading.Thread):
    """Looks at the memory of a process and all that it started until it is told to end; peak: the largest sum seen."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.peak = 0
        self.over = threading.Event()

    def run(self) -> None:
        """Look again and again."""
        while not self.over.wait(OFTEN):
            self.peak = max(self.peak, sum(map(proportional, processes(self.root))))


def processes(root: int) -> list[int]:
    """The numbers of a process and of all that it, or one of these, started."""
    children: dict[int, list[int]] = {}
    for number, parent in _parents():
        children.setdefault(parent, []).append(number)
    found = [root]
    for one in found:  # it grows
        found += children.get(one, [])
    return found


def _parents() -> Iterator[tuple[int, int]]:
    """Each process of this machine with the one that started it."""
    for folder in PROC.glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        yield int(folder.name), int(text.rpartition(")")[2].split()[1])


def proportional(process: int) -> int:
    """The proportional set size of a process in bytes; 0 if it has ended."""
    try:
        lines = (PROC / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def used(
    command: Sequence[str], limit: float = 600.0, more: Mapping[str, str] | None = None, together: bool = False
) -> Used:
    """Run a command to its end, or to its limit in seconds; its children count where it waits for them.

    together: look at the memory of all its processes ten times a second.
    """
    with tempfile.TemporaryFile() as file:
        began = time.perf_counter()
        words = ["timeout", "--kill-after=5", str(limit), *command]
        # Whoever keeps Python from writing byte code pays for compiling everything at every start; users do not.
        kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT, env=kept | dict(more or {}))
        memory = Memory(process.pid)
        if together:
            memory.start()
        _, status, spent = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        memory.over.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        file.seek(0)
        said = file.read().decode(errors="replace")
    cpu = spent.ru_utime + spent.ru_stime
    return Used(wall, cpu, spent.ru_maxrss * 1024 / 1e6, said, process.returncode, memory.peak)


def jali(*words: str, limit: float = 600.0, together: bool = False) -> Used:
    """Run the command line; one that fails ends the benchmark."""
    found = used([sys.executable, "-m", "jali", *words], limit, together=together)
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
