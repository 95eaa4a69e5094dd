"""One thread per task, also for libraries that were loaded after the first task."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import threadpoolctl

from jali import parallel
from jali.parallel import one_thread


def threads() -> list[int]:
    """How many threads each library may start now."""
    return [each["num_threads"] for each in threadpoolctl.threadpool_info()]


def test_a_task_has_one_thread_and_afterwards_all_are_back():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpoolctl.threadpool_limits(limits=2):
        before = threads()
        inside = parallel.alone(lambda _: parallel.alone(lambda _: threads(), None), None)
        tasks = list(parallel.fan_out(lambda _: threads(), [1, 2]))
        assert 2 in before
        assert {*inside, *tasks[0], *tasks[1]} == {1}
        assert threads() == before


def test_libraries_are_looked_for_again_after_an_import_and_only_then(monkeypatch):
    looked = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            looked.append(len(sys.modules))
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    one_thread.libraries.cache_clear()
    for _ in range(3):
        parallel.alone(abs, -1)
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "loaded_between_two_tasks", ModuleType("loaded_between_two_tasks"))
    parallel.alone(abs, -1)
    assert len(looked) == 2
    one_thread.libraries.cache_clear()
