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
not hidden). The generator's `bytes` are those of a keyed hash (`KeyedRandom`), so noise that is drawn from them is as
good as the sampler; its other draws are those of a generator for simulations.

A file that was edited is refused (see `ledger_chain`). One that was replaced by an older copy, or edited by somebody
who computes its links anew, is noticed by whoever kept its last receipt and gives it to `check`. Nothing is protected
from people who can read the file: it holds the answers, and its log holds seeds for a while. Only the user who made the
file can read it; keep it on a local disk.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee
from jali.core.values import Rng
from jali.privacy import ledger_chain as chain
from jali.privacy.accounting import Filter, added, best_order, decimal
from jali.privacy.byte_sources import KeyedRandom
from jali.privacy.ledger_contents import Question, decoded, digest, encoded
from jali.privacy.ledger_state import Entry as Entry
from jali.privacy.ledger_state import State as State

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


class Ledger:
    """Grant answers until the budget (epsilon, delta) is spent, counted over all processes that open this file.

    The file is created if there is none; a file with another budget is refused. Claims must be pure, under one
    adjacency, and not known to be false. The same question to the same mechanism at the same epsilon is answered from
    the file. If a guarantee covers all uses of one release, such as private weights, make the release the question, so
    that it is paid once, and compute the rest from its answer.

    Questions are stored as keyed hashes. The key is in the same file: questions of two ledgers cannot be matched, but
    whoever reads the file can test guesses. Arrays are the same question if they are equal bit by bit, including type
    and shape. `user` is stored as given, so pass a pseudonym.

    >>> from jali.privacy.snapped_noise import laplace_on_grid
    >>> path = Path(tempfile.mkdtemp()) / "answers.ledger"
    >>> noise = Guarantee("laplace noise", 0.5, "replace-one", ("one noised score",), noise="laplace")
    >>> with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
    ...     first = ledger.answer("score of case 7", noise, lambda rng: laplace_on_grid(0.3, 1.0, 0.5, rng))
    ...     repeated = ledger.answer("score of case 7", noise, lambda rng: laplace_on_grid(0.3, 1.0, 0.5, rng))
    ...     bool(first == repeated), ledger.state().spent
    (True, 0.5)
    """

    def __init__(
        self, path: Path, epsilon: float, delta: float, adjacency: Adjacency, *, timeout: float = 60.0
    ) -> None:
        budget = _asked(path, epsilon, delta, adjacency, timeout)
        self.path = Path(path)
        self.timeout = timeout
        self._open: _Open | None = None
        _create(self.path, budget)
        with self._transaction() as file:
            chain.check_entries(file)
            kept = chain.read(file)
        self._key = kept.key
        self.adjacency = adjacency
        self._filter = Filter(budget.epsilon, budget.delta, kept.order)
        if (kept.epsilon, kept.delta, kept.adjacency) != (epsilon, delta, adjacency):
            self.close()
            raise JaliError(
                f"{path} keeps a budget of epsilon = {kept.epsilon:g}, delta = {kept.delta:g} ({kept.adjacency}), not "
                f"{epsilon:g}, {delta:g} ({adjacency}), and a budget is set once: open it as it is, or choose another "
                "path."
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
            row = file.execute("SELECT seed, kind, body, link FROM answers WHERE question = ?", (asked,)).fetchone()
            done = row is not None and row[2] is not None
            if row is None:
                seed = secrets.token_bytes(chain.LENGTH)
            elif done:
                found = self._stored(asked, *row[1:])
            else:
                seed = self._stored(asked, chain.SEED, row[0], row[3])
            self._enter(file, guarantee, str(user), hit=row is not None)
            if row is None:
                link = chain.answer_link(self._key, asked, chain.SEED, seed)
                file.execute("INSERT INTO answers VALUES (?, ?, NULL, NULL, ?)", (asked, seed, link))
        if done:
            return found
        kind, body = encoded(make(KeyedRandom(seed)))
        link = chain.answer_link(self._key, asked, kind, body)
        with self._transaction() as file:
            store = "UPDATE answers SET seed = NULL, kind = ?, body = ?, link = ? WHERE question = ? AND body IS NULL"
            file.execute(store, (kind, body, link, asked))
            kept = file.execute("SELECT kind, body, link FROM answers WHERE question = ?", (asked,)).fetchone()
            return self._stored(asked, *kept)

    def _stored(self, asked: bytes, kind: Any, body: Any, link: Any) -> Any:
        """A stored answer or seed; one that was changed is refused."""
        plain = isinstance(kind, str) and isinstance(body, bytes) and isinstance(link, bytes)
        if not plain or not hmac.compare_digest(link, chain.answer_link(self._key, asked, kind, body)):
            raise sqlite3.DatabaseError("an answer was changed")
        try:
            return decoded(kind, body)
        except ValueError as error:
            raise sqlite3.DatabaseError(f"an answer cannot be read: {error}") from None

    def receipt(self) -> str:
        """The number and hash of the last entry: whoever keeps it can tell later that nothing before was changed."""
        with self._transaction() as file:
            return chain.receipt_of(file)

    def check(self, receipt: str = "") -> None:
        """Raise if the file was edited, or is not the one that gave this receipt with entries added since."""
        with self._transaction() as file:
            chain.check_entries(file, receipt)

    def state(self) -> State:
        """What was spent, what is left, and how many answers were given."""
        with self._transaction() as file:
            kept = chain.read(file)
            paid, hits = file.execute("SELECT count(*) - total(hit), total(hit) FROM entries").fetchone()
            waiting = file.execute("SELECT count(*) FROM answers WHERE body IS NULL").fetchone()[0]
        budget = self._filter
        totals = (float(kept.basic), budget.as_epsilon(kept.renyi))
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
        kept = chain.read(file)
        budget = self._filter
        total = kept.basic
        divergence = kept.renyi
        before = spent = min(float(total), budget.as_epsilon(divergence))
        if not hit:
            total = added(total, decimal(claim.epsilon))
            divergence += budget.divergence(claim)
            spent = min(float(total), budget.as_epsilon(divergence))
            if not budget.fits(total, divergence):
                raise BudgetError(before, claim.epsilon, budget.epsilon)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        number = file.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0] + 1
        entry = (number, now, user, claim.mechanism, claim.noise, 0.0 if hit else float(claim.epsilon), spent, int(hit))
        link = chain.link_of(self._key, chain.last_link(file, kept), entry)
        file.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*entry, link))
        after = replace(kept, basic=total, renyi=divergence)
        file.execute(
            "UPDATE budget SET basic = ?, renyi = ?, link = ?", (str(total), divergence, chain.sealed(after, link))
        )

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
        file.execute("PRAGMA trusted_schema = OFF")
        chain.check_tables(file)
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
            chain.check_entries(file)
            kept = chain.read(file)
    except (sqlite3.Error, OSError, ValueError, ArithmeticError) as error:
        raise JaliError(_unusable(path, error, timeout)) from None
    return Guarantee("ledger", kept.epsilon, kept.adjacency, (), delta=kept.delta)


def _asked(path: Any, epsilon: Any, delta: Any, adjacency: Adjacency, timeout: Any) -> Guarantee:
    """The budget that was asked for; what makes no sense is refused before a file is made."""
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise JaliError(f"A ledger needs the path of a file, not {path!r}.")
    for name, value in (("epsilon", epsilon), ("delta", delta), ("timeout", timeout)):
        if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not abs(float(value)) < 1e300:
            raise JaliError(f"{name} must be positive and finite, not {value!r}.")
    if not 0 <= timeout < 1e6:
        raise JaliError(f"timeout of a ledger must be from 0 to a million seconds, not {timeout!r}.")
    return Guarantee("ledger", float(epsilon), adjacency, (), delta=float(delta))


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
                for statement in chain.TABLES:
                    file.execute(statement)
                file.execute(f"PRAGMA application_id = {chain.MARK}")
                file.execute(f"PRAGMA user_version = {chain.VERSION}")
                order = best_order(budget.epsilon, budget.delta)
                key = secrets.token_bytes(chain.LENGTH)
                first = (budget.epsilon, budget.delta, budget.adjacency, order, key)
                seal = chain.sealed(chain.Totals(*first, Decimal(0), 0.0, b""), chain.first_link(key))
                file.execute("INSERT INTO budget VALUES (?, ?, ?, ?, ?, '0', 0.0, ?)", (*first, seal))
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
