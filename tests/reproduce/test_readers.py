"""A reader with the paper in hand: each table and figure is one link away, and ten named cells of each paper are there.

`python -m tests.reproduce.test_readers` prints for each cell how many links and how many lines of the page lead to it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from jali.reproduce.schema import papers, read

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
# Item, row and column in the paper's words, and what is printed there.
CELLS = {
    "goethals2022": [
        ("Table 6", "Adult", "NCP", "0.0074"),
        ("Table 6", "CMC", "NCP", "0.0385"),
        ("Table 6", "German", "NCP", "0.2087"),
        ("Table 6", "Heart", "Pureness", "1.00"),
        ("Table 6", "Hospital", "Pureness", "0.9864"),
        ("Table 6", "Informs", "NCP", "0.0925"),
        ("Figure 4", "German, Mondrian", "NCP", "0.5283"),
        ("Figure 5", "CMC, Mondrian", "Pureness", "0.7018"),
        ("Figure 6", "k = 20", "CMC, NCP", "0.335"),
        ("Figure 6", "k = 30", "CMC, Pureness", "0.973"),
    ],
    "huang2023": [
        ("Table 1", "Baseline", "Heloc, train", "0.9046"),
        ("Table 1", "Baseline", "MNIST, test", "0.9393"),
        ("Table 1", "DPM, ε = 0.5", "Heloc, test", "0.5254"),
        ("Table 1", "DPM, ε = 1.0", "MNIST, train", "0.7317"),
        ("Table 2", "Baseline", "d = 100, test", "0.6799"),
        ("Table 2", "Baseline", "d = 7,000, test", "0.5215"),
        ("Table 2", "DPM, ε = 0.5", "d = 1,000, train", "0.4913"),
        ("Table 2", "DPM, ε = 0.5", "d = 5,000, test", "0.4953"),
        ("Table 2", "DPM, ε = 1.0", "d = 100, train", "0.5386"),
        ("Table 2", "DPM, ε = 1.0", "d = 7,000, train", "0.5244"),
    ],
    "huang2024": [
        ("Table 1", "IXG, TPR.01", "CIFAR-10, VAR-LRT", "0.1195"),
        ("Table 1", "SL, AUC", "SVHN, Thres.", "0.5456"),
        ("Table 2", "IXG, AUC", "CIFAR-10", "0.639"),
        ("Table 2", "SL, TPR.01", "SVHN", "0.077"),
        ("Table 3", "Loss LiRA", "TPR.001", "0.054"),
        ("Table 3", "L1-LRT", "TPR.01", "0.156"),
        ("Table 3", "L2-LRT", "AUC", "0.633"),
        ("Table 5", "CIFAR-10", "test", "0.96064"),
        ("Table 8", "CIFAR-10, ε = 2", "test", "0.96496"),
        ("Table 9", "IXG, AUC", "CIFAR-10, ε = 8", "0.5327"),
    ],
    "naretto2024": [
        ("Table 1", "Adult, R 1", "RF", "0.87"),
        ("Table 1", "SYNTH, F1 0", "TREPAN-NN", "0.89"),
        ("Table 2", "Adult, RF, Δ", "MIA: TREPAN", "0.05"),
        ("Table 2", "SYNTH, RF, F1", "LABELONLY: black box", "0.98"),
        ("Table 2", "BANK, NN, Δ", "MIA: DT", "0.42"),
        ("Table 3", "Adult, RF, F1", "LABELONLY: DT", "0.30"),
        ("Table 3", "BANK, NN, P", "ALOA: black box", "0.10"),
        ("Table 4", "Adult, R", "MIA: NN", "0.70"),
        ("Table 4", "BANK, Δ", "ALOA: RF", "-0.07"),
        ("Table 5", "SYNTH, Δ", "LABELONLY: RF", "0.00"),
    ],
    "pawelczyk2022": [
        ("Table 2", "A, AUC", "CFD SCFE", "0.4971"),
        ("Table 2", "H, AUC", "CFD-LRT C-CHVAE", "0.6789"),
        ("Table 2", "H, TPR (0.01)", "CFD-LRT GS", "0.0372"),
        ("Table 2", "D, BA", "CFD SCFE", "0.51"),
        ("Table 2", "D, TPR (0.1)", "CFD-LRT GS", "0.1181"),
        ("Table 3", "d = 100", "test", "0.951"),
        ("Table 3", "d = 7000", "train", "0.976"),
        ("Table 4", "d = 50, (b)", "test", "0.8748"),
        ("Table 4", "d = 150, (d)", "test", "0.9208"),
        ("Table 5", "H", "test", "0.6701"),
    ],
}
every = pytest.mark.parametrize("paper", papers())


def page(paper: str) -> list[str]:
    return (FOLDER / f"{paper}.md").read_text(encoding="utf-8").splitlines()


def place(item: str) -> str:
    return item.lower().replace(" ", "-")


def found(paper: str, item: str, row: str, column: str) -> tuple[str, int]:
    """The cell of a table, and how many lines below its heading it stands."""
    lines = page(paper)
    start = lines.index(f'<a id="{place(item)}"></a>')
    end = next((k for k in range(start + 1, len(lines)) if lines[k].startswith("<a id=")), len(lines))
    table = [k for k in range(start, end) if lines[k].startswith("|")]
    cells = {k: [text.strip() for text in lines[k].split("|")[1:-1]] for k in table}
    columns = cells[table[0]]
    line = next(k for k in table if cells[k][0] == row)
    return cells[line][columns.index(column)], line - start


@every
def test_every_table_and_figure_is_one_link_away_or_says_why_not(paper):
    lines = page(paper)
    for item in read(paper).contents:
        named = [line for line in lines if re.match(rf"\| (\[{item.name}\]|{item.name} \|)", line)]
        assert len(named) == 1, item.name
        if item.left_out:
            assert item.left_out in named[0]
        else:
            assert f"[{item.name}](#{place(item.name)})" in named[0]
            assert lines.count(f'<a id="{place(item.name)}"></a>') == 1


@every
def test_ten_named_cells_are_where_the_paper_has_them(paper):
    assert len(CELLS[paper]) == 10
    for item, row, column, printed in CELLS[paper]:
        text, _ = found(paper, item, row, column)
        first = text.replace("−", "-").replace("\u202f", " ").split("<br>")[0].split(" ±")[0].strip()
        assert first.lstrip("+") == printed, (item, row, column, text)
        assert any(mark in text for mark in "●◆○")


if __name__ == "__main__":
    for name, cells in CELLS.items():
        for item, row, column, printed in cells:
            lines = found(name, item, row, column)[1]
            sys.stdout.write(f"{name} | {item} | {row} | {column} | {printed} | 1 link, {lines} lines\n")
