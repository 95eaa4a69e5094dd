"""Fan-outs: order, progress, lost workers, errors, other code; a lost worker never hangs or ends a run."""

from __future__ import annotations

import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from jali import stopping
from jali.core.errors import JaliError
from jali.parallel import engine, fan_out, processes, same_code, send, stop
from tests.parallel import on_workers

TWO = engine("processes", 2)


@pytest.fixture(autouse=True)
def _no_workers_left():
    yield
    stop()


def test_results_come_in_order_and_progress_counts_what_is_done():
    seen = []
    found = list(fan_out(on_workers.twice, range(7), TWO, lambda done, total: seen.append((done, total))))
    assert found == [0, 2, 4, 6, 8, 10, 12]
    assert seen == [(done, 7) for done in range(8)]


def test_a_killed_worker_costs_its_tasks_only(tmp_path):
    found = list(fan_out(on_workers.killed_at_first, [(str(tmp_path), n) for n in range(6)], TWO))
    assert found == [0, 2, 4, 6, 8, 10]
    ran = [int(path.name.split("-")[1]) for path in tmp_path.glob("ran-*")]
    assert ran.count(3) == 2
    assert ran.count(0) == 1  # it had come back


def test_workers_that_are_always_killed_are_one_sentence():
    with pytest.raises(JaliError, match="killed three times, perhaps because memory ran out"):
        list(fan_out(on_workers.always_killed, range(2), TWO))
    assert list(fan_out(on_workers.twice, [1, 2], TWO)) == [2, 4]


def test_a_worker_that_loky_replaces_does_not_end_the_results():
    """It warns in the thread that looks after the workers, and here warnings are errors."""
    assert any(action == "error" for action, *_ in warnings.filters)
    assert list(fan_out(on_workers.ends_quietly, range(6), TWO)) == [0, 2, 4, 6, 8, 10]


def test_workers_do_not_watch_their_memory_and_leave_ctrl_c_to_the_run():
    assert list(fan_out(on_workers.watches_its_memory, range(2), TWO)) == [False, False]
    assert list(fan_out(on_workers.ignores_ctrl_c, range(2), TWO)) == [True, True]


def test_an_error_of_a_task_is_raised_and_the_pool_is_usable_afterwards():
    with pytest.raises(JaliError, match="Number 2"):
        list(fan_out(on_workers.fails_at, range(12), TWO))
    assert list(fan_out(on_workers.twice, [1, 2], TWO)) == [2, 4]


def test_the_pool_is_kept_from_one_fan_out_to_the_next():
    list(fan_out(on_workers.twice, range(4), TWO))
    first = processes.pool(2)
    list(fan_out(on_workers.twice, range(4), TWO))
    assert processes.pool(2) is first


def test_one_task_is_sent_to_a_worker_where_there_are_any():
    assert send(on_workers.process, 0) == os.getpid()
    assert send(on_workers.process, 0, TWO) != os.getpid()
    with pytest.raises(JaliError, match="Number 2"):
        send(on_workers.fails_at, 2, TWO)


def test_a_worker_with_other_code_refuses():
    with pytest.raises(JaliError, match="another version"):
        same_code.checked("of yesterday", on_workers.twice, 1)
    assert same_code.checked(same_code.version(), on_workers.twice, 1) == 2


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_is_an_engine_and_is_left_open(kind):
    with kind(2) as executor:
        assert list(fan_out(on_workers.twice, range(5), engine(executor, 2))) == [0, 2, 4, 6, 8]
        assert executor.submit(on_workers.twice, 4).result() == 8


def test_an_executor_that_lost_a_worker_is_one_sentence():
    with ProcessPoolExecutor(2) as executor, pytest.raises(JaliError, match="make a new one"):
        list(fan_out(on_workers.always_killed, range(3), engine(executor, 2)))


@pytest.mark.parametrize("text", ["ray", "dask:", "tcp://a:1", ""])
def test_an_unknown_engine_is_named(text):
    with pytest.raises(JaliError, match="There is no engine"):
        engine(text)


@pytest.mark.parametrize("how", ["closed", "told to stop"])
def test_tasks_that_have_not_begun_are_cancelled_when_nobody_wants_their_results(how):
    begun = []

    def slow(number: int) -> int:
        begun.append(number)
        time.sleep(0.05)
        return number

    with ThreadPoolExecutor(1) as executor:
        results = fan_out(slow, range(20), engine(executor))
        assert next(results) == 0
        if how == "closed":
            results.close()
        else:
            with pytest.raises(stopping.Stopped):
                results.throw(stopping.Stopped(2))
    assert len(begun) < 5
