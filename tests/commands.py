"""The command line, run in this process, and a paper that takes it a moment."""

from __future__ import annotations

import sys

import pytest

from jali import cli

PAPER = """
title = "small"
citation = "nobody"
[methods."loss"]
signal = "loss"
attack = "threshold"
[studies.s]
data = "lending(n=200)"
model = "logistic"
game = "rotate(models=4)"
methods = ["loss"]
"""


def jali(*words: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, output, errors of one command."""
    code = 0
    argv, sys.argv = sys.argv, ["jali", *map(str, words)]
    try:
        cli.main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.argv = argv
    out = capsys.readouterr()
    return code, out.out, out.err
