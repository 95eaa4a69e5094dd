"""Run all benchmarks and write docs/benchmarks.md: `make bench`. Each number is a ratio within one run of one script.

A section says when and where it was made. What is not run this time keeps the section that it has.

python benchmarks/make_page.py              # every section: about an hour on two idle cores
python benchmarks/make_page.py --minutes 12 # those for which there is time, the others keep what they have
python benchmarks/make_page.py --only lira logistic
python benchmarks/make_page.py --only attack --flags=--middle    # with words of the script's own
python benchmarks/make_page.py --long       # hours: the slow scripts as well, without limits
python benchmarks/make_page.py --small --only engines growth --out /tmp/page.md    # does it run at all?
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import re
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from measure import TOO_LONG, Used, used

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
# Scripts that measure time, in the order in which they are wanted where time is short. The other scripts of this folder
# are experiments: whether intervals cover, attacks find and guarantees hold. Most of them take arguments, and hours.
SPEED = (
    "audit",
    "attack",
    "sacroml",
    "engines",
    "growth",
    "old_default",
    "text",
    "logistic",
    "lira",
    "attributions",
    "mlp",
    "recourse",
    "nice",
    "peers",
    "growing_spheres",
    "k_anonymous",
    "query_attacks",
    "tables",
    "private",
)
SLOW = ("vision", "surrogates", "lore", "pycanon")  # minutes to hours each
# A link into the page is a quotation of it: its text stands in the section that it leads to.
QUOTE = re.compile(r"\[([^\]]+)\]\(((?:docs/)?benchmarks\.md#([a-z-]+))\)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The page states these sizes, turns and kills, so that is what one command runs.
WORDS = {
    "attack": ["--long"],
    "growth": ["--long"],
    "engines": ["--kills", "10"],
    "sacroml": ["--turns", "3"],
}
SIZED = ("engines", "growth", "attack")  # these know --small
LIMIT = 240.0  # seconds of one script, unless --long
LIMITS = {
    "engines": 1800.0,
    "growth": 600.0,
    "audit": 360.0,
    "sacroml": 2400.0,
    "old_default": 900.0,
    "attack": 900.0,
}  # of those that need more
INTRODUCTION = """# Benchmarks

This page is generated: `make bench` runs the scripts in `benchmarks/` and writes it. Compare numbers only within a
section: both sides of a ratio ran in the same minutes on the same machine. CPU time is that of all processes of a
script; memory is that of its largest process. Each section says when and where it was made; a load well above the
number of cores lengthens wall time, and CPU time a little.
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
    """What the numbers depend on; busy: the load when the script began."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    day = datetime.now(UTC).date().isoformat()
    machine = f"{platform.system()} {platform.machine()}, {processor()}, {cores} cores, {memory()}"
    return f"{day}, {machine}, load {busy:.1f} when it began. {versions()}."


def title(path: Path) -> str:
    """The first sentence of a script's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or path.stem
    return " ".join(text.split("\n\n")[0].split())


def heading(name: str) -> str:
    """The heading of a script's section."""
    return name.replace("_", " ").capitalize()


def section(path: Path, found: Used, busy: float) -> str:
    """One script: what it says, what it took, and where."""
    said = "\n".join(line.rstrip() for line in found.said.strip().splitlines()[-60:])
    ended = {0: "", TOO_LONG: f" Stopped at its limit of {found.wall:.0f} s: run `make bench-long`."}
    note = ended.get(found.code, f" **It failed** (exit code {found.code}).")
    text = f"## {heading(name_of(path))}\n\n{title(path)}\n\n```text\n{said}\n```\n\n"
    return f"{text}The script took {found.line()}.{note}\n\n{facts(busy)}\n"


def sections(page: str) -> dict[str, str]:
    """The sections of a page by their headings."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {part.split("\n")[0].removeprefix("## "): part.rstrip() + "\n" for part in parts}


def page(kept: dict[str, str]) -> str:
    """The whole page, in the order in which scripts are run; at its end, what has no section yet."""
    paths = chosen([], True)
    there = [path for path in paths if heading(name_of(path)) in kept]
    missing = ", ".join(f"`{path.name}`" for path in paths if path not in there)
    tail = f"## Not run\n\nFor want of time: {missing}. `make bench-long` runs them.\n" if missing else ""
    return "\n".join([INTRODUCTION, *(kept[heading(name_of(path))] for path in there), tail]).rstrip() + "\n"


def anchored(kept: dict[str, str]) -> dict[str, str]:
    """The sections, each on one line, by the anchors of their headings."""
    return {name.lower().replace(" ", "-"): " ".join(text.split()) for name, text in kept.items()}


def requoted(text: str, kept: dict[str, str]) -> str:
    """A page whose quotations have the numbers of today.

    One whose words are no longer there, or stand in several places, stays as it is: a test finds it.

    >>> requoted("It takes [2.5x](benchmarks.md#lira).", {"Lira": "## Lira jali 1 s, loop 93x"})
    'It takes [93x](benchmarks.md#lira).'
    >>> requoted("It takes [2.5x](benchmarks.md#lira).", {"Lira": "## Lira forest 3x, network 93x"})
    'It takes [2.5x](benchmarks.md#lira).'
    """
    said = anchored(kept)

    def today(quote: re.Match[str]) -> str:
        words = " ".join(quote[1].split())
        pattern = NUMBER.pattern.join(re.escape(part) for part in NUMBER.split(words))
        places = re.findall(rf"(?<![\d.,]){pattern}", said.get(quote[3], ""))
        return f"[{places[0]}]({quote[2]})" if len(places) == 1 and words not in said[quote[3]] else quote[0]

    return QUOTE.sub(today, text)


def requote(kept: dict[str, str]) -> None:
    """Bring the quotations of the README and all pages up to date."""
    for path in (*PAGE.parent.glob("*.md"), PAGE.parent.parent / "README.md"):
        before = path.read_text()
        after = requoted(before, kept)
        if after != before:
            path.write_text(after)
            print(f"quotations brought up to date: {path.name}")


def name_of(path: Path) -> str:
    return path.stem.removeprefix("bench_")


def chosen(only: Sequence[str], everything: bool) -> list[Path]:
    """The scripts to run, in order: some by name, all that measure time, or these without the slow ones."""
    names = only or (*SPEED, *(SLOW if everything else ()))
    return [HERE / f"bench_{name}.py" for name in names]


def python_for(path: Path) -> str:
    """The interpreter of a script: engines have an environment of their own, with Dask."""
    own = HERE.parent / f".venv-{name_of(path)}" / "bin" / "python"
    return str(own) if name_of(path) == "engines" and own.exists() else sys.executable


def flags(path: Path, options: argparse.Namespace) -> list[str]:
    """The flags that a script knows."""
    name = name_of(path)
    if options.flags:
        return shlex.split(options.flags)
    if options.small:
        return ["--small"] if name in SIZED else []
    return WORDS.get(name, [])


def main() -> None:
    """Run the scripts one after the other; the page is written again after each, so that nothing is lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="small sizes, where a script has them")
    parser.add_argument("--long", action="store_true", help="the slow scripts as well, and no limits")
    parser.add_argument("--minutes", type=float, default=120.0, help="begin no script after this time")
    parser.add_argument("--patience", type=float, default=1.0, help="multiplies all limits; for a busy machine")
    parser.add_argument("--only", nargs="*", default=[], help="names of scripts, without bench_")
    parser.add_argument("--flags", default="", help="words for the scripts named by --only, in place of the usual ones")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.flags and not options.only:
        parser.error("--flags needs --only: no two scripts know the same words")
    began = time.monotonic()
    kept = sections(options.out.read_text()) if options.out.exists() else {}
    run = chosen(options.only, options.long)
    failed = []
    for path in run:
        gone = time.monotonic() - began
        if not options.long and gone > 60 * options.minutes * options.patience:
            print(f"{gone / 60:5.1f} min  no time for {path.name}; it keeps its section")
            continue
        print(f"{gone / 60:5.1f} min  {path.name}", flush=True)
        limit = 100 * 3600.0 if options.long else options.patience * LIMITS.get(name_of(path), LIMIT)
        busy = os.getloadavg()[0]
        found = used([python_for(path), str(path), *flags(path, options)], limit, {"OMP_NUM_THREADS": "1"})
        kept[heading(name_of(path))] = section(path, found, busy)
        failed += [path.name] if found.code not in (0, TOO_LONG) else []
        options.out.write_text(page(kept))
    if options.out == PAGE:
        requote(kept)
    print(f"{(time.monotonic() - began) / 60:5.1f} min  {options.out}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
