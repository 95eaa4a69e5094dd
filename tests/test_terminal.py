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

import numpy as np
import pytest

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


def test_the_screen_knows_what_a_bar_does():
    bar = "Report: x\r\n\x1b[?25lworking ━━  50 %\r\x1b[2K\x1b[1A\x1b[2K\x1b[?25h"
    assert Screen(80).feed(bar).text() == []
    assert Screen(4).feed("abcdef\r\nx").text() == ["abcd", "ef", "x"]
    assert Screen(80).feed("abc\rx\x1b[K").text() == ["x"]
