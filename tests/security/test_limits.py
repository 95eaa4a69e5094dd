"""Disks that are full, limits of the system and folders one may not write to: one sentence, exit 2, nothing torn."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.commands import besides_progress

AUDIT = [
    "audit",
    "--data",
    "lending(n=200)",
    "--game",
    "rotate(models=4)",
    "--explain",
    "none",
    "--attack",
    "threshold",
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a disk or becomes somebody else")


def jali(
    words: list[str], out: Path, before: Callable[[], None] | None = None, first: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """A command as somebody types it; before: what the process does to itself, first: what starts it."""
    command = [*first, sys.executable, "-m", "jali", *words, "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=before, cwd=out.parent)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but the store's."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an earlier run."""
    out = tmp_path_factory.mktemp("earlier") / "out"
    done = jali([*AUDIT, "--workers", "1"], out)
    assert done.returncode == 0, done.stderr
    return out


def one_sentence(found: subprocess.CompletedProcess[str]) -> bool:
    """Whether a command said one sentence and nothing else on standard error."""
    said = besides_progress(found.stderr.strip())
    return len(said) == 1 and said[0].startswith("Error: ") and "Traceback" not in said[0]


def fails_whole(earlier: Path, out: Path, before: Callable[[], None] | None, workers: str = "1") -> str:
    """Run another audit over an earlier one under a limit: it says one sentence and leaves the files; the sentence."""
    kept = contents(out)
    found = jali([*AUDIT, "--seed", "7", "--workers", workers], out, before)
    assert found.returncode == 2, (found.returncode, found.stderr)
    assert one_sentence(found), found.stderr
    assert contents(out) == kept == contents(earlier)
    assert not list(out.rglob("*.part"))
    return found.stderr


@linux
@pytest.mark.parametrize("largest", [False, True])
def test_a_limit_of_the_size_of_files(earlier, tmp_path, largest):
    """First the store cannot be written, then only the largest of the results cannot, while the others could."""
    out = Path(shutil.copytree(earlier, tmp_path / "out"))
    size = max(map(len, contents(out).values())) * 3 // 4 if largest else 100

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    assert "Cannot write" in fails_whole(earlier, out, limited)


@linux
@root
@pytest.mark.parametrize("kilobytes", [0, 60])
def test_a_full_disk(earlier, tmp_path, kilobytes):
    """A small disk with the earlier run on it, and so many kilobytes left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "jali", str(disk)], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        out = Path(shutil.copytree(earlier, disk / "out"))
        free = shutil.disk_usage(disk).free
        (disk / "filling").write_bytes(bytes(free - 1024 * kilobytes - 4096))
        with (disk / "filling").open("ab") as file:
            file.write(b"")
        assert "Cannot write" in fails_whole(earlier, out, None)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@linux
def test_a_limit_of_open_files(earlier, tmp_path):
    """Two workers need pipes."""
    out = Path(shutil.copytree(earlier, tmp_path / "out"))
    said = fails_whole(earlier, out, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14)), workers="2")
    assert "Too many open files" in said


@linux
def test_a_limit_of_memory(earlier, tmp_path):
    """3 GB of addresses are enough to start, and not for a table of 4 million rows."""
    out = Path(shutil.copytree(earlier, tmp_path / "out"))
    kept = contents(out)
    words = ["audit", "--data", "linear_gaussian(n=4000000, d=200)", "--explain", "none", "--workers", "1"]
    found = jali(words, out, lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)))
    assert found.returncode == 2, (found.returncode, found.stderr)
    assert one_sentence(found), found.stderr
    assert contents(out) == kept


@linux
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_folder_that_one_may_not_write_to(earlier, tmp_path, workers):
    """As a user without privileges; where root runs the tests, all of them are dropped."""
    out = Path(shutil.copytree(earlier, tmp_path / "out"))
    kept = contents(out)
    first: list[str] = []
    if os.geteuid() == 0:
        first = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        if shutil.which("setpriv") is None:
            pytest.skip("privileges cannot be dropped here")
    out.chmod(0o555)
    found = jali([*AUDIT, "--workers", workers], out, first=first)
    out.chmod(0o755)
    assert found.returncode == 2, (found.returncode, found.stderr)
    assert one_sentence(found), found.stderr
    assert "not writable" in found.stderr
    assert contents(out) == kept
