"""Print how long files and functions are, and fail where one is over budget: `python tests/sizes.py`."""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path

FILE, FUNCTION = 400, 60


def report(line: str) -> None:
    """Write one line."""
    sys.stdout.write(f"{line}\n")


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    doc = ast.get_docstring(node, clean=False)
    return (node.end_lineno or node.lineno) - node.lineno + 1 - (doc.count("\n") + 1 if doc else 0)


def main(root: Path) -> int:
    """Measure every file below root; the number of files and functions over budget."""
    files, functions = [], []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        files.append((text.count("\n"), str(path.relative_to(root))))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.append((lines_of(node), f"{path.relative_to(root)}:{node.lineno} {node.name}"))
    for what, found, budget in (("files", files, FILE), ("functions", functions, FUNCTION)):
        sizes = sorted(n for n, _ in found)
        p90 = sizes[int(0.9 * (len(sizes) - 1))]
        longest = max(found)
        report(
            f"{what}: {len(found)}, median {statistics.median(sizes):.0f}, nine in ten <= {p90}, "
            f"longest {longest[0]} ({longest[1]}), budget {budget}"
        )
    over = [name for n, name in files if n > FILE] + [name for n, name in functions if n > FUNCTION]
    for name in over:
        report(f"over budget: {name}")
    return len(over)


if __name__ == "__main__":
    sys.exit(min(1, main(Path(__file__).parents[1] / "src" / "jali")))
