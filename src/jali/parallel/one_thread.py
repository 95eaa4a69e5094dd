"""One thread per task: sums that are split over threads would change the last bits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Result = TypeVar("Result")


def alone(run: Callable[[Task], Result], task: Task) -> Result:
    """Run one task with one thread for linear algebra; the limit holds for the whole process meanwhile."""
    with libraries(tuple(sys.modules)).limit(limits=1):
        return run(task)


@lru_cache(maxsize=1)
def libraries(imported: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001 (a key: imports load libraries)
    """The libraries loaded now that start threads; looking for them reads the memory map of the whole process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
