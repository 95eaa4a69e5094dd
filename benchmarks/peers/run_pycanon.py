"""k and l of released tables by pycanon: `python run_pycanon.py tables.json answers.json`, with its own python.

Reads tables as columns by name, each with its quasi-identifiers and one private column. Writes k-anonymity and
l-diversity of each as the package sees them, and its version.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found]


def main() -> None:
    tables = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out: dict[str, object] = {"version": version("pycanon")}
    for name, one in tables.items():
        table = pd.DataFrame(one["table"])
        k = anonymity.k_anonymity(table, one["quasi"])
        out[name] = (int(k), int(anonymity.l_diversity(table, one["quasi"], [one["private"]])))
    Path(sys.argv[2]).write_text(json.dumps(out), encoding="utf-8")


if __name__ == "__main__":
    main()
