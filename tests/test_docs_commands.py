"""Commands in the documents: all are parsed with their options and parts, and those of the first pages are run."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

import jali as package
from jali.audit import queries
from jali.cli import app
from jali.core import registry
from jali.core.alternatives import written_out
from jali.games.rotate import Rotate
from tests.commands import jali

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPEN = re.compile(r"…|\$|<")  # commands with a gap are ideas
PARTS = {"--data": "data", "--model": "model", "--explain": "explain", "--game": "game", "--signal": "signal"}
OWN = re.compile(r"none$|[\w.]+:\w+|\S+\.(?:csv|parquet)$")  # files and parts of one's own


FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def fenced(page: Path) -> list[tuple[str, str]]:
    """Language and text of every block of code on a page; a fence that closes one block opens no other."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of every block of code in one language."""
    return [(page.name, text) for page in PAGES for name, text in fenced(page) if name == language]


def in_blocks() -> list[str]:
    """Every line of a block, or of an indented one, without its comment."""
    indented = [
        (page.name, line)
        for page in PAGES
        for line in re.findall(r"^    (jali .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    lines = [line for _, text in [*blocks(""), *indented] for line in text.replace("\\\n", " ").splitlines()]
    return sorted({re.sub(r"\s+#.*", "", line.strip()) for line in lines})


def in_text(*programs: str) -> list[str]:
    """Every command of these programs in a sentence, between backticks."""
    mark = re.compile(rf"`((?:{'|'.join(programs)}) [^`]*)`")
    texts = [re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL) for page in PAGES]
    return sorted({re.sub(r"\s+", " ", found) for text in texts for found in mark.findall(text)})


COMPLETE = [line for line in in_blocks() if line.startswith("jali ") and not OPEN.search(line)]


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and what is left of them."""
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words[0]]
        words = words[1:]
    return command, words


@pytest.mark.parametrize("line", COMPLETE)
def test_commands_in_blocks_are_parsed_as_the_command_line_parses_them(line):
    command, words = resolved(shlex.split(line)[1:])
    command.make_context(line, words)


@pytest.mark.parametrize("line", [line for line in COMPLETE if "--" in line])
def test_parts_that_commands_name_can_be_built(line):
    words = shlex.split(line)
    for option, value in itertools.pairwise(words):
        if option == "--attack":
            queries.by_kind([value])
        elif option in PARTS and not OWN.match(value):
            registry.build(PARTS[option], value)


@pytest.mark.parametrize("text", in_text("jali"))
def test_commands_in_sentences_exist_with_their_options(text):
    """They often lack what must be given, so they are not parsed."""
    command, words = resolved(text.replace("…", "").split()[1:])
    if hasattr(command, "commands"):
        assert not [word for word in words if re.match(r"[a-z]", word)], "no such command"
        return
    known = {name for option in command.params for name in option.opts} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known


def test_targets_of_make_scripts_and_extras_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for text in [*in_text("make", "python", "pip"), *in_blocks()]:
        words = text.split()
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), text
        if found := re.match(r"python (benchmarks/\w+\.py)", text):
            assert (ROOT / found[1]).is_file(), text
        if found := re.match(r"python -m (tests\.[\w.]+)", text):
            assert (ROOT / f"{found[1].replace('.', '/')}.py").is_file(), text
        if found := re.match(r"pip install '[\w.-]*\[(\w+)\]'", text):
            assert found[1] in extras, text


@pytest.mark.parametrize(("page", "text"), [(page, text) for page, text in blocks("python") if page != "api.md"])
def test_python_in_documents_calls_what_is_public_with_arguments_that_it_takes(page, text):
    written = re.sub(r"^ {0,4}(?=\S)", "", text, flags=re.MULTILINE) if text.startswith(" ") else text
    for node in ast.walk(ast.parse(written.replace("…", "..."))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if not isinstance(node.func.value, ast.Name) or node.func.value.id != "jali":
            continue
        assert node.func.attr in package.__all__, (page, node.func.attr)
        takes = inspect.signature(getattr(package, node.func.attr)).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in takes.values()):
            assert {word.arg for word in node.keywords if word.arg} <= set(takes), (page, node.func.attr)


@pytest.mark.parametrize(("page", "text"), blocks("toml"))
def test_toml_in_documents_can_be_read_and_names_parts_that_exist(page, text):
    found = tomllib.loads(text.replace("\n  ", "\n"))
    for kind in ("data", "model", "game"):
        if isinstance(found.get(kind), str):
            registry.build(kind, found[kind])
    for spec in found.get("explain", []):
        registry.build("explain", spec)
    for spec in found.get("defend", []):
        assert written_out(spec)


# --- commands that are run as they stand ---------------------------------------------------------------------------

NEEDS_MINUTES = {"jali audit", "jali verify --zoo"}  # the demonstration and the zoo have tests of their own
RELEASE = """
def release(data, query, rng):
    from jali.privacy.mechanisms import released
    mean = data.X[:, 0].mean()
    width = 16 / len(data.X)
    return [released("laplace", lambda: mean + rng.laplace(0, width), scale=width, sensitivity=width)]
"""


def people(n: int, seed: int) -> pd.DataFrame:
    """Applicants for a loan."""
    rng = np.random.default_rng(seed)
    income = rng.integers(20, 90, n) * 1000
    repaid = np.where(income + rng.normal(0, 15000, n) > 45000, "yes", "no")
    age, postcode = rng.integers(18, 80, n), rng.choice(["P1", "P2", "P3"], n)
    return pd.DataFrame({"age": age, "postcode": postcode, "income": income, "repaid": repaid})


def filled(folder: Path) -> None:
    """The files that the first pages speak of."""
    loans = people(160, 0)
    loans.to_csv(folder / "loans.csv", index=False)
    loans.to_csv(folder / "train.csv", index=False)
    people(80, 1).to_csv(folder / "population.csv", index=False)
    loans.drop(columns="repaid").to_csv(folder / "people.csv", index=False)
    loans.drop(columns="repaid").head(40).to_csv(folder / "cfs.csv", index=False)
    people(80, 1).drop(columns="repaid").to_csv(folder / "population.csv", index=False)
    (folder / "report.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
    rng = np.random.default_rng(2)
    member = rng.random((120, 8)) < 0.5
    np.savez(folder / "scores.npz", member=member, score=member + rng.normal(size=(120, 8)))
    (folder / "my_module.py").write_text(RELEASE, encoding="utf-8")


def of_page(name: str) -> list[str]:
    """The complete commands of a page, in its order."""
    found = []
    for block in (text for page, text in blocks("") if page == name):
        lines = [re.sub(r"\s+#.*", "", line.strip()) for line in block.replace("\\\n", " ").splitlines()]
        found += [line for line in lines if line in COMPLETE and line not in NEEDS_MINUTES]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    filled(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ran(folder, capsys, monkeypatch):
    """A function that runs a command as it stands, and its exit code."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(Rotate.__init__, "__defaults__", (4, *Rotate.__init__.__defaults__[1:]))  # models: seconds
    return lambda line: jali(*shlex.split(line)[1:], capsys=capsys)


def test_the_quickstart_runs_as_it_stands(folder, ran):
    lines = of_page("quickstart.md")
    assert len(lines) == 5
    for line in lines:
        code, _, errors = ran(line)
        assert code == 0, (line, errors)
    assert {file.name for file in (folder / "loans-audit").glob("*.*")} >= {
        "report.html",
        "results.json",
        "audit.toml",
        "evidence.npz",
    }


def test_the_readme_runs_as_it_stands(folder, ran):
    for name in ("before", "after", "my-audit"):
        given = "--data loans.csv --target repaid --model logistic --explain none --game 'rotate(models=4)'"
        assert ran(f"jali audit {given} --out {name}")[0] == 0
    exits = {"jali verify laplace_recourse --out claim": 1}
    lines = of_page("README.md")
    assert len(lines) == 9
    for line in lines:
        code, _, errors = ran(line)
        assert code == exits.get(line, 0), (line, errors)
    assert not (folder / "my-audit" / "evidence.npz").exists()
    assert (folder / "claim" / "report.html").is_file()
