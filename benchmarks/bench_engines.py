"""Engines: one audit on processes, on a Dask cluster over TCP, in shards and with a store at a URL; same bits, kills.

python benchmarks/bench_engines.py            # all, with three kills of each kind
python benchmarks/bench_engines.py --kills 10
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Used, jali

SMALL = ["--data", "lending(n=300)", "--game", "rotate(models=6)", "--explain", "none"]
USUAL = ["--data", "lending(n=3000)", "--game", "rotate(models=16)", "--explain", "input_x_gradient"]


def rows(out: Path) -> str:
    """The numbers of a run, but the seconds, which no seed repeats."""
    found = json.loads((out / "results.json").read_text())["rows"]
    return json.dumps([row for row in found if row["metric"] != "seconds"], sort_keys=True)


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Cluster:
    """A scheduler and two workers, started as a user would; each worker a process with one thread."""

    def __init__(self) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", self.address.split(":")[1])
        self.workers = [self.worker() for _ in range(2)]

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        return self._start("worker", f"tcp://{self.address}", "--nthreads", "1", "--no-nanny", "--memory-limit", "0")

    def lose_one(self) -> None:
        """Kill a worker, and start another one, as a batch system would."""
        self.workers.pop(0).kill()
        self.workers.append(self.worker())

    def cpu(self) -> float:
        """CPU seconds of the scheduler and the workers so far."""
        ticks = 0
        for process in (self.scheduler, *self.workers):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End all of it."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that is there for a while."""
    made = Cluster()
    try:
        yield made
    finally:
        made.end()


def loopback() -> int:
    """Bytes that went over the loopback interface of this machine so far."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == "lo":
            return int(fields.split()[8])
    return 0


def children(process: int) -> list[int]:
    """The worker processes of a run."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(entry.name)
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == process and b"popen_loky" in (entry / "cmdline").read_bytes():
                found.append(number)
    return found


def killed_processes(command: list[str], out: Path, after: float) -> bool:
    """Run an audit on processes and kill one of them, seconds after they began; whether there was one to kill."""
    words = [sys.executable, "-m", "jali", "audit", *command, "--workers", "2", "--out", str(out)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not children(process.pid) and process.poll() is None:
        time.sleep(0.01)
    until = time.monotonic() + after
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.01)
    mine = children(process.pid)
    if mine:
        os.kill(random.choice(mine), signal.SIGKILL)
    if process.wait():
        sys.exit("an audit ended because one of its workers was killed")
    return bool(mine)


def report(label: str, found: Used, extra: str = "") -> None:
    print(f"{label}: {found.line()}{extra}")


def on_dask(command: list[str], folder: Path, wanted: str, base: Used, kills: int) -> None:
    """Efficiency, bytes and kills on a cluster."""
    with cluster() as there:
        time.sleep(3)
        before = there.cpu(), loopback()
        out = folder / "dask"
        found = jali("audit", *command, "--engine", f"dask://{there.address}", "--out", str(out))
        moved = (loopback() - before[1]) / 1e6
        cpu = there.cpu() - before[0] + found.cpu
        report("Dask, two workers over TCP", found, f"; with scheduler and workers {cpu:.1f} s CPU")
        print(f"  wall {found.wall / base.wall:.2f}x and CPU {cpu / base.cpu:.2f}x that of processes; ", end="")
        print(f"{moved:.1f} MB over loopback; same bits: {rows(out) == wanted}")
        same = 0
        for k in range(kills):
            out = folder / f"dask-{k}"
            timer = threading.Timer(random.uniform(0.1, 0.9) * found.wall, there.lose_one)
            timer.start()
            jali("audit", *command, "--engine", f"dask://{there.address}", "--out", str(out))
            timer.cancel()
            same += rows(out) == wanted
        print(f"  a worker killed (-9) at a random moment: same bits in {same} of {kills}")


def at_url(command: list[str], folder: Path, wanted: str) -> None:
    """No shared folder: workers of a cluster and the run meet at an FTP server only."""
    if not importlib.util.find_spec("pyftpdlib"):
        print("store at a URL over FTP: pyftpdlib is not installed, not run")
        return
    place = folder / "ftp"
    place.mkdir()
    port = free_port()
    words = ["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", str(port), "-w", "-d", str(place), "-u", "jali", "-P", "jali"]
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with cluster() as there:
            time.sleep(3)
            out = folder / "url"
            url = f"ftp://jali:jali@127.0.0.1:{port}/store"
            found = jali("audit", *command, "--engine", f"dask://{there.address}", "--store", url, "--out", str(out))
            report("Dask, store at an FTP server", found, f"; same bits: {rows(out) == wanted}")
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """All engines with one audit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    command = SMALL if options.small else USUAL
    random.seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = jali("audit", *command, "--workers", "1", "--out", str(folder / "one"))
        report("one process", one)
        wanted = rows(folder / "one")
        two = jali("audit", *command, "--workers", "2", "--out", str(folder / "two"))
        report("two processes", two, f"; same bits: {rows(folder / 'two') == wanted}")
        again = jali("audit", *command, "--workers", "2", "--out", str(folder / "two"))
        report(
            "the same again",
            again,
            f"; {again.cpu / two.cpu:.2f}x the CPU; same bits: {rows(folder / 'two') == wanted}",
        )
        hit = same = 0
        for k in range(options.kills):
            out = folder / f"killed-{k}"
            hit += killed_processes(command, out, random.uniform(0.05, 0.6) * two.wall)
            same += rows(out) == wanted
        print(f"a process killed (-9) at a random moment: same bits in {same} of {options.kills}, {hit} with a hit")
        for many in (1, 3, 7):
            out = folder / f"shards-{many}"
            shared = ["--workers", "1", "--out", str(out)]
            parts = [jali("audit", *command, "--shard", f"{k}/{many}", *shared) for k in range(1, many + 1)]
            parts.append(jali("merge", str(out), "--workers", "1"))
            cpu = sum(part.cpu for part in parts)
            print(f"{many} shards: {cpu:.1f} s CPU, {cpu / one.cpu:.2f}x; same bits: {rows(out) == wanted}")
        if importlib.util.find_spec("distributed"):
            on_dask(command, folder, wanted, two, options.kills)
            at_url(command, folder, wanted)
        else:
            print("Dask is not installed: pip install 'jali-audit[dask]'")


if __name__ == "__main__":
    main()
