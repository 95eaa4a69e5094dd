"""A run that is told to stop leaves nothing behind: no process, no shared memory, no half-written file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from jali import stopping, store

PROCESSES, SHARED = Path("/proc"), Path("/dev/shm")
linux = pytest.mark.skipif(not (PROCESSES.is_dir() and SHARED.is_dir()), reason="looks into /proc and /dev/shm")
LONG = ["--data", "linear_gaussian(n=1500, d=100)", "--game", "rotate(models=300)", "--explain", "none"]


def alive(mark: str) -> list[str]:
    """Processes that were started with a mark in their surroundings."""
    found = []
    for folder in PROCESSES.iterdir():
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except (OSError, ValueError):  # gone, somebody else's, or no process
            continue
    return found


def shared(process: int) -> list[str]:
    """What a process keeps in shared memory: folders of tables, and semaphores."""
    return [path.name for path in SHARED.iterdir() if f"_{process}_" in path.name or f"-{process}-" in path.name]


def waited(ready, process: subprocess.Popen[bytes]) -> None:
    while not ready() and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None


@pytest.fixture(autouse=True)
def _signals_are_heeded():
    """Where tests are started in the background, the shell has Ctrl-C ignored, here and in every process."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in stopping.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@linux
@pytest.mark.parametrize(("number", "everybody"), [(signal.SIGTERM, False), (signal.SIGINT, True)])
def test_a_signal_ends_a_run_in_order(number, everybody, tmp_path):
    out, said, temporary, mark = tmp_path / "out", tmp_path / "said", tmp_path / "tmp", f"mark-{uuid.uuid4().hex}"
    temporary.mkdir()
    surroundings = os.environ | {"TMPDIR": str(temporary), "MARK": mark}
    command = [sys.executable, "-m", "jali", "audit", *LONG, "--workers", "2", "--out", str(out)]
    with said.open("w") as file:  # not a pipe, which a process left behind would keep open
        process = subprocess.Popen(command, env=surroundings, start_new_session=True, stdout=file, stderr=file)
    waited(lambda: any(name.startswith("jali-") for name in shared(process.pid)), process)
    waited(lambda: len(list(out.rglob("store/*/*.npz"))) > 1, process)  # the blind check is there before any worker
    assert sum("popen_loky" in words for words in alive(mark)) == 2
    (os.killpg if everybody else os.kill)(process.pid, number)
    code = process.wait()
    for _ in range(500):  # those that look after shared memory end when they see that the run has ended
        if not alive(mark) and not shared(process.pid):
            break
        time.sleep(0.02)
    assert (alive(mark), shared(process.pid), list(temporary.iterdir())) == ([], [], [])
    assert (code, said.read_text()) == (128 + number, "Stopped; run the same command again to go on.\n")
    left = [path for path in out.rglob("*") if path.is_file() and path != out / "store" / "began"]
    assert left
    assert all(path.suffix == ".npz" and not path.name.startswith(".") for path in left)
    assert all(store.read_arrays(path) for path in left)


def test_what_workers_left_unfinished_is_removed_and_nothing_else(tmp_path):
    here = stopping.machine()
    names = [f".a.npz.{here}-{stopping.run()}.00ff.part", f".a.npz.{here}-1.00ff.part", "a.npz", ".hidden"]
    for name in names:
        (tmp_path / name).write_text("")
    store.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_each_of_these_signals_is_an_order_to_stop(number):
    before = signal.getsignal(number)
    with stopping.orderly(), pytest.raises(stopping.Stopped) as stop:
        signal.raise_signal(number)
    assert stop.value.number == number
    assert signal.getsignal(number) == before


def test_a_signal_waits_for_what_must_be_finished():
    """Also where another thread gets it, which does not block it."""
    steps = []
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()

    def work() -> None:
        with stopping.undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
            # The other thread gets it when it is its turn, which may be later on a busy machine.
            for _ in range(10_000):
                if stopping._waiting:
                    break
                time.sleep(0.001)
            steps.append("finished")
        steps.append("gone on")

    before = signal.getsignal(signal.SIGTERM)
    with stopping.orderly(), pytest.raises(stopping.Stopped) as stop:
        work()
    over.set()
    other.join()
    assert (steps, stop.value.number) == (["finished"], signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_signal_does_not_disturb_what_the_first_one_set_going():
    done = []

    def interrupted() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            done.append("cleaned")

    with stopping.orderly(), pytest.raises(stopping.Stopped):
        interrupted()
    assert done == ["cleaned"]


@linux
def test_a_worker_that_starts_when_its_run_is_gone_ends_at_once():
    """The run was killed while the worker was starting: it never sees the process that started it."""
    code = "import time\nfrom jali import stopping\nstopping.follow(1, 99999999)\ntime.sleep(60)\n"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=50).returncode == 1
