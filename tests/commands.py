"""The command line, run in this process, and a paper that takes it a moment."""

from __future__ import annotations

import re
import sys

import pytest

from jali import cli

# Runs commands one after the other in one process, as the console script does: Python starts in this file's folder.
SCRIPT = """
import json, sys
from jali.cli import main
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["jali", *words]
    try:
        main()
        codes.append(0)
    except SystemExit as stop:
        codes.append(stop.code or 0)
sys.stdout.write("codes " + json.dumps(codes))
"""
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


PROGRESS = re.compile(r"[^:]+: [\d,]+ of [\d,]+, (about \d+ s left|took \d+ s)$")


def besides_progress(errors: str) -> list[str]:
    """The lines of standard error without those that tell how far a slow run is.

    >>> besides_progress("attacking: 3 of 12, about 90 s left\\nError: no.")
    ['Error: no.']
    """
    return [line for line in errors.splitlines() if not PROGRESS.match(line)]


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
