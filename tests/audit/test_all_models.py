"""What the columns of a game leave, put together: signals in order, and runs over all targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from jali.audit.all_models import gather, readouts
from jali.audit.attack_runs import AttackRun
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.claims import Membership
from jali.core.errors import JaliError
from jali.core.values import SignalName, Unit
from jali.store import Store

NOISE = registry.build("knowledge", "noise")


@dataclass(frozen=True)
class Margin:
    """Scores records by their logit, asks about each twice, and fails of one target on request."""

    fails_at: int = -1
    learns: ClassVar[str] = "membership"
    sees: ClassVar[str] = "probabilities"
    holds: ClassVar[str] = "rows"
    trains_shadows: ClassVar[bool] = False
    calls: ClassVar[list[int]] = []

    def run(self, oracle, known, records, rng):
        self.calls.append(len(records))
        if len(self.calls) - 1 == self.fails_at:
            raise JaliError("no luck")
        oracle.labels(records.X)
        return Membership(oracle.probabilities(records.X)[:, 1], {"voters": float(len(self.calls))})


SCHEMA = registry.build("data", "lending(n=240)").load().schema


def setup(*attacks, explain=(), game="thirds(targets=3, shadows=2)"):
    Margin.calls.clear()
    runs = tuple(AttackRun(attack, NOISE) for attack in attacks)
    parts = (registry.build("data", "lending(n=240)"), registry.build("model", "logistic"))
    explainers = tuple(registry.build("explain", e) for e in explain)
    return load(Experiment(*parts, registry.build("game", game), explainers, runs=runs))


def test_the_prediction_comes_first_then_each_explainer_with_the_signals_that_read_it():
    first, *rest = readouts(setup(explain=("linear_recourse", "input_x_gradient", "trepan")).parts)
    assert first.explainer is None
    assert SignalName("confidence") in first.names(SCHEMA)
    assert [r.label for r in rest] == ["linear_recourse", "input_x_gradient", "trepan"]
    assert SignalName("counterfactual_distance", "linear_recourse") in rest[0].names(SCHEMA)
    assert SignalName("attribution_l1", "input_x_gradient") in rest[1].names(SCHEMA)
    assert rest[2].names(SCHEMA) == ()  # a surrogate is attacked by queries


def test_a_signal_on_request_is_read_where_it_is_named():
    plain = setup(explain=("linear_recourse",)).parts
    named = registry.build("signal", "recovered_distance")
    wanted = SignalName("recovered_distance", "linear_recourse")
    assert wanted not in readouts(plain)[1].names(SCHEMA)
    assert wanted in readouts(replace(plain, signal=(named,)))[1].names(SCHEMA)


def test_a_run_over_all_targets_keeps_guesses_facts_and_queries():
    mine = setup(Margin())
    (record,) = gather(mine, Resources()).runs
    many = int(mine.game.scored.sum())
    assert record.failed == ""
    assert len(record.guesses.score) == many
    unit, people = np.nonzero(mine.game.scored.T)
    np.testing.assert_array_equal(record.guesses.unit, unit)
    np.testing.assert_array_equal(record.guesses.truth, mine.game.member[people, mine.game.targets[unit]])
    assert record.overall["voters"].tolist() == [1.0, 2.0, 3.0]
    assert record.queries == 2 * many // 3


def test_a_run_that_fails_of_one_target_is_no_result_and_says_of_how_many():
    (record,) = gather(setup(Margin(fails_at=1)), Resources()).runs
    assert record.failed == "no luck (It failed on 1 of 3 targets.)"
    assert record.guesses is None


def test_a_record_is_found_by_its_run():
    mine = setup(Margin(), Margin(fails_at=99))
    found = gather(mine, Resources())
    for run in mine.parts.runs:
        assert found.record(run).run is run


def test_what_the_store_has_of_a_run_is_not_redone(tmp_path):
    resources = Resources(store=Store(tmp_path))
    first = gather(setup(Margin()), resources)
    again = gather(setup(Margin()), resources)
    assert Margin.calls == []
    np.testing.assert_array_equal(again.runs[0].guesses.score, first.runs[0].guesses.score)
    assert again.runs[0].queries == first.runs[0].queries
    assert again.runs[0].overall["voters"].tolist() == first.runs[0].overall["voters"].tolist()


@pytest.mark.parametrize("block", [1, 4])
def test_evidence_is_stacked_by_column(block):
    mine = setup(explain=("linear_recourse",))
    found = gather(mine, Resources(block=block))
    assert found.evidence.value.shape == (len(found.evidence.names), *mine.game.member.shape)
    assert found.quality.value.shape[1] == mine.game.scored.sum()
    assert 0 <= found.parity < 1e-6


def test_a_whole_attribution_is_one_name_per_column():
    names = readouts(setup(explain=("input_x_gradient",)).parts)[1].names(SCHEMA)
    parts = [name.part for name in names if name.signal == "attributions"]
    assert parts == list(range(len(SCHEMA.columns)))
    assert all(name.part is None for name in names if name.signal != "attributions")


def test_evidence_names_the_scale_of_each_signal():
    seen = readouts(setup(explain=("input_x_gradient",)).parts)
    for readout in seen:
        assert len(readout.units(SCHEMA)) == len(readout.names(SCHEMA))
    units = dict(zip(seen[0].names(SCHEMA), seen[0].units(SCHEMA), strict=True))
    assert units[SignalName("confidence")] is Unit.LOG_ODDS
    assert units[SignalName("correctness")] is Unit.YES_NO
    units = dict(zip(seen[1].names(SCHEMA), seen[1].units(SCHEMA), strict=True))
    assert units[SignalName("attribution_l1", "input_x_gradient")] is Unit.MINUS_LOG
