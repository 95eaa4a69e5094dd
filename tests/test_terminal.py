"""What is left on a terminal: everything that was printed, and no progress bar."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from jali.api import from_config
from jali.audit.setup import Resources
from jali.config import Config
from jali.terminal import in_notebook, logged
from tests.commands import PAPER
from tests.screen import Screen


def shown(words: list[object], folder: Path, width: int, file: Path | None = None) -> list[str]:
    """The lines on a terminal of some width after a command; its output may go to a file instead."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    surroundings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
    out = end if file is None else os.open(file, os.O_WRONLY | os.O_CREAT)
    command = [sys.executable, "-m", "jali", *map(str, words)]
    process = subprocess.Popen(command, cwd=folder, stdin=end, stdout=out, stderr=end, env=surroundings)
    os.close(end)
    written = b""
    while True:
        try:
            some = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not some:
            break
        written += some
    os.close(terminal)
    if file is not None:
        os.close(out)
    assert process.wait() == int("verify" in command), written  # a claim that is refuted: 1
    assert b"\x1b[2K" in written or words[0] in ("list", "report"), "there was no bar to erase"
    return Screen(width).feed(written.decode()).text()


def evidence(folder: Path) -> str:
    rng = np.random.default_rng(0)
    member = rng.random((400, 8)) < 0.5
    np.savez(folder / "e.npz", member=member, loss=np.exp(rng.normal(size=(400, 8)) - 0.5 * member))
    return "e.npz"


QUICK = ["--game", "rotate(models=4)", "--attack", "threshold", "--workers", "1", "--explain", "none"]
# Each command once, here and below, on a narrow terminal or a wide one: the bars are the same for all of them.
COMMANDS = {
    "audit": ("audit", 80, ["--data", "lending(n=200)", *QUICK, "--out", "a"], "Report: a/report.html"),
    "audit, wider": ("audit", 100, ["--data", "lending(n=200)", *QUICK, "--out", "a"], "Report: a/report.html"),
    "reproduce": (
        "reproduce",
        120,
        ["paper.toml", "--scale", "standard", "--workers", "1", "--out", "c"],
        "Page: c/paper.html",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_last_line_stays_on_the_terminal(command, tmp_path):
    (tmp_path / "paper.toml").write_text(PAPER)
    name, width, words, last = COMMANDS[command]
    lines = shown([name, *words], tmp_path, width)
    assert lines[-1] == last
    assert no_bars(lines)


def test_the_verdict_stays_on_the_terminal(tmp_path):
    lines = shown(["verify", "laplace_recourse", "--draws", "100"], tmp_path, 80)
    assert any(verdict in "".join(lines[-3:]) for verdict in ("REFUTED", "NOT TESTABLE"))  # one line, folded
    assert no_bars(lines)


def no_bars(lines: list[str]) -> bool:
    return not any("━" in line and "%" in line for line in lines)


def test_reports_of_every_width_end_with_their_page(tmp_path):
    """The first screen of a finished run, printed again at 80, 100 and 120 columns, fits and ends with the report."""
    words = ["--data", "lending(n=200)", *QUICK, "--out", "a"]
    shown(["audit", *words], tmp_path, 120)
    for width in (80, 100, 120):
        lines = shown(["report", "a", "--tables"], tmp_path, width)
        assert lines[-1] == "Report: a/report.html"
        assert max(map(len, lines)) <= width


def test_output_to_a_file_goes_there_while_the_bars_are_on_the_terminal(tmp_path):
    words = ["attack", evidence(tmp_path), "--workers", "1", "--out", "b"]
    left = shown(words, tmp_path, 80, tmp_path / "said")
    assert (tmp_path / "said").read_text().splitlines()[-1] == "Report: b/report.html"
    assert left == []


def test_a_log_has_a_line_in_ten_seconds_and_one_at_the_end():
    clock = iter([0.0, 1.0, 9.0, 11.0, 12.0, 30.0]).__next__
    lines: list[str] = []
    step = logged(lines.append, clock)("attacking")
    for done in (0, 1, 2, 3, 4):
        step(done, 4)
    assert lines == ["attacking: 2 of 4, about 11 s left", "attacking: 4 of 4, took 30 s"]


def test_a_stage_of_seconds_says_nothing_in_a_log():
    clock = iter([0.0, 1.0, 2.0]).__next__
    lines: list[str] = []
    step = logged(lines.append, clock)("attacking")
    step(0, 1)
    step(1, 1)
    assert lines == []


class ZMQInteractiveShell:
    """The shell of a notebook's kernel, by its name."""


class Cell:
    """What a notebook shows below a cell, as it changes."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, data: dict[str, str], raw: bool, display_id: bool) -> Cell:
        assert raw
        assert display_id
        self.update(data, raw)
        return self

    def update(self, data: dict[str, str], raw: bool) -> None:
        assert raw
        self.shown.append(data["text/plain"])


def notebook(shell: object) -> tuple[Cell, ModuleType]:
    cell = Cell()
    module = ModuleType("IPython")
    vars(module).update(get_ipython=lambda: shell, display=SimpleNamespace(display=cell.display))
    return cell, module


def test_a_notebook_shows_the_stages_of_an_audit_and_then_nothing(monkeypatch):
    cell, module = notebook(ZMQInteractiveShell())
    monkeypatch.setitem(sys.modules, "IPython", module)
    small = {
        "data": "lending(n=120)",
        "model": "logistic",
        "game": "rotate(models=4)",
        "explain": [],
        "attack": ["threshold"],
    }
    from_config(Config(**small), Resources())
    assert any(line.startswith("training and explaining: 0 of") for line in cell.shown)
    assert any("\nattacking: " in line and "took" in line for line in cell.shown)
    assert cell.shown[-1] == ""


def test_a_shell_of_a_terminal_is_no_notebook(monkeypatch):
    cell, module = notebook(object())
    monkeypatch.setitem(sys.modules, "IPython", module)
    with in_notebook() as watch:
        assert watch is None
    assert cell.shown == []


def test_the_screen_knows_what_a_bar_does():
    bar = "Report: x\r\n\x1b[?25lworking ━━  50 %\r\x1b[2K\x1b[1A\x1b[2K\x1b[?25h"
    assert Screen(80).feed(bar).text() == []
    assert Screen(4).feed("abcdef\r\nx").text() == ["abcd", "ef", "x"]
    assert Screen(80).feed("abc\rx\x1b[K").text() == ["x"]
