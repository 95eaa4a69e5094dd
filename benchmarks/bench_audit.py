"""The default audit from the command line, environment already there: wall and CPU time, and peak memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LIMIT_CPU = 120  # seconds: those of wall time depend on what else the machine does
LIMIT_MB = 2048


def tree_memory(root: int) -> float:
    """Resident memory of a process and all below it, in MB, from /proc."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)], sizes[int(entry.name)] = int(fields[1]), int(fields[21])
            except OSError:
                continue
    mine = {root}
    while more := {p for p, up in parents.items() if up in mine} - mine:
        mine |= more
    return sum(sizes.get(p, 0) for p in mine) * os.sysconf("SC_PAGE_SIZE") / 2**20


def wait(process: subprocess.Popen[bytes], done: threading.Event) -> None:
    """Say when a process has ended."""
    process.wait()
    done.set()


def main() -> None:
    """Run `jali audit` in a fresh folder while watching its memory."""
    with tempfile.TemporaryDirectory() as out:
        began, peak = time.perf_counter(), 0.0
        process = subprocess.Popen([sys.executable, "-m", "jali", "audit", "--out", out], stdout=subprocess.DEVNULL)
        done = threading.Event()
        threading.Thread(target=wait, args=(process, done), daemon=True).start()
        while not done.wait(0.2):
            peak = max(peak, tree_memory(process.pid))
        seconds = time.perf_counter() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children.ru_utime + children.ru_stime
    took = f"{seconds:.0f} s wall, {cpu:.0f} s CPU (limit {LIMIT_CPU})"
    print(f"default audit: {took}, peak memory {peak:.0f} MB (limit {LIMIT_MB})")
    if process.returncode or cpu > LIMIT_CPU or peak > LIMIT_MB:
        sys.exit("the default audit failed or is over its limit")


if __name__ == "__main__":
    main()
