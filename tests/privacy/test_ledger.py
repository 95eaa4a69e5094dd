"""One budget for threads, processes and crashes: nothing overspent, nothing paid lost, nothing unpaid given."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.guarantee import Adjacency, Guarantee, Noise
from jali.privacy.accounting import Filter, best_order, exact, rdp
from jali.privacy.ledger import BudgetError, Ledger


def claim(epsilon: float, noise: Noise = "laplace", adjacency: Adjacency = "replace-one", refuted: str = ""):
    return Guarantee("noise", epsilon, adjacency, ("decisions",), "release", noise=noise, refuted=refuted)


def draw(rng: np.random.Generator) -> float:
    return float(rng.laplace())


def refused(rng: np.random.Generator) -> float:
    raise AssertionError("an answer was made that should have come from the file")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        yield ledger


# --- one process -----------------------------------------------------------------------------------------------------


def test_the_same_question_is_free_and_gets_the_same_answer(ledger: Ledger) -> None:
    first = ledger.answer("a", claim(0.3), draw, user="u7")
    assert ledger.answer("a", claim(0.3), refused) == first
    state = ledger.state()
    assert (state.spent, state.left, state.answers, state.hits, state.unfinished) == (0.3, 0.7, 1, 1, 0)
    assert [(e.user, e.epsilon, e.cumulative, e.hit) for e in ledger.entries()] == [
        ("u7", 0.3, 0.3, False),
        ("", 0.0, 0.3, True),
    ]
    assert ledger.entries(1)[0].cells()[2:] == ("noise", "replace-one", "0", "0.3", "free")


def test_another_question_price_or_mechanism_is_another_answer(ledger: Ledger) -> None:
    row = np.array([1.0, 2.0])
    questions = ["a", b"a", row, row.astype(np.float32), row[None], row + 1]
    answers = {ledger.answer(q, claim(0.1), draw) for q in questions}
    answers |= {ledger.answer("a", claim(0.2), draw), ledger.answer("a", claim(0.1, "pure"), draw)}
    assert len(answers) == len(questions) + 2 == ledger.state().answers
    assert ledger.answer(row.copy(), claim(0.1), refused) in answers


@pytest.mark.parametrize("answer", [b"\x00\xff", {"a": [1, 2.5, None]}, "text", 0.1, np.float64(0.1), True])
def test_answers_come_back_as_they_were(ledger: Ledger, answer: object) -> None:
    assert ledger.answer("a", claim(0.3), lambda rng: answer) == answer
    assert ledger.answer("a", claim(0.3), refused) == answer


def test_arrays_come_back_as_they_were(ledger: Ledger) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for make in (lambda rng: array, refused):
        found = ledger.answer("a", claim(0.3), make)
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(("price", "granted"), [(0.1, 10), (0.3, 3), (1 / 3, 3), (1.0, 1)])
def test_the_plain_sum_is_exact_to_the_last_answer(ledger: Ledger, price: float, granted: int) -> None:
    for i in range(granted):
        ledger.answer(str(i), claim(price), draw)
    with pytest.raises(BudgetError) as error:
        ledger.answer("one more", claim(price), refused)
    assert error.value.spent == pytest.approx(granted * price)
    assert error.value.price == price
    assert error.value.left == pytest.approx(1 - granted * price, abs=1e-12)
    assert "free" in str(error.value)
    assert ledger.answer("0", claim(price), refused) is not None
    assert ledger.state().answers == granted


def test_with_delta_the_filter_grants_what_one_order_allows(path: Path) -> None:
    epsilon, delta, price = 0.5, 1e-2, claim(0.1)
    order = best_order(epsilon, delta)
    room = epsilon - math.log1p(-1 / order) + (math.log(delta) + math.log(order)) / (order - 1)
    granted = int(room / Filter(epsilon, delta, order).divergence(price))
    assert granted > 5  # more than the plain sum allows
    with Ledger(path, epsilon, delta, "replace-one") as ledger:
        for i in range(granted):
            ledger.answer(str(i), price, draw)
        with pytest.raises(BudgetError):
            ledger.answer("one more", price, refused)
        state = ledger.state()
        assert state.basic == float(Decimal("0.1") * granted)
        assert state.spent == state.renyi <= epsilon
        assert rdp(ledger.paid(), delta) <= state.renyi


def test_what_was_paid_can_be_counted_again(ledger: Ledger) -> None:
    pytest.importorskip("dp_accounting")
    for i in range(3):
        ledger.answer(str(i), claim(0.1), draw)
        ledger.answer(str(i), claim(0.1), refused)
    assert [g.noise for g in ledger.paid()] == ["laplace"] * 3
    assert exact(ledger.paid(), 1e-3) == pytest.approx(exact([claim(0.1)] * 3, 1e-3))


def test_an_answer_that_fails_stays_paid_and_is_made_again_from_the_same_seed(ledger: Ledger) -> None:
    seen = []

    def failing(rng: np.random.Generator) -> float:
        seen.append(draw(rng))
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        ledger.answer("a", claim(0.6), failing)
    assert (ledger.state().spent, ledger.state().unfinished) == (0.6, 1)
    with pytest.raises(JaliError, match="it stays paid"):
        ledger.answer("a", claim(0.6), lambda rng: object())
    assert ledger.answer("a", claim(0.6), draw) == seen[0]
    assert (ledger.state().spent, ledger.state().unfinished) == (0.6, 0)


def test_what_cannot_be_stored_without_pickle_is_refused(ledger: Ledger) -> None:
    for i, answer in enumerate((np.array([object()]), float("nan"), {1, 2})):
        with pytest.raises(JaliError, match="must be bytes, an array without objects, or JSON"):
            ledger.answer(str(i), claim(0.1), lambda rng, answer=answer: answer)


def test_the_file_holds_no_question_and_no_seed_and_belongs_to_its_owner(path: Path, ledger: Ledger) -> None:
    ledger.answer("Ann Example, 47, rejected", claim(0.5), draw)
    ledger.close()
    assert b"Ann" not in path.read_bytes()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT seed FROM answers").fetchall() == [(None,)]
    file.close()
    assert path.stat().st_mode & 0o077 == 0


def test_two_ledgers_hide_the_same_question_differently(tmp_path: Path) -> None:
    stored = set()
    for name in ("one", "two"):
        with Ledger(tmp_path / name, 1.0, 0.0, "replace-one") as ledger:
            ledger.answer("a", claim(0.5), draw)
            with ledger._transaction() as file:
                stored.add(file.execute("SELECT question FROM answers").fetchone()[0])
    assert len(stored) == 2


# --- bad input -------------------------------------------------------------------------------------------------------


def test_a_budget_is_set_once(path: Path, ledger: Ledger) -> None:
    for other in ((2.0, 0.0, "replace-one"), (1.0, 1e-5, "replace-one"), (1.0, 0.0, "add-remove")):
        with pytest.raises(JaliError, match="a budget is set once"):
            Ledger(path, *other)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ((0.0, 0.0, "replace-one"), "epsilon must be positive"),
        ((-1.0, 0.0, "replace-one"), "epsilon must be positive"),
        ((math.nan, 0.0, "replace-one"), "epsilon must be positive"),
        ((1.0, 1.0, "replace-one"), "delta must be"),
        ((1.0, 0.0, ""), "needs its adjacency"),
    ],
)
def test_a_budget_must_make_sense(path: Path, budget: tuple[float, float, Adjacency], message: str) -> None:
    with pytest.raises(JaliError, match=message):
        Ledger(path, *budget)
    assert not path.exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (claim(0.1, adjacency="add-remove"), "claims epsilon under add-remove and this ledger counts replace-one"),
        (Guarantee("noise", 0.1, "replace-one", (), delta=1e-6), "pure claims only"),
        (claim(0.1, refuted="the length shows the weights."), "its claim is false: the length shows the weights"),
        (Guarantee("noise", 0.1, "replace-one", (), void="no key was given"), "its claim is void: no key was given"),
    ],
)
def test_claims_it_cannot_count_are_refused_unpaid(ledger: Ledger, given: Guarantee, message: str) -> None:
    with pytest.raises(JaliError, match=message):
        ledger.answer("a", given, refused)
    assert ledger.state().answers == 0


def test_questions_are_text_bytes_or_arrays(ledger: Ledger) -> None:
    for question in (None, 3, np.array([None])):
        with pytest.raises(JaliError, match="A question must be text, bytes or an array"):
            ledger.answer(question, claim(0.1), refused)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be one" * 40, b"SQLite format 3\x00"])
def test_another_file_is_not_taken_for_a_ledger(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(JaliError, match="choose another path"):
        Ledger(path, 1.0, 0.0, "replace-one")
    assert path.read_bytes() == content


def test_a_database_of_somebody_else_is_left_alone(path: Path) -> None:
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE budget (epsilon)")
    file.close()
    with pytest.raises(JaliError, match="another kind of file"):
        Ledger(path, 1.0, 0.0, "replace-one")


def test_a_damaged_or_cut_ledger_says_so(path: Path, ledger: Ledger) -> None:
    for i in range(5):
        ledger.answer(str(i), claim(0.1), lambda rng: "x" * 3000)
    ledger.close()
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:4096] + os.urandom(8192) + whole[12288:]):
        path.write_bytes(content)
        with pytest.raises(JaliError, match="restore it from a copy"):
            Ledger(path, 1.0, 0.0, "replace-one")


def test_a_folder_or_a_place_without_permission_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JaliError, match="is a folder"):
        Ledger(tmp_path, 1.0, 0.0, "replace-one")
    with pytest.raises(JaliError, match="choose another folder"):
        Ledger(tmp_path / "file" / "x.ledger", 1.0, 0.0, "replace-one")


def test_a_file_removed_while_open_is_not_silently_forgotten(path: Path, ledger: Ledger) -> None:
    path.rename(path.with_suffix(".old"))
    with pytest.raises(JaliError, match="removed or replaced while it was open"):
        ledger.answer("a", claim(0.1), refused)
    path.with_suffix(".old").rename(path)
    assert ledger.answer("a", claim(0.1), draw) is not None


def test_a_file_that_stays_busy_says_so(path: Path, ledger: Ledger) -> None:
    with ledger._transaction(), pytest.raises(JaliError, match=r"held by another process for 0.1 s"):
        Ledger(path, 1.0, 0.0, "replace-one", timeout=0.1)


# --- many at once ----------------------------------------------------------------------------------------------------

HEAD = """
import json, os, signal, sys, threading, time
from pathlib import Path
from jali.core.guarantee import Guarantee
from jali.privacy.ledger import BudgetError, Ledger
noise = Guarantee("noise", 0.1, "replace-one", ("decisions",), noise="laplace")
say = lambda *words: os.write(1, (json.dumps(words) + "\\n").encode())
"""
SPENDERS = """
def spend(thread):
    for i in range(100):
        try:
            own.append(ledger.answer(f"{os.getpid()} {thread} {i}", noise, lambda rng: rng.laplace()))
        except BudgetError:
            return
ledger, own = Ledger(Path(sys.argv[1]), 4.0, 0.0, "replace-one"), []
threads = [threading.Thread(target=spend, args=(i,)) for i in range(20)]
[t.start() for t in threads]; [t.join() for t in threads]
say(own)
"""


def started(script: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HEAD + script, str(path)], stdout=subprocess.PIPE, text=True)


def test_three_processes_of_twenty_threads_spend_one_budget_to_the_last_answer(path: Path) -> None:
    processes = [started(SPENDERS, path) for _ in range(3)]
    answers = [x for p in processes for x in json.loads(p.communicate(timeout=60)[0])[0]]
    assert len(answers) == len(set(answers)) == 40
    with Ledger(path, 4.0, 0.0, "replace-one") as ledger:
        state = ledger.state()
        assert (state.answers, state.spent, state.left, state.unfinished) == (40, 4.0, 0.0, 0)
        assert [round(e.cumulative, 9) for e in ledger.entries(99)] == [round(0.1 * k, 9) for k in range(1, 41)]
        with ledger._transaction() as file:
            stored = {json.loads(body) for (body,) in file.execute("SELECT body FROM answers")}
    assert stored == set(answers)


def test_twenty_threads_with_one_question_pay_once_and_agree(ledger: Ledger) -> None:
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(lambda _: ledger.answer("a", claim(0.6), draw), range(20)))
    assert answers == [answers[0]] * 20
    assert (ledger.state().answers, ledger.state().hits, ledger.state().spent) == (1, 19, 0.6)


def test_a_forked_process_has_its_own_connection(path: Path) -> None:
    script = """
ledger = Ledger(Path(sys.argv[1]), 1.0, 0.0, "replace-one")
ledger.answer("parent", noise, lambda rng: 1)
child = os.fork()
for i in range(3):
    ledger.answer(f"{child == 0} {i}", noise, lambda rng: 1)
if child:
    say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), ledger.state().answers)
"""
    process = started(script, path)
    assert json.loads(process.communicate(timeout=60)[0]) == [0, 7]
    assert process.returncode == 0


# --- crashes ---------------------------------------------------------------------------------------------------------


def test_killed_while_making_an_answer_it_stays_paid_and_is_the_same_draw(path: Path) -> None:
    script = """
def make(rng):
    say(rng.laplace())
    os.kill(os.getpid(), signal.SIGKILL)
Ledger(Path(sys.argv[1]), 1.0, 0.0, "replace-one").answer("a", noise, make)
"""
    process = started(script, path)
    drawn = json.loads(process.communicate(timeout=60)[0])[0]
    assert process.returncode == -signal.SIGKILL
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        assert (ledger.state().spent, ledger.state().unfinished) == (0.1, 1)
        assert ledger.answer("a", claim(0.1), draw) == drawn
        assert (ledger.state().spent, ledger.state().unfinished) == (0.1, 0)


def test_killed_before_the_spend_is_committed_nothing_was_paid(path: Path) -> None:
    script = """
ledger = Ledger(Path(sys.argv[1]), 1.0, 0.0, "replace-one")
ledger.answer("a", noise, lambda rng: 1)
with ledger._transaction() as file:
    ledger._enter(file, noise, "", hit=False)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    process = started(script, path)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    with Ledger(path, 1.0, 0.0, "replace-one") as ledger:
        assert (ledger.state().spent, ledger.state().answers) == (0.1, 1)


WORKER = """
ledger = Ledger(Path(sys.argv[1]), 20.0, 0.0, "replace-one")
def work(thread):
    for i in range(1000):
        question = f"{i % 7} {thread} {i}" if i % 3 else f"shared {i}"
        def make(rng):
            value = rng.laplace(); say("drawn", question, value); time.sleep(0.002)
            return value
        say("got", question, ledger.answer(question, noise, make))
say("ready", "", 0)
for thread in range(4):
    threading.Thread(target=work, args=(thread,)).start()
"""


def test_killed_at_random_moments_no_spend_is_lost_and_no_answer_unpaid(path: Path) -> None:
    clock, lines = random.Random(), []
    for _ in range(4):
        pair = [started(WORKER, path) for _ in range(2)]
        for process in pair:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(clock.uniform(0.05, 0.3))
        for process in pair:
            process.kill()
        for process in pair:  # read the stream itself: what readline has buffered, communicate would not see
            with process:
                lines += [json.loads(x) for x in process.stdout.read().splitlines() if x.endswith("]")]
    drawn = {(q, value) for word, q, value in lines if word == "drawn"}
    got = {(q, value) for word, q, value in lines if word == "got"}
    asked = {q for q, _ in drawn}
    assert len(drawn) == len(asked)  # one draw for each question, however often it was made
    assert got <= drawn
    with Ledger(path, 20.0, 0.0, "replace-one") as ledger:
        before = ledger.state()
        assert len(asked) <= before.answers <= 200
        assert before.spent == pytest.approx(0.1 * before.answers)
        assert before.answers - before.unfinished >= len(got)
        for question, value in drawn:
            assert ledger.answer(question, claim(0.1), draw) == value
        after = ledger.state()
        assert (after.spent, after.answers) == (before.spent, before.answers)
