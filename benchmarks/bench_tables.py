"""Tables as users have them: what happens, how long it takes, and how much memory: `python benchmarks/bench_tables.py`.

Each table is a file that is read in a process of its own; memory is the peak above what the imports take, beside the
size of the table as float64. Small ones are audited as well (four models, one attack). Words choose some of the tables
by their names. Needs pyarrow for Parquet.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

AUDITED = 5000  # rows: larger tables are only read
LARGE = 10_000_000  # bytes
Columns = dict[str, Any]


def plain(n: int, numbers: int = 10, seed: int = 0) -> Columns:
    rng = np.random.default_rng(seed)
    out: Columns = {f"x{j}": rng.normal(size=n).round(4) for j in range(numbers)}
    out |= {"age": rng.integers(18, 90, n), "job": np.array(["cook", "clerk", "nurse"])[rng.integers(0, 3, n)]}
    return out | {"y": np.where(out["x0"] + rng.normal(size=n) > 0, "yes", "no")}


def dates(n: int) -> Any:
    return (np.datetime64("2020-01-01") + np.random.default_rng(1).integers(0, 900, n)).astype(str)


def with_gaps(values: Any) -> Any:
    return np.where(np.random.default_rng(2).random(len(values)) < 0.1, np.nan, values)


def rare(n: int, share: float) -> Any:
    return np.where(np.arange(n) < share * n, "fraud", "fine")


TABLES: dict[str, Callable[[], Columns]] = {
    "300 rows": lambda: plain(300),
    "200 columns": lambda: plain(2000, 198),
    "ids": lambda: {"customer_id": np.arange(2000), "name": [f"p{i}" for i in range(2000)], **plain(2000)},
    "dates": lambda: {"opened": dates(2000), **plain(2000)},
    "missing numbers and texts": lambda: (
        plain(2000) | {"x1": with_gaps(plain(2000)["x1"]), "job": ["cook", None] * 1000}
    ),
    "truth values": lambda: {"vip": np.arange(2000) % 3 == 0, **plain(2000)},
    "1 % positive": lambda: plain(2000) | {"y": rare(2000, 0.01)},
    "4 positives in 300": lambda: plain(300) | {"y": rare(300, 0.013)},
    "12 classes": lambda: plain(2000) | {"y": np.random.default_rng(3).integers(0, 12, 2000)},
    "a class for each row": lambda: plain(2000) | {"y": np.arange(2000)},
    "300 different texts": lambda: plain(2000) | {"job": [f"j{i % 300}" for i in range(2000)]},
    "300,000 rows": lambda: {"opened": dates(300_000), **plain(300_000, 17)},
    "1,000,000 rows": lambda: {"opened": dates(1_000_000), **plain(1_000_000, 17)},
}


def peak() -> float:
    """The most memory that this process had, in megabytes; what `resource` says is that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def one(path: str) -> None:
    """Read, and perhaps audit, one file; print what happened."""
    import jali
    from jali.core.errors import JaliError
    from jali.data.table import Table

    if path.endswith(".parquet"):
        import pyarrow.parquet  # noqa: F401
    before = peak()
    began = time.process_time()
    source = Table(path, "y")
    try:
        data = source.load()
        megabytes = peak() - before
        size = data.X.nbytes / 2**20
        said = f"read {len(data):,} × {data.X.shape[1]}"
        said += f", peak {megabytes:.0f} MB = {megabytes / size:.2f} tables" if size > 20 else ""
        if len(data) <= AUDITED:
            found = jali.audit(data=source, game="rotate(models=4)", attack=["threshold"], explain=["input_x_gradient"])
            said += f", audited: {len(found.results.rows)} rows, peak {peak() - before:.0f} MB"
        said += "".join(f"; {note}" for note in data.schema.notes)
    except JaliError as error:
        said = f"refused: {error}"
    print(f"{time.process_time() - began:5.1f} s  {said}")


def main(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, columns in TABLES.items():
            if words and not any(word in name for word in words):
                continue
            table = pd.DataFrame(columns())
            path = Path(folder) / "table.csv"
            table.to_csv(path, index=False)
            show(name, path)
            if len(table) > AUDITED:
                table.to_parquet(path.with_suffix(".parquet"))
                show(f"{name}, Parquet", path.with_suffix(".parquet"))


def show(name: str, path: Path) -> None:
    """What happens to one file, and for a large one the peak of `jali audit`, which refuses it or is not begun."""
    print(f"{name:28s} {_told('read', path)}", flush=True)
    if path.stat().st_size > LARGE:
        print(f"{'  jali audit':28s} {_told('audit', path)}", flush=True)


def _told(what: str, path: Path) -> str:
    command = [sys.executable, __file__, what, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def command(path: str) -> None:
    """The peak of what `jali audit` does with a file before it trains a model, above what the imports take."""
    import sklearn.ensemble  # noqa: F401

    from jali.api.audits import loaded
    from jali.audit.large import said_before
    from jali.config import checked
    from jali.core.errors import JaliError

    if path.endswith(".parquet"):
        import pyarrow.parquet  # noqa: F401
    before = peak()
    began = time.process_time()
    config = checked({"data": path, "target": "y", "model": "logistic", "explain": ["input_x_gradient"]})
    setup = loaded(config)
    try:
        said = said_before(setup)
    except JaliError as error:
        said = f"refused: {error}"
    size = setup.data.X.nbytes / 2**20
    megabytes = peak() - before
    spent = time.process_time() - began
    print(f"{spent:5.1f} s  peak {megabytes:.0f} MB = {megabytes / size:.2f} tables; {said.partition('.')[0]}")


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["audit"]):
        {"read": one, "audit": command}[sys.argv[1]](sys.argv[2])
    else:
        main(sys.argv[1:])
