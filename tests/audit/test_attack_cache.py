"""Results of attacks are read from the store where everything they depend on is the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.audit import attack_cache, signal_attacks
from jali.audit.setup import Resources
from jali.audit.signal_attacks import Attacked, attack_evidence
from jali.core import registry
from jali.core.values import SignalName
from jali.stopping import Stopped
from jali.store import Store
from tests.conftest import planted


@pytest.fixture
def found():
    evidence, game = planted(0.5, n=200, models=5, signals=2)
    names = (SignalName("confidence"), SignalName("size", "e"))
    data = registry.build("data", "hypercube(n=200, d=3)").load()
    return replace(evidence, names=names), game, data


def refuse() -> Attacked:
    raise AssertionError("attacked again")


def test_the_same_is_read_and_not_made_again(found, tmp_path):
    evidence, game, data = found
    store = Store(tmp_path)
    made = attack_cache.attacked(store, lambda: "k" * 40, lambda: attack_evidence(evidence, game, data=data))
    assert made.rows
    assert made.controls
    assert attack_cache.attacked(store, lambda: "k" * 40, refuse) == made


def test_damaged_results_are_made_again(found, tmp_path):
    evidence, game, _ = found
    store = Store(tmp_path)
    for arrays in ({"results": np.array([1, 2], dtype=np.uint8)}, {"other": np.zeros(2)}, {"results": np.zeros(2)}):
        store.save("k" * 40, arrays)
        again = attack_cache.attacked(store, lambda: "k" * 40, Attacked)
        assert again == Attacked()
    assert evidence.value.shape[1] == len(game.member)


def test_without_a_store_nothing_is_looked_up():
    assert attack_cache.attacked(None, refuse, Attacked) == Attacked()


def test_the_key_depends_on_everything_that_is_attacked(found):
    evidence, game, data = found
    value = evidence.value.copy()
    value[0, 0, 0] += 1e-12
    lira = registry.build("attack", "lira")
    fewer = replace(game, targets=game.targets[:3], shadows=game.shadows[:3], scored=game.scored[:, :3])
    keys = {
        attack_cache.key(evidence, game, (), 0, data),
        attack_cache.key(replace(evidence, value=value), game, (), 0, data),
        attack_cache.key(replace(evidence, names=evidence.names[::-1]), game, (), 0, data),
        attack_cache.key(evidence, fewer, (), 0, data),
        attack_cache.key(evidence, replace(game, aside=np.zeros(200, dtype=bool)), (), 0, data),
        attack_cache.key(evidence, game, (lira,), 0, data),
        attack_cache.key(evidence, game, (), 1, data),
        attack_cache.key(evidence, game, (), 0, replace(data, groups=np.arange(200) // 2)),
    }
    assert len(keys) == 8
    assert attack_cache.key(evidence, game, (), 0, data) in keys


def test_the_code_of_attacks_that_are_chosen_by_name_is_in_the_key(found, monkeypatch):
    """An upgrade that mends an attack must not read what the attack found before."""
    evidence, game, data = found
    before = attack_cache.key(evidence, game, (), 0, data)
    plain = registry.source
    for name in ("lira", "joint", "quantile"):
        changed = f"jali.attacks.{name}"
        monkeypatch.setattr(registry, "source", lambda module, one=changed: plain(module) + "x" * (module == one))
        told = attack_cache.key(evidence, game, (), 0, data) != before
        assert told == (name != "quantile")  # that one is for games without shadow models


@pytest.mark.parametrize(("stopped_at", "after"), [("rows_of", 1), ("recover", 0)])
def test_a_run_that_was_stopped_goes_on_from_what_it_had(found, tmp_path, monkeypatch, stopped_at, after):
    """In one process too, and with the numbers of a run that was not stopped."""
    evidence, game, data = found
    resources = Resources(workers=1, store=Store(tmp_path))
    whole = attack_evidence(evidence, game, data=data)
    calls = {"rows_of": [], "recover": []}
    plain = {name: getattr(signal_attacks, name) for name in calls}

    def counting(name, stop):
        def call(*given):
            if stop and name == stopped_at and len(calls[name]) == after:
                raise Stopped(2)
            calls[name].append(given)
            return plain[name](*given)

        return call

    for stop in (True, False):
        for name in calls:
            monkeypatch.setattr(signal_attacks, name, counting(name, stop))
        if stop:
            with pytest.raises(Stopped):
                attack_evidence(evidence, game, seed=0, resources=resources, data=data)
        else:
            assert attack_evidence(evidence, game, seed=0, resources=resources, data=data) == whole
    went_through = {name: len(made) for name, made in calls.items()}
    calls["rows_of"].clear()
    calls["recover"].clear()
    for name in calls:
        monkeypatch.setattr(signal_attacks, name, counting(name, False))
    attack_evidence(evidence, game, data=data)
    assert went_through == {name: len(made) for name, made in calls.items()}
