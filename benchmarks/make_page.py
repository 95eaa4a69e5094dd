"""Run all benchmarks and write docs/benchmarks.md: `make bench`. Each number is a ratio within one run of one script.

python benchmarks/make_page.py              # about a quarter of an hour on two idle cores
python benchmarks/make_page.py --long       # hours: everything at full size
python benchmarks/make_page.py --small --only engines growth --out /tmp/page.md    # does it run at all?
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import re
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from measure import TOO_LONG, Used, used

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
# In the order in which they are wanted where time is short; what is not named comes after these.
FIRST = (
    "audit",
    "attack",
    "engines",
    "growth",
    "sacroml",
    "old_default",
    "lira",
    "attributions",
    "mlp",
    "recourse",
    "nice",
    "peers",
)
SLOW = ("coverage", "mutual", "vision", "surrogates", "lore", "pycanon")  # minutes to hours each
SIZED = ("engines", "growth", "attack")  # these know --small; growth and attack know --long
LIMIT = 240.0  # seconds of one script, unless --long
LIMITS = {
    "engines": 600.0,
    "growth": 360.0,
    "audit": 360.0,
    "sacroml": 900.0,
    "old_default": 600.0,
    "attack": 600.0,
}  # of those that need more
INTRODUCTION = """# Benchmarks

This page is generated: `make bench` runs the scripts in `benchmarks/` and writes it. Compare numbers only within a
section: both sides of a ratio ran in the same minutes on the same machine. CPU time is that of all processes of a
script; memory is that of its largest process.
"""


def processor() -> str:
    """The name of the processor."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown processor"


def memory() -> str:
    """The memory of the machine."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"


def versions() -> str:
    """Versions of what computes."""
    out = [f"Python {platform.python_version()}"]
    for name in ("numpy", "scipy", "scikit-learn", "joblib", "torch", "distributed", "fsspec", "psutil"):
        try:
            out.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            out.append(f"no {name}")
    return ", ".join(out)


def facts(busy: float) -> str:
    """What the numbers depend on; busy: the load when the run began."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    day = datetime.now(UTC).date().isoformat()
    lines = [f"- {day}, {platform.system()} {platform.machine()}, {processor()}, {cores} cores, {memory()}"]
    lines += [f"- {versions()}", f"- load when the run began: {busy:.1f}"]
    return "\n".join(lines)


def title(path: Path) -> str:
    """The first sentence of a script's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or path.stem
    return " ".join(text.split("\n\n")[0].split())


def section(path: Path, found: Used) -> str:
    """One script: what it says, and what it took."""
    said = "\n".join(line.rstrip() for line in found.said.strip().splitlines()[-60:])
    ended = {0: "", TOO_LONG: f" Stopped at its limit of {found.wall:.0f} s: run `make bench-long`."}
    note = ended.get(found.code, f" **It failed** (exit code {found.code}).")
    heading = path.stem.removeprefix("bench_").replace("_", " ").capitalize()
    return f"## {heading}\n\n{title(path)}\n\n```text\n{said}\n```\n\nThe script took {found.line()}.{note}\n"


def name_of(path: Path) -> str:
    return path.stem.removeprefix("bench_")


def chosen(only: list[str], everything: bool) -> tuple[list[Path], list[Path]]:
    """The scripts to run, in order, and those that are left out."""
    paths = {name_of(path): path for path in sorted(HERE.glob("bench_*.py"))}
    if only:
        return [paths[name] for name in only], []
    order = [*FIRST, *(name for name in paths if name not in FIRST)]
    run = [paths[name] for name in order if name in paths and (everything or name not in SLOW)]
    return run, [path for path in paths.values() if path not in run]


def python_for(path: Path) -> str:
    """The interpreter of a script: engines have an environment of their own, with Dask."""
    own = HERE.parent / f".venv-{name_of(path)}" / "bin" / "python"
    return str(own) if name_of(path) == "engines" and own.exists() else sys.executable


def flags(path: Path, options: argparse.Namespace) -> list[str]:
    """The flags that a script knows."""
    if name_of(path) not in SIZED:
        return []
    found = ["--small"] if options.small else []
    if options.long:
        found += ["--kills", "10"] if name_of(path) == "engines" else ["--long"]
    return found


def main() -> None:
    """Run the scripts one after the other; the page is written again after each, so that nothing is lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="small sizes, where a script has them")
    parser.add_argument("--long", action="store_true", help="all scripts at full size, without limits")
    parser.add_argument("--minutes", type=float, default=12.0, help="begin no script after this time")
    parser.add_argument("--only", nargs="*", default=[], help="names of scripts, without bench_")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    began = time.monotonic()
    head = f"{INTRODUCTION}\n{facts(os.getloadavg()[0])}\n"
    sections: list[str] = []
    run, left = chosen(options.only, options.long)
    failed = []
    for path in run:
        gone = time.monotonic() - began
        if not options.long and gone > 60 * options.minutes:
            left.append(path)
            continue
        print(f"{gone / 60:5.1f} min  {path.name}", flush=True)
        limit = 100 * 3600.0 if options.long else LIMITS.get(name_of(path), LIMIT)
        found = used([python_for(path), str(path), *flags(path, options)], limit, {"OMP_NUM_THREADS": "1"})
        sections.append(section(path, found))
        failed += [path.name] if found.code not in (0, TOO_LONG) else []
        later = ", ".join(f"`{p.name}`" for p in left)
        tail = f"## Not run\n\nFor want of time: {later}. `make bench-long` runs them.\n" if left else ""
        options.out.write_text("\n".join([head, *sections, tail]).rstrip() + "\n")
    print(f"{(time.monotonic() - began) / 60:5.1f} min  {options.out}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
