"""Runs that are killed at random moments, and started again: `python -m tests.security.kills 50 20`.

The first number: SIGKILL of a run with two workers. The second: SIGTERM. After each the same command must give the same
numbers as a run that nobody disturbed, and nothing may be left: after SIGTERM at once (ten seconds are allowed), after
SIGKILL no process after ten seconds, and no file after the next start.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.test_stopping import alive, shared

AUDIT = ("--data", "lending(n=200)", "--game", "rotate(models=6)", "--explain", "none", "--attack", "threshold")
LEFT = 10.0  # seconds in which everything must be gone
MOVING = ("date", "timings", "facts")  # of results: what two runs of the same audit may differ in


@dataclass
class Runs:
    """Audits in a folder of their own, with everything they may leave behind in sight."""

    folder: Path
    mark: str = field(default_factory=lambda: f"mark-{uuid.uuid4().hex}")

    def __post_init__(self) -> None:
        self.temporary.mkdir(parents=True, exist_ok=True)

    @property
    def temporary(self) -> Path:
        """The temporary folder of the runs."""
        return self.folder / "tmp"

    @property
    def out(self) -> Path:
        """Where they write to."""
        return self.folder / "out"

    def start(self) -> subprocess.Popen[bytes]:
        """Start an audit with two workers, in a session of its own."""
        command = [sys.executable, "-m", "jali", "audit", *AUDIT, "--workers", "2", "--out", str(self.out)]
        environment = os.environ | {"TMPDIR": str(self.temporary), "MARK": self.mark, "PYTHONSAFEPATH": ""}
        with (self.folder / "said").open("w") as said:  # not a pipe, which a process left behind would keep open
            return subprocess.Popen(command, env=environment, start_new_session=True, stdout=said, stderr=said)

    def finished(self) -> str:
        """Run an audit to its end; its numbers."""
        if code := self.start().wait():
            raise AssertionError(f"a run ended with {code}: {(self.folder / 'said').read_text()[-500:]}")
        results = json.loads((self.out / "results.json").read_text())
        return json.dumps({name: value for name, value in results.items() if name not in MOVING}, sort_keys=True)

    def unfinished(self) -> list[str]:
        """Files below the folder that no finished run leaves."""
        return [str(path.name) for path in self.folder.rglob(".*.part")] + [p.name for p in self.temporary.iterdir()]


def until(gone: Callable[[], bool]) -> bool:
    """Whether something is gone within the time that is allowed."""
    end = time.monotonic() + LEFT
    while not gone() and time.monotonic() < end:
        time.sleep(0.1)
    return gone()


def killed(runs: Runs, number: int, after: float, numbers: str) -> list[str]:
    """Send a signal to a run after so many seconds, start it again, and say what was wrong."""
    shutil.rmtree(runs.out, ignore_errors=True)
    process = runs.start()
    with_workers = _waited(runs, process, after)
    while process.poll() is not None:  # it was quicker than the first one: an earlier moment
        shutil.rmtree(runs.out, ignore_errors=True)
        after /= 2
        process = runs.start()
        with_workers = _waited(runs, process, after)
    os.kill(process.pid, number)
    code = process.wait()
    wrong = []
    if not until(lambda: not alive(runs.mark)):
        wrong.append(f"processes are left: {alive(runs.mark)}")
    orderly = number == signal.SIGTERM and code != 0
    if orderly and not until(lambda: not shared(process.pid) and not runs.unfinished()):
        wrong.append(f"left after an orderly end: {shared(process.pid) + runs.unfinished()}")
    if runs.finished() != numbers:
        wrong.append("the numbers are others")
    if left := [name for name in shared(process.pid) if name.startswith("jali-")] + runs.unfinished():
        wrong.append(f"left after the next start: {left}")
    sys.stdout.write(f"{signal.Signals(number).name} after {after:5.1f} s, workers {with_workers}: {wrong or 'well'}\n")
    sys.stdout.flush()
    return wrong


def _waited(runs: Runs, process: subprocess.Popen[bytes], after: float) -> int:
    """Wait so many seconds, or until the run is over; how many workers it has then."""
    end = time.monotonic() + after
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    return sum("popen_loky" in words for words in alive(runs.mark))


def main(kills: int, terms: int, seed: int = 0) -> int:
    """Kill and stop so many runs; how many of them went wrong."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        runs = Runs(Path(folder))
        began = time.monotonic()
        numbers = runs.finished()
        lasts = time.monotonic() - began
        bad = 0
        order = [signal.SIGKILL] * kills + [signal.SIGTERM] * terms
        rng.shuffle(order)
        for number in order:
            bad += bool(killed(runs, number, rng.uniform(0.4, 1.0) * lasts, numbers))
    sys.stdout.write(f"{len(order) - bad} of {len(order)} runs went on with the same numbers and left nothing\n")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0) else 0)
