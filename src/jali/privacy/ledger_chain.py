"""What a ledger's file must hold to be believed: its own tables and no others, plausible values, and an unbroken chain.

Every entry carries a link, the keyed hash of the entry and of the link before it, and the totals carry one over the
last link. So whoever changes anything with a tool for databases breaks the chain, and the file is refused. The key is
in the file: somebody who also computes all links anew is noticed only by whoever kept a receipt, the number and link of
the last entry. So is an older copy, which lacks that entry.
"""

from __future__ import annotations

import hmac
import json
import math
import sqlite3
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import Any, get_args

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee, Noise
from jali.privacy.accounting import Filter, added, decimal

VERSION = 2  # of the tables below
MARK = int.from_bytes(b"jali")
LENGTH = 32  # bytes of a key and of a link
SEED = "seed"  # what stands in the place of an answer that was paid for and is not made yet
DIGITS = 2000  # characters of a total: the sum of all floats there are has fewer
TABLES = (
    """CREATE TABLE budget (epsilon REAL, delta REAL, adjacency TEXT, renyi_order REAL, key BLOB,
                            basic TEXT, renyi REAL, link BLOB)""",
    "CREATE TABLE answers (question BLOB PRIMARY KEY, seed BLOB, kind TEXT, body BLOB, link BLOB) WITHOUT ROWID",
    """CREATE TABLE entries (id INTEGER PRIMARY KEY, time TEXT, user TEXT, mechanism TEXT, noise TEXT,
                             epsilon REAL, cumulative REAL, hit INTEGER, link BLOB)""",
)
ENTRY = "id, time, user, mechanism, noise, epsilon, cumulative, hit"


@dataclass(frozen=True)
class Totals:
    """The one row of a ledger's budget: what was set once, and what was spent so far."""

    epsilon: float
    delta: float
    adjacency: Adjacency
    order: float
    key: bytes
    basic: Decimal
    renyi: float
    link: bytes


def read(file: sqlite3.Connection) -> Totals:
    """The budget in a file; raises sqlite3.DatabaseError where it holds something else, or the totals were changed."""
    rows = file.execute("SELECT epsilon, delta, adjacency, renyi_order, key, basic, renyi, link FROM budget").fetchall()
    if len(rows) != 1:
        raise sqlite3.DatabaseError("it has no budget, or several")
    epsilon, delta, adjacency, order, key, text, renyi, link = rows[0]
    numbers = all(isinstance(x, float) and math.isfinite(x) for x in (epsilon, delta, order, renyi))
    if not numbers or not (epsilon > 0 and 0 <= delta < 1 and order > 1 and renyi >= 0):
        raise sqlite3.DatabaseError("its budget is none")
    bytes_ = all(isinstance(x, bytes) and len(x) == LENGTH for x in (key, link))
    if adjacency not in get_args(Adjacency) or not bytes_ or not isinstance(text, str) or len(text) > DIGITS:
        raise sqlite3.DatabaseError("its budget is none")
    try:
        basic = Decimal(text)
    except DecimalException:
        raise sqlite3.DatabaseError("what was spent is no number") from None
    found = Totals(epsilon, delta, adjacency, order, key, basic, renyi, link)
    if not basic.is_finite() or basic < 0 or not hmac.compare_digest(link, sealed(found, last_link(file, found))):
        raise sqlite3.DatabaseError("what was spent does not fit its entries")
    return found


def sealed(totals: Totals, last: bytes) -> bytes:
    """The link of the totals over the last entry's."""
    fixed = [totals.epsilon.hex(), totals.delta.hex(), totals.adjacency, totals.order.hex()]
    return _hashed(totals.key, last, [*fixed, str(totals.basic), totals.renyi.hex()])


def last_link(file: sqlite3.Connection, totals: Totals) -> bytes:
    """The link of the last entry; where there is none, that of the budget itself."""
    row = file.execute("SELECT link FROM entries ORDER BY id DESC LIMIT 1").fetchone()
    link = first_link(totals.key) if row is None else row[0]
    if not isinstance(link, bytes) or len(link) != LENGTH:
        raise sqlite3.DatabaseError("an entry was changed")
    return link


def first_link(key: bytes) -> bytes:
    """The link before the first entry."""
    return hmac.digest(key, b"ledger", "sha256")


def link_of(key: bytes, before: bytes, entry: tuple[Any, ...]) -> bytes:
    """The link of an entry (its number, time, user, mechanism, noise, epsilon, cumulative, hit) to the one before."""
    number, time, user, mechanism, noise, epsilon, cumulative, hit = entry
    texts = all(isinstance(x, str) for x in (time, user, mechanism, noise))
    if not texts or type(epsilon) is not float or type(cumulative) is not float or hit not in (0, 1):
        raise sqlite3.DatabaseError("an entry was changed")
    return _hashed(key, before, [number, time, user, mechanism, noise, epsilon.hex(), cumulative.hex(), int(hit)])


def answer_link(key: bytes, question: bytes, kind: str, body: bytes) -> bytes:
    """The link of a stored answer to its question."""
    return hmac.digest(key, question + kind.encode() + b"\0" + body, "sha256")


def _hashed(key: bytes, before: bytes, values: list[Any]) -> bytes:
    return hmac.digest(key, before + json.dumps(values).encode(), "sha256")


def check_tables(file: sqlite3.Connection) -> None:
    """Refuse a database with other tables than ours: a trigger or a view in it could undo what is spent."""
    if file.execute("PRAGMA application_id").fetchone()[0] != MARK:
        raise sqlite3.DatabaseError("another kind of file")
    if file.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        raise sqlite3.DatabaseError("it was made by another version of jali")
    if file.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("damaged")
    found = [sql for (sql,) in file.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")]
    if sorted(map(str, found)) != sorted(TABLES):
        raise sqlite3.DatabaseError("it holds other tables than a ledger does")


def check_entries(file: sqlite3.Connection, receipt: str = "") -> None:
    """Refuse a file whose chain is broken, whose totals do not fit its entries, or that lacks a receipt's entry."""
    totals = read(file)
    budget = Filter(totals.epsilon, totals.delta, totals.order)
    number, wanted = _parsed(receipt)
    link = first_link(totals.key)
    basic = Decimal(0)
    renyi = 0.0
    paid = 0
    count = 0
    cost: dict[Guarantee, float] = {}
    met = number == 0 and hmac.compare_digest(wanted, link)
    for count, row in enumerate(file.execute(f"SELECT {ENTRY}, link FROM entries ORDER BY id"), start=1):
        link = link_of(totals.key, link, row[:-1])
        if row[0] != count or not isinstance(row[-1], bytes) or not hmac.compare_digest(link, row[-1]):
            raise sqlite3.DatabaseError(f"entry {count} was changed, or one before it removed")
        met = met or (count == number and hmac.compare_digest(link, wanted))
        if not row[7]:
            claim = _claim(totals, row)
            basic = added(basic, decimal(claim.epsilon))
            if claim not in cost:
                cost[claim] = budget.divergence(claim)
            renyi += cost[claim]
            paid += 1
    if basic != totals.basic or not math.isclose(
        renyi, totals.renyi, rel_tol=1e-9
    ):  # libraries differ in the last bits
        raise sqlite3.DatabaseError("what was spent does not fit its entries")
    if paid != file.execute("SELECT count(*) FROM answers").fetchone()[0]:
        raise sqlite3.DatabaseError("it has not as many answers as were paid for")
    if receipt and not met:
        raise JaliError(
            f"This file is not the one that gave the receipt: it has {count} entries, and entry {number} is missing or "
            "another. It is an older copy, or was changed: restore the right one, because it holds what was spent."
        )


def _claim(totals: Totals, row: tuple[Any, ...]) -> Guarantee:
    """The claim that an entry paid for."""
    noise = row[4]
    if noise not in get_args(Noise):
        raise sqlite3.DatabaseError("an entry was changed")
    return Guarantee(row[3], row[5], totals.adjacency, (), "release", noise=noise)


def receipt_of(file: sqlite3.Connection) -> str:
    """The number and the link of the last entry."""
    totals = read(file)
    count = file.execute("SELECT count(*) FROM entries").fetchone()[0]
    return f"{count}-{last_link(file, totals).hex()}"


def _parsed(receipt: str) -> tuple[int, bytes]:
    """The number and link in a receipt."""
    if not receipt:
        return -1, b""
    number, _, link = receipt.strip().partition("-")
    try:
        found = int(number) if number.isascii() and number.isdigit() and len(number) < 16 else -1
        wanted = bytes.fromhex(link)
    except ValueError:
        found = -1
        wanted = b""
    if found < 0 or len(wanted) != LENGTH:
        raise JaliError("A receipt is a number and 64 hexadecimal digits, as `jali budget` prints it: copy it whole.")
    return found, wanted
