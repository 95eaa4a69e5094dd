"""Engines: one audit on processes, on a Dask cluster over TCP, in shards and with a store at a URL; same bits, kills.

Time is compared on the larger of two audits, once; kills, shards and stores take the smaller one, so that ten kills
take minutes. Ctrl-C and one study of a paper are tried on Dask, too.

python benchmarks/bench_engines.py            # all, with three kills of each kind
python benchmarks/bench_engines.py --kills 10
python benchmarks/bench_engines.py --only interrupt study
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import Used, jali

STEPS = ["time", "dask", "processes", "shards", "kills", "interrupt", "study", "url"]
ON_DASK = {"dask", "kills", "interrupt", "study", "url"}
TINY = ["--data", "lending(n=300)", "--game", "rotate(models=6)", "--explain", "none"]
SMALL = ["--data", "lending(n=1500)", "--game", "rotate(models=6)", "--explain", "input_x_gradient"]
USUAL = ["--data", "lending(n=3000)", "--game", "rotate(models=16)", "--explain", "input_x_gradient"]
STUDY = ["pawelczyk2022", "--only", "linear-1000"]  # made-up data and no torch: it runs wherever Dask does


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
        self.lost = 0

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        return self._start("worker", f"tcp://{self.address}", "--nthreads", "1", "--no-nanny", "--memory-limit", "0")

    def lose_one(self) -> None:
        """Kill a worker, and start another one, as a batch system would."""
        self.lost += 1
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
    print(f"{label}: {found.line()}{extra}", flush=True)


def timed_on_dask(command: list[str], folder: Path, wanted: str, base: Used) -> None:
    """Efficiency and bytes on a cluster, beside two processes."""
    with cluster() as there:
        time.sleep(3)
        before = there.cpu(), loopback()
        out = folder / "dask-timed"
        found = jali("audit", *command, "--engine", f"dask://{there.address}", "--out", str(out))
        moved = (loopback() - before[1]) / 1e6
        cpu = there.cpu() - before[0] + found.cpu
        report("Dask, two workers over TCP", found, f"; with scheduler and workers {cpu:.1f} s CPU")
        print(f"  wall {found.wall / base.wall:.2f}x and CPU {cpu / base.cpu:.2f}x that of two processes; ", end="")
        print(f"{moved:.1f} MB over loopback; same bits: {rows(out) == wanted}", flush=True)


def killed_on_dask(command: list[str], folder: Path, wanted: str, kills: int) -> None:
    """Workers of a cluster are killed at random moments of the audit; another one starts in their place."""
    same = 0
    with cluster() as there:
        time.sleep(3)
        found = jali("audit", *command, "--engine", f"dask://{there.address}", "--out", str(folder / "dask"))
        print(f"  a smaller audit on Dask: {found.line()}; same bits: {rows(folder / 'dask') == wanted}", flush=True)
        for k in range(kills):
            out = folder / f"dask-{k}"
            timer = threading.Timer(random.uniform(0.2, 0.9) * found.wall, there.lose_one)
            timer.start()
            jali("audit", *command, "--engine", f"dask://{there.address}", "--out", str(out))
            timer.cancel()
            same += rows(out) == wanted
        hit = there.lost
    print(
        f"  a worker killed (-9) at a random moment: same bits in {same} of {kills}, {hit} during the run", flush=True
    )


def left_on_scheduler(address: str) -> int:
    """How many tasks a scheduler still knows."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def heed() -> None:
    """Heed Ctrl-C again: what a shell starts in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted_on_dask(command: list[str], folder: Path) -> None:
    """Ctrl-C while workers of a cluster are busy: the run ends, and nothing of it is left on the scheduler."""
    with cluster() as there:
        time.sleep(3)
        words = ["--engine", f"dask://{there.address}", "--out", str(folder / "interrupted")]
        process = subprocess.Popen(
            [sys.executable, "-m", "jali", "audit", *command, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=heed,  # noqa: PLW1509 (no threads here)
        )
        busy = 0
        while not busy and process.poll() is None:
            busy = left_on_scheduler(there.address)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].decode().strip().splitlines()
        until = time.monotonic() + 30
        while (left := left_on_scheduler(there.address)) and time.monotonic() < until:
            time.sleep(0.2)
    print(f"  Ctrl-C with {busy} tasks on the cluster: exit code {process.returncode}, ", end="")
    print(f"{left} tasks left there; it said: {said[-1] if said else '(nothing)'}", flush=True)


def timeless(value: Any) -> Any:
    """Results without what no seed repeats: times, hours foretold from them, and memory.

    >>> timeless({"auc": 0.5, "studies": [{"seconds": 3, "value": 1}]})
    {'auc': 0.5, 'studies': [{'value': 1}]}
    """
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if not isinstance(value, dict):
        return value
    measured = ("seconds", "timings", "hours", "memory_mb")
    return {name: timeless(item) for name, item in value.items() if name not in measured}


def study_on_dask(folder: Path) -> None:
    """One study of a paper at the smallest scale, on processes and on a cluster."""
    found: list[dict[str, Any]] = []
    with cluster() as there:
        time.sleep(3)
        for engine in ("processes", f"dask://{there.address}"):
            out = folder / f"study-{len(found)}"
            jali("reproduce", *STUDY, "--workers", "2", "--engine", engine, "--out", str(out))
            found.append(json.loads((out / f"{STUDY[0]}.json").read_text()))
    same = timeless(found[0]) == timeless(found[1])
    print(f"  a study of {STUDY[0]} on Dask: same bits as on processes: {same}", flush=True)


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
            report("Dask, no shared folder, store at an FTP server", found, f"; same bits: {rows(out) == wanted}")
    finally:
        server.kill()
        server.wait()


def timed(command: list[str], folder: Path) -> tuple[str, Used]:
    """The audit whose time is compared: on one process, on two, and again from what is in the store."""
    one = jali("audit", *command, "--workers", "1", "--out", str(folder / "one"))
    report("one process", one)
    wanted = rows(folder / "one")
    two = jali("audit", *command, "--workers", "2", "--out", str(folder / "two"))
    report("two processes", two, f"; same bits: {rows(folder / 'two') == wanted}")
    again = jali("audit", *command, "--workers", "2", "--out", str(folder / "two"))
    same = rows(folder / "two") == wanted
    report("the same again", again, f"; {again.cpu / two.cpu:.2f}x the CPU; same bits: {same}")
    return wanted, two


def shards(command: list[str], folder: Path, wanted: str, whole: Used) -> None:
    """The audit in pieces that know nothing of each other, then merged."""
    for many in (1, 3, 7):
        out = folder / f"shards-{many}"
        shared = ["--workers", "1", "--out", str(out)]
        parts = [jali("audit", *command, "--shard", f"{k}/{many}", *shared) for k in range(1, many + 1)]
        parts.append(jali("merge", str(out), "--workers", "1"))
        cpu = sum(part.cpu for part in parts)
        print(f"{many} shards: {cpu:.1f} s CPU, {cpu / whole.cpu:.2f}x; same bits: {rows(out) == wanted}", flush=True)


def killed(command: list[str], folder: Path, wanted: str, kills: int, wall: float) -> None:
    """Processes of an audit are killed at random moments; wall: the seconds that it takes otherwise."""
    hit = same = 0
    for k in range(kills):
        out = folder / f"killed-{k}"
        hit += killed_processes(command, out, random.uniform(0.05, 0.6) * wall)
        same += rows(out) == wanted
    print(f"a process killed (-9) at a random moment: same bits in {same} of {kills}, {hit} with a hit", flush=True)


def main() -> None:
    """The chosen steps, each with the same audit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=STEPS, default=STEPS)
    options = parser.parse_args()
    random.seed(0)
    command, large = (TINY, TINY) if options.small else (SMALL, USUAL)
    only = set(options.only)
    if only & ON_DASK and not importlib.util.find_spec("distributed"):
        print("Dask is not installed: pip install 'jali-audit[dask]'", flush=True)
        only -= ON_DASK
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if only & {"time", "dask"}:
            of_large, base = timed(large, folder)
        if only - {"time", "dask"}:
            whole = jali("audit", *command, "--workers", "2", "--out", str(folder / "small"))
            wanted = rows(folder / "small")
            report("a smaller audit on two processes", whole)
        steps: dict[str, Callable[[], None]] = {
            "dask": lambda: timed_on_dask(large, folder, of_large, base),
            "processes": lambda: killed(command, folder, wanted, options.kills, whole.wall),
            "shards": lambda: shards(command, folder, wanted, whole),
            "kills": lambda: killed_on_dask(command, folder, wanted, options.kills),
            "interrupt": lambda: interrupted_on_dask(large, folder),
            "study": lambda: study_on_dask(folder),
            "url": lambda: at_url(command, folder, wanted),
        }
        for step, run in steps.items():
            if step in only:
                run()


if __name__ == "__main__":
    main()
