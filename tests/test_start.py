"""What must not be loaded where it is not used: imports are most of the time of a small command."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from jali import api
from jali.api import attack_file, evidence_files
from jali.audit import setup
from jali.audit.setup import Resources

HEAVY = {"joblib", "matplotlib", "pandas", "scipy", "sklearn", "torch"}


def loaded(code):
    """Modules that are loaded after this code was run by another Python."""
    command = [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"]
    return set(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def test_the_command_line_loads_no_library_of_numbers():
    assert not loaded("import jali.cli") & (HEAVY | {"numpy"})


def test_work_that_stays_in_the_process_loads_no_joblib():
    assert (
        not loaded("from jali.parallel import engine, fan_out; list(fan_out(abs, [-1], engine('processes', 4)))")
        & HEAVY
    )


@pytest.mark.parametrize("kind", ["signal", "attack"])
def test_parts_that_workers_load_bring_no_statistics(kind):
    code = f"from jali.core import registry\nfor name in registry.names('{kind}'):\n    registry.build('{kind}', name)"
    assert not loaded(code) & {"scipy.stats", "pandas", "sklearn"}


def test_an_audit_with_workers_loads_the_libraries_of_models_in_them_alone():
    """They take 90 MB in each process that loads them, and seconds."""
    code = """
from jali.api.audits import from_config
from jali.audit.setup import Resources
from jali.config import Config
from jali.parallel import stop
tree = 'sklearn("sklearn.tree:DecisionTreeClassifier")'
found = from_config(Config(data="lending(n=80)", model=tree, game="halves(targets=1, shadows=3)"), Resources(workers=2))
assert "blind baseline" in [check.name for check in found.results.sanity]
stop()
"""
    assert not loaded(code) & {"sklearn", "pandas"}


@pytest.mark.parametrize(("small", "workers"), [(10_000, 1), (10, 2)])
def test_a_small_file_of_evidence_is_attacked_in_this_process(tmp_path, monkeypatch, small, workers):
    rng = np.random.default_rng(0)
    member = rng.random((200, 8)) < 0.5
    np.savez(tmp_path / "evidence.npz", member=member, signal=rng.normal(size=(200, 8)) + member)
    asked = []
    attack = evidence_files.attack_evidence

    def attack_here(found, game, attacks, seed, resources):
        asked.append(resources.workers)
        return attack(found, game, attacks, seed, Resources())

    monkeypatch.setattr(evidence_files, "attack_evidence", attack_here)
    monkeypatch.setattr(setup, "SMALL", small)
    attack_file(tmp_path / "evidence.npz", ["threshold"], 0, Resources(workers=2))
    assert asked == [workers]


def test_every_name_of_the_interface_is_there():
    for name in api.__all__:
        assert getattr(api, name).__name__ == name
