"""The executor for Ray that docs/clusters.md shows gives the same bits as this process; where Ray is installed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"
# In an interpreter of its own: Ray starts daemons and threads that must not stay behind in the tests' own process.
AUDIT = """
import json
import jali
from jali.audit.setup import Resources

def numbers(**engine):
    game = {"data": "lending(n=160)", "model": "logistic", "game": "rotate(models=8)", "attack": ["lira"]}
    found = jali.audit(**game, explain=[], resources=Resources(workers=2, block=2, **engine))
    return json.dumps([row.model_dump() for row in found.results.rows if row.metric != "seconds"])

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
try:
    assert numbers(engine=RayExecutor()) == numbers()
finally:
    ray.shutdown()
print("same bits")
"""


def test_the_executor_of_the_docs():
    if not importlib.util.find_spec("ray"):
        pytest.skip("Ray is not installed")
    (shown,) = [
        code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "import ray" in code
    ]
    done = subprocess.run([sys.executable, "-c", shown + AUDIT], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip().endswith("same bits"), done.stderr[-2000:]
