"""Models are trained with one thread, as the runner does."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield
