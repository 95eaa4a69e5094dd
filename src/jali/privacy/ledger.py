"""A privacy budget for repeated answers, kept in one SQLite file that threads and processes share.

An answer is paid for before it is computed, and only stored answers are returned:

    reserve    one transaction: the filter decides; the price and a new random seed are committed together
    make       outside any transaction, from that seed
    store      one transaction: the first answer is stored and the seed erased; every caller gets the stored answer

So if a process is killed, no committed price is lost and no unpaid answer is returned. A question that was reserved and
not answered stays paid: if it is asked again, the answer is computed from the committed seed, with the same noise, for
free. (With new noise, anybody who can make the process fail could choose among draws.)

What is proven: all answers that a ledger grants are together (epsilon, delta)-DP, even if prices depend on earlier
answers, by the proof at `jali.privacy.accounting.Filter`. `jali.privacy.accounting.spent(ledger.paid(), delta)` gives
the total as if all prices had been fixed beforehand; it shows how tight the filter is, and is not a guarantee for
adaptive prices.

What is not proven: that a claim is true; that `make` uses only the generator it is given (its duration and failures are
not hidden); that floating-point noise from a simulation-grade generator is as good as its formula; that nobody replaces
the file by an older copy. Nothing is protected from people who can read the file: it holds the answers, and its log
holds seeds for a while. Only the user who made the file can read it; keep it on a local disk.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Rng
from jali.privacy.accounting import Filter, best_order, decimal
from jali.privacy.ledger_contents import Question, decoded, digest, encoded

_MARK = int.from_bytes(b"jali")
_TABLES = (
    """CREATE TABLE budget (epsilon REAL, delta REAL, adjacency TEXT, renyi_order REAL, key BLOB,
                            basic TEXT, renyi REAL)""",
    "CREATE TABLE answers (question BLOB PRIMARY KEY, seed BLOB, kind TEXT, body BLOB) WITHOUT ROWID",
    """CREATE TABLE entries (id INTEGER PRIMARY KEY, time TEXT, user TEXT, mechanism TEXT, noise TEXT,
                             epsilon REAL, cumulative REAL, hit INTEGER)""",
    f"PRAGMA application_id = {_MARK}",
)
_INHERITED: list[Any] = []  # connections of a parent process; using or closing one here would break the parent's locks


class BudgetError(JaliError):
    """An answer would exceed the budget; nothing was paid and no answer was computed."""

    def __init__(self, spent: float, price: float, budget: float) -> None:
        self.spent = spent
        self.price = price
        self.left = max(0.0, budget - spent)
        super().__init__(
            f"This answer costs epsilon = {price:g}, and {self.left:.6g} of {budget:g} is left ({spent:.6g} is spent): "
            "repeat a question that was answered, which is free, or answer from a model trained privately once."
        )


@dataclass(frozen=True)
class State:
    """The state of a ledger: its budget, the totals of its two accountants in epsilon, and how many answers it gave.

    renyi is infinite if delta is 0. answers: paid ones. hits: repeated ones, which are free. unfinished: paid, but not
    yet computed; asking again is free.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    basic: float
    renyi: float
    answers: int
    hits: int
    unfinished: int

    @property
    def spent(self) -> float:
        """What was spent by the filter: the smaller of the two totals."""
        return min(self.basic, self.renyi)

    @property
    def left(self) -> float:
        """What is left of the budget; by the Rényi total, an answer costs less than its epsilon."""
        return max(0.0, self.epsilon - self.spent)


@dataclass(frozen=True)
class Entry:
    """One answered request; epsilon: its cost, 0 for a repeated question; cumulative: the total after it."""

    time: str
    user: str
    mechanism: str
    adjacency: Adjacency
    epsilon: float
    cumulative: float
    hit: bool

    def cells(self) -> tuple[str, ...]:
        """The entry as a row of a table: time, user, mechanism, adjacency, epsilon, cumulative, paid or free."""
        costs = (f"{self.epsilon:g}", f"{self.cumulative:.4g}", "free" if self.hit else "paid")
        return (self.time, self.user, self.mechanism, self.adjacency, *costs)


class Ledger:
    """Grant answers until the budget (epsilon, delta) is spent, counted over all processes that open this file.

    The file is created if there is none; a file with another budget is refused. Claims must be pure, under one
    adjacency, and not known to be false. The same question to the same mechanism at the same epsilon is answered from
    the file. If a guarantee covers all uses of one release, such as private weights, make the release the question, so
    that it is paid once, and compute the rest from its answer.

    Questions are stored as keyed hashes. The key is in the same file: questions of two ledgers cannot be matched, but
    whoever reads the file can test guesses. Arrays are the same question if they are equal bit by bit, including type
    and shape. `user` is stored as given, so pass a pseudonym.

    >>> path = Path(tempfile.mkdtemp()) / "answers.ledger"
    >>> noise = Guarantee("laplace noise", 0.5, "replace-one", ("one noised score",), noise="laplace")
    >>> with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
    ...     first = ledger.answer("score of case 7", noise, lambda rng: 0.3 + rng.laplace(scale=2.0))
    ...     repeated = ledger.answer("score of case 7", noise, lambda rng: 0.3 + rng.laplace(scale=2.0))
    ...     first == repeated, ledger.state().spent
    (True, 0.5)
    """

    def __init__(
        self, path: Path, epsilon: float, delta: float, adjacency: Adjacency, *, timeout: float = 60.0
    ) -> None:
        budget = Guarantee("ledger", float(epsilon), adjacency, (), delta=float(delta))
        self.path = Path(path)
        self.timeout = timeout
        self._open: _Open | None = None
        _create(self.path, budget)
        with self._transaction() as file:
            query = "SELECT epsilon, delta, adjacency, renyi_order, key FROM budget"
            row = file.execute(query).fetchone()
        self._key = row[4]
        self.adjacency = adjacency
        self._filter = Filter(budget.epsilon, budget.delta, row[3])
        if row[:3] != (epsilon, delta, adjacency):
            self.close()
            raise JaliError(
                f"{path} keeps a budget of epsilon = {row[0]:g}, delta = {row[1]:g} ({row[2]}), not {epsilon:g}, "
                f"{delta:g} ({adjacency}), and a budget is set once: open it as it is, or choose another path."
            )

    def answer(self, question: Question, guarantee: Guarantee, make: Callable[[Rng], Any], user: str = "") -> Any:
        """Answer a question for the price of its claim, or for free if it was paid for before.

        make: computes the answer from a generator, which must be its only source of randomness. An answer is bytes, an
        array without objects, or a value that JSON can hold. The stored answer is returned, as it is read from the
        file.
        """
        self._check(guarantee)
        asked = digest(self._key, question, guarantee)
        with self._transaction() as file:
            row = file.execute("SELECT seed, kind, body FROM answers WHERE question = ?", (asked,)).fetchone()
            seed = secrets.token_bytes(32) if row is None else row[0]
            self._enter(file, guarantee, user, hit=row is not None)
            if row is None:
                file.execute("INSERT INTO answers VALUES (?, ?, NULL, NULL)", (asked, seed))
        if row is not None and row[2] is not None:
            return decoded(row[1], row[2])
        kind, body = encoded(make(np.random.default_rng(int.from_bytes(seed))))
        with self._transaction() as file:
            store = "UPDATE answers SET seed = NULL, kind = ?, body = ? WHERE question = ? AND body IS NULL"
            file.execute(store, (kind, body, asked))
            kept = file.execute("SELECT kind, body FROM answers WHERE question = ?", (asked,)).fetchone()
        return decoded(*kept)

    def state(self) -> State:
        """What was spent, what is left, and how many answers were given."""
        with self._transaction() as file:
            basic, divergence = file.execute("SELECT basic, renyi FROM budget").fetchone()
            paid, hits = file.execute("SELECT count(*) - total(hit), total(hit) FROM entries").fetchone()
            waiting = file.execute("SELECT count(*) FROM answers WHERE body IS NULL").fetchone()[0]
        budget = self._filter
        totals = (float(basic), budget.as_epsilon(divergence))
        return State(budget.epsilon, budget.delta, self.adjacency, *totals, int(paid), int(hits), waiting)

    def entries(self, last: int = 20) -> list[Entry]:
        """The last requests that were answered, oldest first."""
        query = "SELECT time, user, mechanism, epsilon, cumulative, hit FROM entries ORDER BY id DESC LIMIT ?"
        with self._transaction() as file:
            rows = file.execute(query, (last,)).fetchall()
        return [Entry(t, u, m, self.adjacency, e, sum_, bool(hit)) for t, u, m, e, sum_, hit in reversed(rows)]

    def paid(self) -> list[Guarantee]:
        """One guarantee for each answer that was paid for, for a second count by `jali.privacy.accounting`."""
        query = "SELECT mechanism, epsilon, noise, count(*) FROM entries WHERE NOT hit GROUP BY 1, 2, 3"
        with self._transaction() as file:
            rows = file.execute(query).fetchall()
        return [Guarantee(m, e, self.adjacency, (), "release", noise=n) for m, e, n, k in rows for _ in range(k)]

    def close(self) -> None:
        """Close the file; the next request opens it again."""
        opened = self._open
        self._open = None
        if opened is not None and opened.pid == os.getpid():
            with opened.lock:
                opened.connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, claim: Guarantee) -> None:
        """Refuse a claim that the ledger cannot count."""
        if claim.adjacency != self.adjacency:
            raise JaliError(
                f"{claim.mechanism} claims epsilon under {claim.adjacency} and this ledger counts {self.adjacency}: "
                "state the claim under the ledger's adjacency."
            )
        if claim.delta:
            raise JaliError(f"{claim.mechanism} has delta = {claim.delta:g} and a ledger counts pure claims only.")
        if claim.void:
            raise JaliError(f"{claim.mechanism} cannot be paid for, because its claim is void: {claim.void}.")
        if claim.refuted:
            raise JaliError(f"{claim.mechanism} cannot be paid for, because its claim is false: {claim.refuted}")

    def _enter(self, file: sqlite3.Connection, claim: Guarantee, user: str, *, hit: bool) -> None:
        """Log one request, and pay for it unless it is repeated; an answer that would exceed the budget is refused."""
        text, divergence = file.execute("SELECT basic, renyi FROM budget").fetchone()
        budget = self._filter
        total = Decimal(text)
        before = spent = min(float(total), budget.as_epsilon(divergence))
        if not hit:
            total += decimal(claim.epsilon)
            divergence += budget.divergence(claim)
            spent = min(float(total), budget.as_epsilon(divergence))
            if not budget.fits(total, divergence):
                raise BudgetError(before, claim.epsilon, budget.epsilon)
            file.execute("UPDATE budget SET basic = ?, renyi = ?", (str(total), divergence))
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        price = 0.0 if hit else float(claim.epsilon)
        row = (now, user, claim.mechanism, claim.noise, price, spent, hit)
        file.execute("INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction, with no other writer among all threads and processes; all of it is stored, or nothing."""
        try:
            opened = self._opened()
            with opened.lock, _begun(opened.connection) as file:
                opened.check(self.path)
                yield file
        except (sqlite3.Error, OSError, ArithmeticError) as error:
            raise JaliError(_unusable(self.path, error, self.timeout)) from None

    def _opened(self) -> _Open:
        """The connection of this process; one that was inherited through a fork is not used."""
        opened = self._open
        if opened is not None and opened.pid != os.getpid():
            _INHERITED.append(opened)
            opened = None
        if opened is None:
            connection = _connect(self.path, self.timeout)
            opened = self._open = _Open(os.getpid(), connection, threading.Lock(), self.path.stat().st_ino)
        return opened


@dataclass(frozen=True)
class _Open:
    """One connection for all threads of one process, used by one thread at a time."""

    pid: int
    connection: sqlite3.Connection
    lock: threading.Lock
    inode: int

    def check(self, path: Path) -> None:
        """Refuse a file that was removed or replaced, because what is written to it would be lost."""
        if not path.exists() or path.stat().st_ino != self.inode:
            raise JaliError(
                f"{path} was removed or replaced while it was open: restore it, because it holds what was spent."
            )


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
    """Open an existing ledger; any other file is refused."""
    if path.is_dir() or not path.stat().st_size:
        raise JaliError(f"{path} is {'a folder' if path.is_dir() else 'empty'}, not a ledger: choose another path.")
    address = f"{path.absolute().as_uri()}?mode=rw"
    file = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        mark = file.execute("PRAGMA application_id").fetchone()[0]
        if mark != _MARK or file.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("another kind of file" if mark != _MARK else "damaged")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("PRAGMA secure_delete = ON")
    except BaseException:
        file.close()
        raise
    return file


def stored(path: Path, timeout: float = 60.0) -> Guarantee:
    """The budget that an existing ledger keeps: its epsilon, delta and adjacency."""
    try:
        with contextlib.closing(_connect(path, timeout)) as file:
            row = file.execute("SELECT epsilon, delta, adjacency FROM budget").fetchone()
    except (sqlite3.Error, OSError) as error:
        raise JaliError(_unusable(path, error, timeout)) from None
    return Guarantee("ledger", row[0], row[2], (), delta=row[1])


@contextlib.contextmanager
def _begun(file: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Begin a transaction, and commit it, or roll it back after an exception."""
    file.execute("BEGIN IMMEDIATE")
    try:
        yield file
        file.execute("COMMIT")
    except BaseException:
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise


def _create(path: Path, budget: Guarantee) -> None:
    """Create a missing file under a temporary name and link it when complete, so that no ledger is ever empty."""
    try:
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            fresh = Path(folder) / path.name
            with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as file:
                file.execute("PRAGMA journal_mode = WAL")
                for statement in _TABLES:
                    file.execute(statement)
                order = best_order(budget.epsilon, budget.delta)
                row = (budget.epsilon, budget.delta, budget.adjacency, order, secrets.token_bytes(32))
                file.execute("INSERT INTO budget VALUES (?, ?, ?, ?, ?, '0', 0)", row)
            fresh.chmod(0o600)
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
    except (OSError, sqlite3.Error) as error:
        raise JaliError(f"Cannot make a ledger at {path} ({error}): choose another folder.") from None


def _unusable(path: Path, error: Exception, timeout: float) -> str:
    """Why a file cannot be used as a ledger, and what to do."""
    if "locked" in str(error):
        return f"{path} was held by another process for {timeout:g} s: ask again, what was paid stays paid."
    return (
        f"{path} cannot be used as a ledger ({error}): restore it from a copy, or choose another path; a new "
        "ledger would not know what was spent."
    )
