"""What is changed in a ledger is noticed: at once, or by whoever kept a receipt."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.privacy import ledger_chain as chain
from jali.privacy.ledger import BudgetError, Ledger


def claim(epsilon: float) -> Guarantee:
    return Guarantee("noise", epsilon, "replace-one", ("decisions",), "release", noise="laplace")


def ask(ledger: Ledger, question: str, epsilon: float = 0.1) -> float:
    return ledger.answer(question, claim(epsilon), lambda rng: float(rng.laplace()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.ledger"


def test_a_receipt_fits_until_an_older_copy_takes_the_place(path):
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        empty = ledger.receipt()
        ask(ledger, "a")
        early = ledger.receipt()
    shutil.copy(path, path.with_suffix(".old"))
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        ask(ledger, "b")
        late = ledger.receipt()
        for receipt in (empty, early, late):
            ledger.check(receipt)
    with Ledger(path.with_suffix(".old"), 1.0, 0.0, "replace-one") as older:
        older.check(early)
        with pytest.raises(JaliError, match="older copy, or was changed"):
            older.check(late)


def test_whoever_computes_all_links_anew_is_noticed_by_the_receipt(path):
    """An editor who knows how the file is made: the user of an entry is changed and every link is recomputed."""
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        for name in "abc":
            ask(ledger, name)
        receipt = ledger.receipt()
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE entries SET user = 'somebody' WHERE id = 2")
        kept_key = file.execute("SELECT key FROM budget").fetchone()[0]
        link = chain.first_link(kept_key)
        for row in file.execute(f"SELECT {chain.ENTRY} FROM entries ORDER BY id").fetchall():
            link = chain.link_of(kept_key, link, row)
            file.execute("UPDATE entries SET link = ? WHERE id = ?", (link, row[0]))
        row = file.execute("SELECT epsilon, delta, adjacency, renyi_order, key, basic, renyi FROM budget").fetchone()
        totals = chain.Totals(*row[:5], Decimal(row[5]), row[6], b"")
        file.execute("UPDATE budget SET link = ?", (chain.sealed(totals, link),))
        file.commit()
    same = Ledger(path, 1.0, 0.0, "replace-one")  # consistent in itself
    with same, pytest.raises(JaliError, match="not the one that gave the receipt"):
        same.check(receipt)


@pytest.mark.parametrize("receipt", ["x", "3", "3-zz", "-1-" + "0" * 64, "9" * 30 + "-" + "0" * 64, "3-" + "0" * 62])
def test_what_is_no_receipt_is_a_sentence(path, receipt):
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger, pytest.raises(JaliError, match="A receipt is a number"):
        ledger.check(receipt)


def test_totals_have_no_limit_of_digits(path):
    """This sum has 30 digits, and decimals have 28 unless told otherwise."""
    with Ledger(path, 1e15, 0.0, "replace-one") as ledger:
        ask(ledger, "a", 1e-15)
        with pytest.raises(BudgetError):
            ask(ledger, "b", 1e15)
        ask(ledger, "c", 1e15 - 1)
        ledger.check()
        with contextlib.closing(sqlite3.connect(path)) as file:
            text = file.execute("SELECT basic FROM budget").fetchone()[0]
    assert text == "999999999999999.000000000000001"


@pytest.mark.parametrize(
    "given", [{"epsilon": "x"}, {"delta": None}, {"timeout": -1}, {"timeout": "x"}, {"epsilon": -1}]
)
def test_mistakes_are_found_before_a_file_is_made(path, given):
    with pytest.raises(JaliError):
        Ledger(path, **({"epsilon": 1.0, "delta": 0.0, "adjacency": "replace-one"} | given))
    assert not path.exists()


def test_a_nul_in_the_path_is_a_sentence():
    with pytest.raises(JaliError, match="needs the path of a file"):
        Ledger("a\0b", 1.0, 0.0, "replace-one")
