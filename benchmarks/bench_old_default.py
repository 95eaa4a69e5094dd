"""The former default audit (benchmarks/old_default.toml) in the code of that time and in today's, in turn; and again.

The old code is taken from the history of this repository, with `git archive`; both run in this environment. Today's
attacks do more: they learn on shadow models how to combine signals, and plant leaks to see what would have been found.

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
from pathlib import Path

from measure import Used, used

OLD = "5c44844"  # the last commit before the combined attack of today
HERE = Path(__file__).parent


def old_source(folder: Path) -> Path:
    """The source of that time, unpacked."""
    found = subprocess.run(["git", "archive", OLD, "src"], capture_output=True, cwd=HERE.parent, check=False)
    if found.returncode:
        sys.exit(f"The history has no commit {OLD} (a shallow clone?): {found.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def audit(source: Path, out: Path, workers: int) -> Used:
    """One run by the code in a folder."""
    words = ["-m", "jali", "audit", str(HERE / "old_default.toml"), "--workers", str(workers), "--out", str(out)]
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
    lines: dict[str, list[Used]] = {"code of that time": [], "today's": [], "today's, again": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = {"code of that time": old_source(folder), "today's": HERE.parent / "src"}
        for turn in range(options.turns):
            for label, source in sources.items():
                lines[label].append(audit(source, folder / f"{label} {turn}", options.workers))
            lines["today's, again"].append(audit(sources["today's"], folder / f"today's {turn}", options.workers))
    base = statistics.median(each.cpu for each in lines["code of that time"])
    for label, found in lines.items():
        cpu = statistics.median(each.cpu for each in found)
        wall = statistics.median(each.wall for each in found)
        peak = max(each.peak for each in found)
        print(f"{label}: {cpu:.1f} s CPU, {wall:.1f} s wall, {peak:.0f} MB; {base / cpu:.2f}x as fast in CPU")


if __name__ == "__main__":
    main()
