"""The former default audit (benchmarks/old_default.toml) in the code of that time and in today's, in turn; and again.

The old code is taken from the history of this repository, with `git archive`; both run in this environment. Today's
audit does more: it reads whole explanations, column by column, learns on shadow models how to combine them, and plants
leaks to see what would have been found. So it also runs with the single attacks of that time and a combined attack that
learns little, to show what the learning costs.

With two workers the old code shares its table in a way that other runs of today's code on the same machine take for
that of a killed run, and remove: so each has one.

python benchmarks/bench_old_default.py [--turns 3] [--workers 2]
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measure import Used, used

OLD = "5c44844"  # the last commit before the combined attack of today
HERE = Path(__file__).parent
SINGLES = ("threshold", "calibrated", "ratio", "offline_lrt", "lira", 'lira(spread="shrunken")')
SIMPLE = [word for name in (*SINGLES, "offline_joint") for word in ("--attack", name)]
THEN = "code of that time"
TODAY = "today's, everything"


def old_source(folder: Path) -> Path:
    """The source of that time, unpacked."""
    found = subprocess.run(["git", "archive", OLD, "src"], capture_output=True, cwd=HERE.parent, check=False)
    if found.returncode:
        sys.exit(f"The history has no commit {OLD} (a shallow clone?): {found.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def audit(source: Path, out: Path, workers: int, more: Sequence[str] = ()) -> Used:
    """One run by the code in a folder, with more words on its command line."""
    words = ["-m", "jali", "audit", str(HERE / "old_default.toml"), "--workers", str(workers), "--out", str(out)]
    words += more
    found = used([sys.executable, *words], limit=3600.0, more={"PYTHONPATH": str(source)})
    if found.code not in (0, 3):
        sys.exit(f"the audit in {source} ended with {found.code}: {found.said[-800:]}")
    return found


def main() -> None:
    """Both in turn, and today's once more from what is in its store."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    lines: dict[str, list[Used]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        today = HERE.parent / "src"
        runs: list[tuple[str, Path, str, list[str]]] = [
            (THEN, old_source(folder), "then", []),
            ("today's, single attacks of that time and offline_joint", today, "simple", SIMPLE),
            (TODAY, today, "today", []),
            (f"{TODAY}, again", today, "today", []),
        ]
        for turn in range(options.turns):
            for label, source, out, more in runs:
                found = audit(source, folder / f"{out} {turn}", options.workers, more)
                lines.setdefault(label, []).append(found)
    base = statistics.median(each.cpu for each in lines[THEN])
    for label, each_turn in lines.items():
        cpu = statistics.median(each.cpu for each in each_turn)
        wall = statistics.median(each.wall for each in each_turn)
        peak = max(each.peak for each in each_turn)
        print(f"{label}: {cpu:.1f} s CPU, {wall:.1f} s wall, {peak:.0f} MB; {base / cpu:.2f}x as fast in CPU")


if __name__ == "__main__":
    main()
