"""A budget for repeated private answers, kept in one SQLite file that threads and processes share.

An answer is paid for before it is made, and only what is stored is ever returned:

    reserve    one transaction: the filter decides; price and a fresh random seed are committed together
    make       outside any transaction, from that seed
    store      one transaction: the first answer to arrive stays and the seed is erased; everybody gets the stored one

So a process that is killed loses no committed spend and hands out nothing unpaid. A question that was reserved and not
answered stays paid; asking it again makes the answer from the committed seed, hence the same draw, and costs nothing.
(Fresh noise would let whoever can make the process fail choose among draws.)

What is proven: everything a ledger ever grants is (epsilon, delta)-DP together, also where prices depend on earlier
answers, by the argument at `jali.accounting.Filter`. `jali.accounting.spent(ledger.paid(), delta)` counts the same
answers as if their prices had been fixed beforehand, which shows how close the filter is and proves no more.

What is not proven: that a claim is true, that `make` uses the generator it is given and no other channel (its duration
and failures are not hidden), that noise in floating point from a generator made for simulation is as good as its
formula, that nobody swaps the file for an older copy, or anything about those who can read the file: it holds the
answers, and its log holds seeds for a while. It is readable by its owner alone and belongs on a local disk.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import json
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
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Rng
from jali.privacy.accounting import Filter, best_order, decimal

Question = bytes | str | npt.NDArray[Any]

_MARK = int.from_bytes(b"jali")
_TABLES = (
    """CREATE TABLE budget (epsilon REAL, delta REAL, adjacency TEXT, renyi_order REAL, key BLOB,
                            basic TEXT, renyi REAL)""",
    "CREATE TABLE answers (question BLOB PRIMARY KEY, seed BLOB, kind TEXT, body BLOB) WITHOUT ROWID",
    """CREATE TABLE entries (id INTEGER PRIMARY KEY, time TEXT, user TEXT, mechanism TEXT, noise TEXT,
                             epsilon REAL, cumulative REAL, hit INTEGER)""",
    f"PRAGMA application_id = {_MARK}",
)
_INHERITED: list[Any] = []  # connections of a parent process: using or closing one here would break its locks


class BudgetError(JaliError):
    """The answer that would exceed the budget; nothing was paid and nothing was made."""

    def __init__(self, spent: float, asked: float, budget: float) -> None:
        self.spent, self.asked, self.left = spent, asked, max(0.0, budget - spent)
        super().__init__(
            f"This answer costs epsilon = {asked:g}, and {self.left:.6g} of {budget:g} is left ({spent:.6g} is spent): "
            "repeat a question that was answered, which is free, or answer from a model trained privately once."
        )


@dataclass(frozen=True)
class State:
    """Where a ledger stands: the sums of its two accountants in epsilon, and how many answers were paid or repeated.

    renyi is infinite where delta is 0. unfinished: paid, not yet made; asking again is free.
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
        """What the filter counts: the smaller of the two sums."""
        return min(self.basic, self.renyi)

    @property
    def left(self) -> float:
        """What is left of the budget; answers under the Rényi sum cost less than their epsilon."""
        return max(0.0, self.epsilon - self.spent)


@dataclass(frozen=True)
class Entry:
    """One request that was answered; epsilon is what it cost, nothing for a hit, and cumulative the spend after it."""

    time: str
    user: str
    mechanism: str
    adjacency: Adjacency
    epsilon: float
    cumulative: float
    hit: bool

    def cells(self) -> tuple[str, ...]:
        """Its row of a table: time, user, mechanism, adjacency, epsilon, cumulative, paid or free."""
        costs = (f"{self.epsilon:g}", f"{self.cumulative:.4g}", "free" if self.hit else "paid")
        return (self.time, self.user, self.mechanism, self.adjacency, *costs)


class Ledger:
    """Grant answers until (epsilon, delta) is spent, once for all who open this file.

    The file is made where there is none; one with another budget is refused. Claims are pure, under one adjacency, and
    not known to be false. The same question to the same mechanism at the same epsilon is answered from the file. A
    claim for all releases is paid once if the release itself is the question: compute the rest from its answer.

    Questions are kept as keyed hashes. The key lies in the same file: two ledgers cannot be matched, but whoever reads
    the file can try out guesses. Arrays are the same question if they are equal bit by bit, type and shape included.
    `user` is kept as given, so give a pseudonym.

    >>> path = Path(tempfile.mkdtemp()) / "answers.ledger"
    >>> noise = Guarantee("laplace noise", 0.5, "replace-one", ("one noised score",), noise="laplace")
    >>> with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
    ...     first = ledger.answer("score of case 7", noise, lambda rng: 0.3 + rng.laplace(scale=2.0))
    ...     again = ledger.answer("score of case 7", noise, lambda rng: 0.3 + rng.laplace(scale=2.0))
    ...     first == again, ledger.state().spent
    (True, 0.5)
    """

    def __init__(
        self, path: Path, epsilon: float, delta: float, adjacency: Adjacency, *, timeout: float = 60.0
    ) -> None:
        budget = Guarantee("ledger", float(epsilon), adjacency, (), delta=float(delta))
        self.path, self.timeout = Path(path), timeout
        self._open: _Open | None = None
        _create(self.path, budget)
        with self._transaction() as file:
            query = "SELECT epsilon, delta, adjacency, renyi_order, key FROM budget"
            *row, order, self._key = file.execute(query).fetchone()
        self.adjacency, self._filter = adjacency, Filter(budget.epsilon, budget.delta, order)
        if row != [epsilon, delta, adjacency]:
            self.close()
            raise JaliError(
                f"{path} keeps a budget of epsilon = {row[0]:g}, delta = {row[1]:g} ({row[2]}), not {epsilon:g}, "
                f"{delta:g} ({adjacency}), and a budget is set once: open it as it is, or choose another path."
            )

    def answer(self, question: Question, guarantee: Guarantee, make: Callable[[Rng], Any], user: str = "") -> Any:
        """Answer a question for the price of its claim, or for nothing if it was paid for before.

        make: the answer from a generator, which must be its only source of randomness: bytes, an array without
        objects, or anything JSON can hold. What is returned is always what the file holds, as the file holds it.
        """
        self._check(guarantee)
        asked = _digest(self._key, question, guarantee)
        with self._transaction() as file:
            row = file.execute("SELECT seed, kind, body FROM answers WHERE question = ?", (asked,)).fetchone()
            seed = secrets.token_bytes(32) if row is None else row[0]
            self._enter(file, guarantee, user, hit=row is not None)
            if row is None:
                file.execute("INSERT INTO answers VALUES (?, ?, NULL, NULL)", (asked, seed))
        if row is not None and row[2] is not None:
            return _decoded(row[1], row[2])
        kind, body = _encoded(make(np.random.default_rng(int.from_bytes(seed))))
        with self._transaction() as file:
            store = "UPDATE answers SET seed = NULL, kind = ?, body = ? WHERE question = ? AND body IS NULL"
            file.execute(store, (kind, body, asked))
            kept = file.execute("SELECT kind, body FROM answers WHERE question = ?", (asked,)).fetchone()
        return _decoded(*kept)

    def state(self) -> State:
        """What was spent, what is left, and how often."""
        with self._transaction() as file:
            basic, divergence = file.execute("SELECT basic, renyi FROM budget").fetchone()
            paid, hits = file.execute("SELECT count(*) - total(hit), total(hit) FROM entries").fetchone()
            waiting = file.execute("SELECT count(*) FROM answers WHERE body IS NULL").fetchone()[0]
        spent, limits = (float(basic), self._filter.as_epsilon(divergence)), (self._filter.epsilon, self._filter.delta)
        return State(*limits, self.adjacency, *spent, int(paid), int(hits), waiting)

    def entries(self, last: int = 20) -> list[Entry]:
        """The last requests that were answered, oldest first."""
        query = "SELECT time, user, mechanism, epsilon, cumulative, hit FROM entries ORDER BY id DESC LIMIT ?"
        with self._transaction() as file:
            rows = file.execute(query, (last,)).fetchall()
        return [Entry(t, u, m, self.adjacency, e, sum_, bool(hit)) for t, u, m, e, sum_, hit in reversed(rows)]

    def paid(self) -> list[Guarantee]:
        """One claim for each answer that was paid for, to be counted again by `jali.accounting`."""
        query = "SELECT mechanism, epsilon, noise, count(*) FROM entries WHERE NOT hit GROUP BY 1, 2, 3"
        with self._transaction() as file:
            rows = file.execute(query).fetchall()
        return [Guarantee(m, e, self.adjacency, (), "release", noise=n) for m, e, n, k in rows for _ in range(k)]

    def close(self) -> None:
        """Let go of the file; the next request opens it again."""
        opened, self._open = self._open, None
        if opened is not None and opened.pid == os.getpid():
            with opened.lock:
                opened.connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, claim: Guarantee) -> None:
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
        """Write one request down, and pay for it unless it is a hit; refuse what would exceed the budget."""
        text, divergence = file.execute("SELECT basic, renyi FROM budget").fetchone()
        budget, total = self._filter, Decimal(text)
        before = spent = min(float(total), budget.as_epsilon(divergence))
        if not hit:
            total, divergence = total + decimal(claim.epsilon), divergence + budget.divergence(claim)
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
        """The only writer among all threads and processes, until it is over; all of it is kept, or nothing."""
        try:
            opened = self._opened()
            with opened.lock, _begun(opened.connection) as file:
                opened.check(self.path)
                yield file
        except (sqlite3.Error, OSError, ArithmeticError) as error:
            raise JaliError(_told(self.path, error, self.timeout)) from None

    def _opened(self) -> _Open:
        """The connection of this process; one that came through a fork is left alone."""
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
        """What is written to a file without a name is lost."""
        if not path.exists() or path.stat().st_ino != self.inode:
            raise JaliError(f"{path} was removed or replaced while it was open: put it back; spends are not forgotten.")


def _connect(path: Path, timeout: float) -> sqlite3.Connection:
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


@contextlib.contextmanager
def _begun(file: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    file.execute("BEGIN IMMEDIATE")
    try:
        yield file
        file.execute("COMMIT")
    except BaseException:
        if file.in_transaction:
            file.execute("ROLLBACK")
        raise


def _create(path: Path, budget: Guarantee) -> None:
    """Where there is no file, make it beside its place and link it there whole: an empty one is never a new ledger."""
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


def _told(path: Path, error: Exception, timeout: float) -> str:
    if "locked" in str(error):
        return f"{path} was held by another process for {timeout:g} s: ask again, what was paid stays paid."
    return (
        f"{path} cannot be used as a ledger ({error}): restore it from a copy, or choose another path; a new one would "
        "forget what was spent."
    )


def _digest(key: bytes, question: Question, claim: Guarantee) -> bytes:
    """Keyed hash of a question to one mechanism at one price."""
    if isinstance(question, str):
        kind, body = "text", question.encode(errors="surrogatepass")
    elif isinstance(question, bytes):
        kind, body = "bytes", question
    elif isinstance(question, np.ndarray) and not question.dtype.hasobject:
        kind, body = f"{question.dtype} {question.shape}", question.tobytes()
    else:
        raise JaliError(f"A question must be text, bytes or an array without objects, not {type(question).__name__}.")
    head = json.dumps([kind, claim.mechanism, float(claim.epsilon), claim.noise]).encode()
    return hmac.digest(key, len(head).to_bytes(8) + head + body, "sha256")


def _encoded(answer: Any) -> tuple[str, bytes]:
    try:
        if isinstance(answer, bytes):
            return "bytes", answer
        if isinstance(answer, np.ndarray):
            file = io.BytesIO()
            np.save(file, answer, allow_pickle=False)
            return "npy", file.getvalue()
        plain = answer.item() if isinstance(answer, np.generic) else answer
        return "json", json.dumps(plain, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise JaliError(
            f"An answer must be bytes, an array without objects, or JSON, and this one is not ({error}): return one of "
            "these and ask again, it stays paid."
        ) from None


def _decoded(kind: str, body: bytes) -> Any:
    if kind == "npy":
        return np.load(io.BytesIO(body), allow_pickle=False)
    return json.loads(body) if kind == "json" else body
