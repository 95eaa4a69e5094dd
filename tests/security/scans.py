"""Hostile files for `jali scan`, logs for `jali exposure`, releases and dumps for `jali attack`."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.security import arrays, tables
from tests.security.harness import Named, Payload, Rng, Use, escapes, folder, pick, pickled
from tests.security.mutants import BYTES, archives
from tests.security.structures import JSON_TEXTS, as_json, hostile

if TYPE_CHECKING:
    from jali.api import Answer

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "source": ["print(1)"],
            "outputs": [
                {"output_type": "stream", "text": ["age income\n", "30 2000\n"]},
                {"output_type": "execute_result", "data": {"text/html": ["<table><tr><td>1</td></tr></table>"]}},
                {
                    "output_type": "display_data",
                    "data": {"application/json": {"a": [[1, 2], [3, 4]]}, "image/png": "AAAA"},
                },
            ],
            "metadata": {},
        },
        {"cell_type": "markdown", "source": "| a | b |\n|---|---|\n| 1 | 2 |"},
    ],
    "metadata": {},
    "nbformat": 4,
}
TREE = {
    "explainer": {"background": [[30, 2000.5], [41, 3000.25]], "names": ["age", "income"], "more": {"x": [1, 2, 3]}}
}
PAGES = (
    "<table>" * 3000, "<table><tr><td colspan=1000000000>1</td></tr></table>",
    "<script>var a = " + "[" * 50_000 + "</script>",
    "<table><tr><td rowspan=-1>1<td>2</table>", "<!--" * 1000, "&#" + "9" * 5000 + ";",
    "<table><tr>" + "<td>1" * 50_000,
    "<script>{" * 3000, "\x00<table>", "<a href='x" + "y" * 100_000, "<table><tr><td>１<td>٣</table>" * 50,
)  # fmt: skip
TEXTS = (
    "1 2 3\n" * 3000, "|" * 100_000, "\t" * 100_000, "1e400 1e400\n" * 9, "9" * 100_000, "{" * 20_000, "[" * 20_000,
    "a b\n" + "1 nan\n" * 9, "- " * 50_000, "\x1b[2J 1 2\n" * 9, " " * 100_000 + "1", "1,2;3|4\t5\n" * 50, "٣ ٣\n" * 9,
)  # fmt: skip


def scanned_files(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Files of every kind that a scan reads: they are read or skipped; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(_files(count, rng), use or (lambda item: scan(item, where)))


def _files(count: int, rng: Rng) -> Iterator[Named]:
    makers = (_notebook, _json, _npz, _npy, _tensors, _page, _text, _table, _pickle)
    for k in range(count):
        make = makers[k % len(makers)]
        yield f"{make.__name__[1:]} {k}", make(k // len(makers), rng)


def _notebook(k: int, rng: Rng) -> tuple[str, bytes]:
    return "a.ipynb", hostile(NOTEBOOK, as_json, JSON_TEXTS, k, rng)


def _json(k: int, rng: Rng) -> tuple[str, bytes]:
    return pick(rng, ("a.json", "a.jsonl")), hostile(TREE, as_json, JSON_TEXTS, k, rng)


def _npz(k: int, rng: Rng) -> tuple[str, bytes]:
    every = list(archives(rng))
    if k < len(every):
        return "a.npz", every[k][1]
    good = io.BytesIO()
    np.savez(good, a=rng.normal(size=(20, 2)), b=np.array(["x", "y"]))
    return "a.npz", arrays.changed_archive(_numbers(rng), rng) if k % 2 else pick(rng, BYTES)(good.getvalue(), rng)


def _numbers(rng: Rng) -> bytes:
    file = io.BytesIO()
    np.savez(file, a=rng.normal(size=(20, 2)), b=np.arange(9))
    return file.getvalue()


def _npy(k: int, rng: Rng) -> tuple[str, bytes]:
    file = io.BytesIO()
    odd = (np.zeros((3, 2)), np.array([Payload()], dtype=object), np.zeros(2, dtype=[("a", "f8")]), np.array(["x"] * 9))
    np.save(file, odd[k % len(odd)], allow_pickle=True)
    content = file.getvalue()
    return "a.npy", content if k < len(odd) else pick(rng, BYTES)(content, rng)


def _tensors(k: int, rng: Rng) -> tuple[str, bytes]:
    return "a.safetensors", arrays._odd_safetensors(rng)


def _page(k: int, rng: Rng) -> tuple[str, bytes]:
    if k < len(PAGES):
        return "a.html", PAGES[k].encode()
    good = "<html><table><tr><th>age<th>income</tr><tr><td>30<td>2000</tr></table><script>x=[[1,2]]</script>"
    return "a.html", pick(rng, BYTES)(good.encode(), rng)


def _text(k: int, rng: Rng) -> tuple[str, bytes]:
    if k < len(TEXTS):
        return "a.txt", TEXTS[k].encode()
    return pick(rng, ("a.txt", "a.md", "a.log", "a")), pick(rng, BYTES)(b"age  income\n30   2000.5\n41   3000\n", rng)


def _table(k: int, rng: Rng) -> tuple[str, bytes]:
    ending, content, _ = next(iter(tables.hostile_texts(1, rng)))[1]
    return f"a{ending}", content


def _pickle(k: int, rng: Rng) -> tuple[str, bytes]:
    import pickle

    good = pickle.dumps(
        {"a": np.arange(6.0).reshape(3, 2), "b": [1, 2, {"c": (1, 2)}]}, protocol=int(rng.integers(0, 6))
    )
    if k % 3 == 0:
        return "a.pkl", pickled()
    if k % 3 == 1:
        return "a.joblib", gzip.compress(pick(rng, BYTES)(good, rng))
    return "a.pkl", pick(rng, BYTES)(good, rng)


def scan(item: tuple[str, bytes], where: Path) -> object:
    """Scan a file that somebody made."""
    from jali.api import scan as searched
    from tests.security.people import ROWS

    name, content = item
    (where / name).write_bytes(content)
    try:
        return shown(searched([where / name], ROWS))
    finally:
        (where / name).unlink()


def shown(answer: Answer[Any]) -> object:
    """Print an answer and draw its page, as the commands do."""
    from jali.report import sheet

    answer.results.model_dump_json()
    return answer.printed(), sheet.html(answer.page(answer.results))


def bomb(kind: str, megabytes: int) -> bytes:
    """A small archive that unpacks to so many megabytes of zeros."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({megabytes << 20},), }}".encode()
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    file = io.BytesIO()
    if kind == "npz":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("member.npy", "w") as member:
            member.write(start)
            for _ in range(megabytes):
                member.write(bytes(1 << 20))
        return file.getvalue()
    with gzip.open(file, "wb") as packed:
        packed.write(b"a,b\n")
        for _ in range(megabytes):
            packed.write(b"0,0\n" * (1 << 18))
    return file.getvalue()


# --- logs, releases, dumps -----------------------------------------------------------------------------------------


def logs_and_dumps(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Logs of explanations, released counterfactuals and dumps of one model that somebody sent; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(_sent(count, rng), use or (lambda item: attacked(item, where)))


def _sent(count: int, rng: Rng) -> Iterator[Named]:
    kinds = ("log", "release", "dump", "npz dump")
    for k in range(count):
        kind = kinds[k % 4]
        if kind == "npz dump":
            content = arrays.changed_archive(_dump_arrays(rng), rng)
        else:
            names, cells = _frame(kind, rng)
            for _ in range(int(rng.integers(0, 8))):
                cells[int(rng.integers(len(cells)))][int(rng.integers(len(names)))] = pick(rng, tables.ODD_CELLS)
            if rng.random() < 0.3:
                names[int(rng.integers(len(names)))] = pick(rng, tables.ODD_NAMES)
            content = tables.text_of(names, cells).encode("utf-8", errors="replace")
        yield f"{kind} {k}", (kind, pick(rng, BYTES)(content, rng) if rng.random() < 0.25 else content)


def _frame(kind: str, rng: Rng) -> tuple[list[str], list[list[str]]]:
    ages = [str(a) for a in rng.integers(18, 80, 60)]
    pay = [f"{p:.2f}" for p in rng.normal(3000, 500, 60)]
    if kind == "log":
        names = ["answer_age", "answer_income", "time", "who"]
        return names, [[a, f"{p}..9999", "2020-01-01", "w1"] for a, p in zip(ages, pay, strict=True)]
    if kind == "release":
        return ["age", "income"], [[a, p] for a, p in zip(ages, pay, strict=True)]
    names = ["age", "income", "p_0", "p_1", "y", "member"]
    return names, [
        [a, p, "0.3", "0.7", str(k % 2), str(k % 3 and 1)] for k, (a, p) in enumerate(zip(ages, pay, strict=True))
    ]


def _dump_arrays(rng: Rng) -> bytes:
    file = io.BytesIO()
    np.savez(file, age=rng.integers(18, 80, 60), p_0=np.full(60, 0.3), p_1=np.full(60, 0.7), y=np.arange(60) % 2,
             member=np.arange(60) % 3 > 0)  # fmt: skip
    return file.getvalue()


def attacked(item: tuple[str, bytes], where: Path) -> Any:
    """Use a file as the commands do."""
    from jali.api import attack_released, exposure, link_released
    from jali.api.dumps import table_of
    from jali.api.released import truths
    from jali.audit.dump import Layout, gathered
    from tests.security.people import ROWS

    kind, content = item
    path = where / ("sent.npz" if kind == "npz dump" else "sent.csv")
    path.write_bytes(content)
    if kind == "log":
        return shown(exposure(str(path), ROWS, quasi=["age"], time="time", recipient="who"))
    if kind == "release":
        shown(link_released(str(path), ROWS, quasi=["age"]))
        return shown(attack_released(str(path), ROWS[:40], ROWS[40:]))
    table = table_of(path)
    return gathered(table, Layout("member", "y", "", ("p_",), "", "", (), ()), truths(table, "member", "member"), 0)
