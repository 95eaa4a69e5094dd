"""A store on another machine, over FTP and loopback: same results, nothing of a shared folder; needs pyftpdlib."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from jali.audit.all_models import gather
from jali.audit.setup import Resources
from jali.store import Store
from tests.parallel.test_same_bits import small

pytest.importorskip("pyftpdlib", reason="pyftpdlib is not installed")


@pytest.fixture
def url(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", str(port), "-w", "-d", str(tmp_path), "-u", "me", "-P", "pw"]
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"ftp://me:pw@127.0.0.1:{port}/store"
    server.kill()
    server.wait()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # fsspec leaves its connection to the end of the process
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_results_and_tables_go_over_ftp(url, tmp_path):
    setup = small()
    here = gather(setup, Resources())
    with ProcessPoolExecutor(2) as pool:
        there = gather(setup, Resources(workers=2, block=1, engine=pool, store=Store(url)))
    np.testing.assert_array_equal(here.evidence.value, there.evidence.value)
    names = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert names
    assert all(name.endswith(".npz") and not name.startswith(".") for name in names)
