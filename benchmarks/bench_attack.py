"""`jali attack` on files of evidence, from a small one to 200,000 records x 256 models: CPU, wall and memory.

python benchmarks/bench_attack.py           # the small file and a tenth of the middle one
python benchmarks/bench_attack.py --middle  # 50,000 x 128 x 6, too
python benchmarks/bench_attack.py --long    # and 200,000 x 256 x 2
python benchmarks/bench_attack.py --size 50000 128 6
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measure import jali, used

TURNS = 5  # of a small file, whose median is given
FEW = 1_000_000  # cells
PASS = "import sys, numpy as np; a = np.load(sys.argv[1]); [a[n].mean() for n in a.files]"


def write(path: Path, records: int, models: int, signals: int) -> None:
    """Plain arrays as other tools write them: membership, and one array per signal."""
    rng = np.random.default_rng(0)
    member = rng.random((records, models)) < 0.5
    arrays: dict[str, Any] = {"member": member}
    for s in range(signals):
        arrays[f"s{s}"] = (rng.normal(size=(records, 1)) + 0.3 * member + rng.normal(size=member.shape)).astype("f4")
    np.savez(path, **arrays)


def main() -> None:
    """Each file beside one pass over its arrays."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--middle", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--size", type=int, nargs=3, metavar=("RECORDS", "MODELS", "SIGNALS"))
    options = parser.parse_args()
    sizes = [(2000, 16, 2)] if options.small else [(2000, 16, 2), (5000, 128, 6)]
    if options.middle or options.long:
        sizes += [(50_000, 128, 6)]
    if options.long:
        sizes += [(200_000, 256, 2)]
    if options.size:
        sizes = [tuple(options.size)]
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            path = Path(name) / "evidence.npz"
            write(path, *size)
            once = used([sys.executable, "-c", PASS, str(path)])
            records, models, signals = size
            turns = TURNS if records * models * signals < FEW else 1
            runs = [
                jali("attack", str(path), "--out", str(Path(name) / f"out {k}"), limit=7200.0) for k in range(turns)
            ]
            found = sorted(runs, key=lambda run: run.cpu)[turns // 2]
            shutil.rmtree(Path(name) / "out 0")  # what is stored of large files is large
            print(f"{records:,} records x {models} models x {signals} signals: {found.line()}; ", end="")
            print(f"{found.cpu / once.cpu:.0f}x the CPU of Python reading the file once ({once.cpu:.2f} s)")
            path.unlink()


if __name__ == "__main__":
    main()
