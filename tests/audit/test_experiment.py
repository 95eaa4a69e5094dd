"""Runs: the same bits whatever the workers and blocks, and nothing redone after a kill."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from jali import cli
from jali.audit.all_models import gather
from jali.audit.experiment import run as run_setup
from jali.audit.outcome import Outcome
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Attribution
from jali.core.values import SignalName
from jali.models.sklearn import Sklearn
from jali.store import Store
from tests.explaining import Direct

ATTACKS = ("threshold", "lira")
# With three shadow models nothing is planted in explanations, which would take most of the time of a run.
BUILD = {"data": "sample(breast_cancer, 240)", "model": "logistic", "game": "rotate(models=4)"}


def small(**changes: str) -> Experiment:
    text = BUILD | changes
    explainers = tuple(registry.build("explain", e) for e in ("linear_recourse", "input_x_gradient"))
    if "mlp" in text["model"]:
        explainers = explainers[1:]
    attacks = tuple(registry.build("attack", a) for a in ATTACKS) if "disjoint" not in text["game"] else ()
    return Experiment(*(registry.build(kind, text[kind]) for kind in ("data", "model", "game")), explainers, attacks)


def run(experiment: Experiment, resources: Resources = Resources()) -> Outcome:  # noqa: B008 (frozen)
    return run_setup(load(experiment), resources)


def numbers(outcome) -> str:
    """All rows as text, but the seconds, which no seed repeats."""
    return json.dumps([row.model_dump() for row in outcome.results.rows if row.metric != "seconds"])


RESOURCES = Resources(1, block=1), Resources(1, block=6), Resources(2, block=4)


@pytest.mark.parametrize(
    "model", ["mlp(hidden=[8], epochs=2)", 'sklearn(estimator="sklearn.linear_model:LogisticRegression")']
)
def test_workers_and_blocks_change_no_bit_of_the_evidence(model):
    """Nor do threads: there are two here, and one in each worker."""
    setup = load(small(model=model, game="rotate(models=6)"))
    with threadpool_limits(limits=2):
        one, *others = [gather(setup, resources).evidence for resources in RESOURCES]
    for other in others:
        np.testing.assert_array_equal(one.value, other.value)


def test_workers_and_blocks_change_no_bit_of_the_results():
    """Five models: the fewest with which additions are planted in the explanation."""
    experiment = small(game="rotate(models=5)")
    experiment = replace(experiment, explain=experiment.explain[:1])
    with threadpool_limits(limits=2):
        one, *others = [run(experiment, resources) for resources in RESOURCES]
    assert one.results.controls[0].recovered
    for other in others:
        np.testing.assert_array_equal(one.evidence.value, other.evidence.value)
        assert numbers(one) == numbers(other)
        assert one.results.controls == other.results.controls


def test_what_the_store_has_is_not_redone(tmp_path, monkeypatch):
    store = Store(tmp_path)
    first = run(small(), Resources(store=store))
    written = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.npz")}

    def refuse(*_: object) -> None:
        raise AssertionError("a stored column was computed again")

    monkeypatch.setattr("jali.audit.one_model.observe", refuse)
    again = run(small(), Resources(store=store))
    assert numbers(first) == numbers(again)
    assert written == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.npz")}


def test_a_new_explainer_reuses_the_stored_models(tmp_path, monkeypatch):
    resources = Resources(store=Store(tmp_path))
    whole = gather(load(small()), resources)

    def refuse(*_: object) -> None:
        raise AssertionError("a stored model was trained again")

    monkeypatch.setattr("jali.models.logistic.Logistic.fit", refuse)
    partly = replace(small(), explain=small().explain[:1])
    again = gather(load(partly), resources)
    assert again.evidence.names == whole.evidence.names[: len(again.evidence.names)]


def test_only_columns_with_something_left_to_do_are_trained_again(tmp_path, monkeypatch):
    """A forest is not kept in the store: where one channel of one column is missing, one forest is trained."""
    forest = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=2")'
    resources, trained, fit = Resources(store=Store(tmp_path)), [], Sklearn.fit
    experiment = replace(small(model=forest), explain=())
    gather(load(experiment), resources)
    of_a_model = next(tmp_path.rglob("*.npz"))
    first = run(experiment, resources)
    of_a_model.unlink()

    def counted(part, data, member, rngs):
        trained.append(member)
        return fit(part, data, member, rngs)

    monkeypatch.setattr(Sklearn, "fit", counted)
    again = run(experiment, resources)
    assert [member.shape[1] for member in trained] == [1]
    assert numbers(first) == numbers(again)
    run(experiment, resources)
    assert len(trained) == 1


def test_another_seed_model_or_membership_is_another_key(tmp_path):
    resources = Resources(store=Store(tmp_path))
    gather(load(small()), resources)
    before = len(list(tmp_path.rglob("*.npz")))
    others = replace(small(), seed=1), small(model="logistic(C=2.0)"), small(game="rotate(models=4, share=0.4)")
    for k, other in enumerate(others, start=2):
        gather(load(other), resources)
        assert len(list(tmp_path.rglob("*.npz"))) == k * before


def test_asking_fewer_is_another_key_and_the_same_models(tmp_path, monkeypatch):
    store = Resources(store=Store(tmp_path))
    whole = gather(load(small(game="thirds(targets=2, shadows=3)")), store)

    def refuse(*_: object) -> None:
        raise AssertionError("a stored model was trained again")

    monkeypatch.setattr("jali.models.logistic.Logistic.fit", refuse)
    setup = load(small(game="thirds(targets=2, shadows=3, most=40)"))
    few = gather(setup, store)
    asked = setup.game.asked
    assert asked.sum(axis=0).tolist() == [120] * 8
    assert not few.evidence.observed[:, ~asked].any()
    np.testing.assert_array_equal(few.evidence.observed[:, asked], whole.evidence.observed[:, asked])
    np.testing.assert_allclose(few.evidence.value[:, asked], whole.evidence.value[:, asked], atol=1e-9)


def untimed(rows):
    return [row for row in rows if row["metric"] != "seconds"]


def test_quality_of_recourse_is_in_the_rows():
    outcome = run(replace(small(game="thirds(targets=3, shadows=2, most=60)"), attack=()))
    rows = {r.metric: r for r in outcome.results.find(kind="measure", explainer="linear_recourse")}
    costs = {"cost_l0", "cost_l1", "cost_l2", "plausibility", "seconds"}
    assert set(rows) == {"answered", "validity", "sparsity", *costs}
    assert rows["validity"].value == 1.0
    assert rows["cost_l2"].value <= rows["cost_l1"].value <= rows["cost_l0"].value * rows["cost_l1"].value
    for name in costs:
        assert 0 <= rows[name].low <= rows[name].value <= rows[name].high
        assert rows[name].units == 3
    at = outcome.evidence.names.index(SignalName("counterfactual_distance", "linear_recourse"))
    distance, there = np.exp(outcome.evidence.value[at]), outcome.evidence.observed[at]
    means = [distance[there[:, j] & outcome.game.scored[:, j], j].mean() for j in range(3)]
    assert rows["cost_l2"].value == pytest.approx(np.mean(means), rel=1e-5)
    only = outcome.results.find(kind="measure", explainer="input_x_gradient")
    assert [row.metric for row in only] == ["answered", "seconds"]


# One command, killed when its sixth result is written but not yet in its place.
KILLED = """
import os, signal, sys
from pathlib import Path
from jali import cli

replace, kept = os.replace, []

def killed(source, target):
    if "store" in Path(target).parts and Path(target).suffix == ".npz":
        kept.append(target)
        if len(kept) > 5:
            os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)

os.replace = killed
cli.main()
"""


def audited(out, monkeypatch) -> dict[str, int]:
    """Run the audit that is killed elsewhere to its end; when each file of its store was written."""
    monkeypatch.setattr(sys, "argv", ["jali", *RESUMED, str(out)])
    with contextlib.suppress(SystemExit):
        cli.main()
    return {p.name: p.stat().st_mtime_ns for p in out.rglob("store/*/*.npz")}


RESUMED = ["audit", "--data", "lending(n=300)", "--model", "logistic", "--game", "rotate(models=4)"]
RESUMED += ["--explain", "input_x_gradient", "--attack", "lira", "--workers", "1", "--out"]


def test_a_killed_run_resumes_and_gives_the_same_numbers(tmp_path, monkeypatch):
    """SIGKILL half-way, then run again: only the unfinished columns are computed, and the results are the same."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    process = subprocess.run([sys.executable, "-c", KILLED, *RESUMED, str(cut)], capture_output=True, check=False)
    assert process.returncode == -signal.SIGKILL
    kept = {p.name: p.stat().st_mtime_ns for p in cut.rglob("store/*/*.npz") if not p.name.startswith(".")}
    assert len(kept) == 5
    assert list(cut.rglob("store/*/.*.part"))
    assert not (cut / "results.json").exists()
    after = audited(cut, monkeypatch)
    assert set(after) == set(audited(whole, monkeypatch))
    assert {name: after[name] for name in kept} == kept
    assert len(after) > len(kept)
    rows = [untimed(json.loads((folder / "results.json").read_text())["rows"]) for folder in (whole, cut)]
    assert rows[0] == rows[1]
    with np.load(whole / "evidence.npz") as a, np.load(cut / "evidence.npz") as b:
        for name in a.files:
            np.testing.assert_array_equal(a[name], b[name])


@dataclass(frozen=True)
class Peeping(Direct):
    """An explainer that reads the training rows without saying so."""

    gives: ClassVar[str] = "attribution"

    def answer(self, model, X, schema, train, rng):
        return Attribution(np.full((len(X), 2), 1.0 if train is None else 2.0))


def test_training_rows_are_passed_only_to_explainers_that_declare_it():
    seen = gather(load(replace(small(), explain=(Peeping(),))), Resources())
    at = next(i for i, n in enumerate(seen.evidence.names) if n.signal == "attribution_l1")
    np.testing.assert_allclose(seen.evidence.value[at], -np.log(2.0))


def test_offline_games_run_with_offline_attacks():
    outcome = run(small(game="disjoint(targets=3, shadows=4)"))
    assert {r.attack for r in outcome.results.rows if r.kind == "contrast"} == {"offline_joint"}
    assert "lira" not in {r.attack for r in outcome.results.rows}
    with pytest.raises(JaliError, match="lira needs shadow models trained with and without"):
        run(replace(small(game="disjoint(targets=3, shadows=4)"), attack=(registry.build("attack", "lira"),)))


def test_sanity_checks_are_there_and_pass():
    outcome = run(replace(small(), explain=()))
    assert {c.name for c in outcome.results.sanity} == {
        "blind baseline",
        "null target",
        "orientation",
        "same preprocessing",
    }
    assert outcome.results.valid
