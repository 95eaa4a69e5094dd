"""Damaged and edited ledgers: each is refused in one sentence, or grants no more than the whole one would."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.privacy.ledger import Ledger
from tests.security.harness import Named, Rng, Use, escapes, folder, pick, pickled
from tests.security.mutants import BYTES

BUDGET = (1.0, 0.0, "replace-one")
ODD = (
    None,
    -1,
    -1.0,
    0,
    0.0,
    1e308,
    float("inf"),
    "",
    "x",
    "nan",
    "-5",
    "9" * 3000,
    "1e999999999",
    b"",
    b"\x00" * 32,
    2**62,
)
COLUMNS = {
    "budget": ("epsilon", "delta", "adjacency", "renyi_order", "key", "basic", "renyi", "link"),
    "answers": ("question", "seed", "kind", "body", "link"),
    "entries": ("id", "time", "user", "mechanism", "noise", "epsilon", "cumulative", "hit", "link"),
}
STATEMENTS = (
    "DELETE FROM entries", "DELETE FROM answers", "DELETE FROM budget", "INSERT INTO budget SELECT * FROM budget",
    "DELETE FROM entries WHERE id = 2", "DELETE FROM entries WHERE id = 4", "UPDATE entries SET id = id + 7",
    "UPDATE budget SET basic = '0', renyi = 0.0", "UPDATE budget SET epsilon = 100.0", "DROP TABLE entries",
    "DROP TABLE budget", "ALTER TABLE entries ADD COLUMN more TEXT", "CREATE TABLE more (a)", "PRAGMA user_version = 1",
    "CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE budget SET basic = '0'; END", "PRAGMA application_id = 7",
    "CREATE VIEW v AS SELECT 1", "UPDATE entries SET epsilon = -1.0 WHERE id = 2",
    "UPDATE entries SET hit = 1 WHERE id = 2",
    "UPDATE answers SET seed = zeroblob(32), body = NULL, kind = NULL", "UPDATE entries SET user = 'somebody else'",
    "UPDATE answers SET body = (SELECT body FROM answers ORDER BY question DESC LIMIT 1)",
    "CREATE INDEX i ON entries (time)",
    "INSERT INTO entries SELECT id + 10, time, user, mechanism, noise, -0.5, cumulative, 0, link FROM entries LIMIT 1",
)  # fmt: skip


def claim(epsilon: float) -> Guarantee:
    """The claim of one answer."""
    return Guarantee("noise", epsilon, "replace-one", ("decisions",), "release", noise="laplace")


def spend(path: Path) -> dict[str, float]:
    """A ledger of budget 1 of which 0.9 is spent, with a repeated question; what was answered."""
    with Ledger(path, *BUDGET) as ledger:  # type: ignore[arg-type]
        for name in ("a", "b", "c", "a"):
            ledger.answer(name, claim(0.3), lambda rng: float(rng.laplace()))
        return {name: ledger.answer(name, claim(0.3), _never) for name in ("a", "b", "c")}


def _never(rng: Rng) -> float:
    raise AssertionError("an answer was made again that was paid for and given")


def damages(count: int, rng: Rng) -> Iterator[Named]:
    """Changes of a ledger's bytes, cells and tables."""
    for k, statement in enumerate(STATEMENTS[:count]):
        yield f"{k}: {statement[:60]}", edited(statement)
    for k in range(len(STATEMENTS), count):
        if k % 2:
            table = pick(rng, sorted(COLUMNS))
            column = pick(rng, COLUMNS[table])
            value = pick(rng, (*ODD, pickled()))
            yield f"{k}: {table}.{column} = {str(value)[:20]!r}", edited(f"UPDATE {table} SET {column} = ?", value)
        else:
            yield f"{k}: bytes", damaged(BYTES[(k // 2) % 4], int(rng.integers(2**32)))


def edited(statement: str, *values: Any) -> Callable[[Path], None]:
    """An edit by a tool for databases; one that the database itself refuses changes nothing."""

    def change(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as file, contextlib.suppress(sqlite3.Error):
            file.execute(statement, values)
            file.commit()

    return change


def damaged(how: Any, seed: int) -> Callable[[Path], None]:
    """Damage to the bytes of the file."""
    return lambda path: path.write_bytes(how(path.read_bytes(), np.random.default_rng(seed)))  # type: ignore[return-value]


def use_after(change: Callable[[Path], None], whole: Path, answers: dict[str, float]) -> None:
    """Ask a changed ledger what it must not grant, and what it must not answer otherwise."""
    path = whole.with_name("changed.ledger")
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    shutil.copy(whole, path)
    change(path)
    with Ledger(path, *BUDGET) as ledger:  # type: ignore[arg-type]
        for name, answer in answers.items():
            if ledger.answer(name, claim(0.3), _never) != answer:
                raise AssertionError("another answer was given")
        ledger.entries()
        ledger.paid()
        try:
            ledger.answer("one too many", claim(0.3), lambda rng: 0.0)
        except JaliError:
            return
        raise AssertionError("more was granted than the budget allows")


def ledger_damages(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Damaged and edited ledgers; what escaped, was granted or answered otherwise."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        whole = where / "whole.ledger"
        answers = spend(whole)
        return escapes(damages(count, rng), use or (lambda change: use_after(change, whole, answers)))
