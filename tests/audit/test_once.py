"""One audit reads its table once and draws each of its games once, whatever is attacked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from jali.api import from_config
from jali.audit.setup import Resources
from jali.config import checked
from jali.core import registry

GAMES = [registry.find("game", name) for name in registry.names("game")]


@pytest.fixture
def path(tmp_path) -> str:
    rng = np.random.default_rng(0)
    n = 200
    age, income = rng.integers(18, 80, n), rng.integers(20, 40, n) * 100
    repaid = (income + rng.normal(0, 400, n) > 2900).astype(int)
    pd.DataFrame({"age": age, "income": income, "repaid": repaid}).to_csv(tmp_path / "own.csv", index=False)
    return str(tmp_path / "own.csv")


@pytest.fixture
def counts(monkeypatch) -> Counter[str]:
    """How often the file was read, the table loaded, and a game of each kind drawn."""
    found: Counter[str] = Counter()

    def counted(train, name, label):
        method = getattr(train, name)

        def call(*args, **options):
            if "nrows" not in options:  # the line of names is looked at first
                found[label] += 1
            return method(*args, **options)

        monkeypatch.setattr(train, name, call)

    counted(pd, "read_csv", "read")
    counted(registry.find("data", "table"), "load", "load")
    for game in GAMES:
        counted(game, "draw", f"draw {game.__name__}")
    return found


def audit(path: str, **more):
    settings = {"data": path, "target": "repaid", "explain": ["linear_recourse"], "game": "rotate(models=3)"}
    return from_config(checked(settings | more), Resources())


def test_the_default_audit(path, counts):
    found = audit(path)
    assert counts == {"read": 1, "load": 1, "draw Rotate": 1}
    assert found.results.find(kind="contrast")


def test_named_query_attacks_alone(path, counts):
    """Where everybody is asked about, query attacks have a game of their own; the one named is drawn to see that."""
    found = audit(path, attack=["label_only(perturbations=5)"], explain=[])
    assert (counts["read"], counts["load"]) == (1, 1)
    assert {label: n for label, n in counts.items() if label.startswith("draw")} == {"draw Rotate": 1, "draw Folds": 1}
    assert found.results.find(kind="query attack")


def test_named_query_attacks_in_a_game_that_leaves_people_out(path, counts):
    """The targets of the game are attacked; it is not drawn again without its shadows."""
    audit(path, attack=["threshold", "label_only(perturbations=5)"], game="thirds(targets=2, shadows=2)")
    assert counts == {"read": 1, "load": 1, "draw Thirds": 1}


def test_linkage_in_a_second_game(path, counts):
    found = audit(path, explain=["nice"], quasi=["age"])
    assert counts == {"read": 1, "load": 1, "draw Rotate": 1, "draw Outsiders": 1}
    assert found.results.find(kind="query attack", attack="linkage")
    assert found.results.find(kind="contrast", explainer="nice")


def test_values_that_are_shown_load_nothing_again(path, counts):
    shown = from_config(
        checked({"data": path, "target": "repaid", "explain": ["nice"], "game": "rotate(models=3)"}),
        Resources(),
        show_values=True,
    )
    assert shown.results.examples
    assert counts == {"read": 1, "load": 1, "draw Rotate": 1}
