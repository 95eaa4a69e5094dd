"""One column: who is shown to the explainer, and what is kept of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from jali.audit import quality
from jali.audit.one_model import Readout, Roles, observe, preparations
from jali.audit.one_tile import TILE, predicted, tile_numbers, tiles
from jali.audit.quality import Measured
from jali.core import registry
from jali.core.explanation import Attribution, Counterfactual
from jali.models.logistic import Logistic
from jali.stats.roc import auc
from tests.explaining import Direct, explained


@dataclass(frozen=True)
class Recorder(Direct):
    """Moves the first column of every other record by one, and remembers whom it was shown."""

    calls: list[np.ndarray] = field(default_factory=list, compare=False)
    gives: ClassVar[str] = "counterfactual"

    def answer(self, model, X, schema, train, rng):
        self.calls.append(X)
        found = np.arange(len(X)) % 2 == 0
        return Counterfactual(X + np.outer(found, np.arange(X.shape[1]) == 0), found)


def setting(n: int = 3 * TILE + 50):
    data = registry.build("data", f"lending(n={n})").load()
    member = np.arange(n) % 2 == 0
    model = Logistic().fit(data, member[:, None], [np.random.default_rng(0)])[0]
    return data, member, model


def readout(explainer=None) -> Readout:
    needs = "counterfactual" if explainer else "logits"
    known = [registry.build("signal", name) for name in registry.names("signal")]
    signals = [s for s in known if "outcome" not in s.needs]  # those are for regression models
    return Readout(explainer, tuple(s for s in signals if needs in s.needs))


def seen(model, data, roles, readout, seed=0):
    """What a readout of column 0 leaves."""
    return observe(preparations(model, data, roles.member, seed, 0), data, roles, readout, seed, 0)


def some(n: int, seed: int = 1):
    """A third of the records, nobody of the second tile."""
    asked = np.random.default_rng(seed).random(n) < 1 / 3
    asked[tile_numbers(n) == 1] = False
    return asked


def test_only_who_is_asked_about_is_shown_and_an_empty_tile_is_no_call():
    data, member, model = setting()
    asked, recorder = some(len(data)), Recorder()
    out = seen(model, data, Roles(member, asked, asked), readout(recorder), 0)
    assert len(recorder.calls) == 3
    shown = np.concatenate([rows for _, rows in tiles(asked)])
    np.testing.assert_array_equal(np.sort(shown), np.flatnonzero(asked))
    np.testing.assert_array_equal(np.concatenate(recorder.calls), data.X[shown])
    assert not out["observed"][:, ~asked].any()
    assert not out["value"][:, ~asked].any()
    prediction = seen(model, data, Roles(member, asked, asked), readout(), 0)
    np.testing.assert_array_equal(prediction["observed"], np.tile(asked, (len(prediction["value"]), 1)))


@dataclass(frozen=True)
class Moody(Direct):
    """Attributions with one draw for all records that are explained together."""

    gives: ClassVar[str] = "attribution"

    def answer(self, model, X, schema, train, rng):
        return Attribution(np.full(X.shape, rng.normal()))


def test_what_a_tile_shares_does_not_tell_members_that_come_first():
    """Members are the first half of the rows; a draw for every tile of neighbours in the table would tell them."""
    data, _, model = setting(4 * TILE)
    first, everybody = np.arange(len(data)) < len(data) // 2, np.ones(len(data), bool)
    moody = Readout(Moody(), (registry.build("signal", "attribution_l1"),))
    for seed in range(5):
        value = seen(model, data, Roles(first, everybody, ~everybody), moody, seed)["value"][0]
        assert len(np.unique(value)) == 4
        assert abs(auc(value, first) - 0.5) < 0.08


@pytest.mark.parametrize("text", ["linear_recourse", "growing_spheres(samples=40)"])
def test_an_answer_does_not_depend_on_who_else_is_asked(text):
    data, member, model = setting()
    explainer, asked, everybody = registry.build("explain", text), some(len(data)), np.ones(len(data), bool)
    few = seen(model, data, Roles(member, asked, ~everybody), readout(explainer), 0)
    whole = seen(model, data, Roles(member, everybody, ~everybody), readout(explainer), 0)
    np.testing.assert_array_equal(few["observed"], whole["observed"] & asked)
    assert few["observed"].any()
    np.testing.assert_allclose(few["value"][:, asked], whole["value"][:, asked], atol=1e-9)


def test_quality_is_kept_of_the_measured_records_alone():
    data, member, model = setting()
    asked, explainer = some(len(data)), registry.build("explain", "linear_recourse")
    measured = asked & (np.arange(len(data)) % 2 == 0)
    measured[2 * TILE :] = False
    found = readout(explainer)
    out = seen(model, data, Roles(member, asked, measured), found, 0)
    X, train = data.X[measured], data.rows(member)
    there = explained(explainer, model, X, data.schema, None, np.random.default_rng(0))
    value, speaks = quality.appraise(model, X, there, quality.Neighbourhood(train), np.random.default_rng(0))
    assert found.measures()[:2] == (Measured("validity", "linear_recourse"), Measured("cost_l0", "linear_recourse"))
    assert there.found.any()
    np.testing.assert_array_equal(out["defined"][:-1], speaks)
    np.testing.assert_allclose(out["quality"][:-1][speaks], value[speaks], rtol=1e-6)
    assert out["quality"].dtype == np.float32
    assert (out["quality"][-1] > 0).all()
    assert out["defined"][-1].all()


def test_of_explanations_that_are_no_recourse_the_time_is_measured():
    data, member, model = setting()
    everybody = np.ones(len(data), bool)
    attribution = Readout(registry.build("explain", "input_x_gradient"), (registry.build("signal", "attribution_l1"),))
    out = seen(model, data, Roles(member, everybody, everybody), attribution, 0)
    assert attribution.measures() == (Measured("seconds", "input_x_gradient"),)
    assert (out["quality"] > 0).all()
    assert out["defined"].all()


def test_a_model_predicts_many_rows_in_one_call_and_only_those_it_is_asked_about():
    asked = np.random.default_rng(0).random(20_000) < 0.7
    X = np.random.default_rng(1).normal(size=(20_000, 3))
    calls = []

    class Counting:
        def logits(self, rows):
            calls.append(len(rows))
            return rows[:, :2] * 2

    found = predicted(Counting(), X, asked)
    np.testing.assert_array_equal(found, np.where(asked[:, None], X[:, :2] * 2, 0.0))
    assert sum(calls) == asked.sum()
    assert max(calls) == 8192
    wide = np.zeros((600, 4000))
    calls.clear()
    predicted(Counting(), wide, np.ones(600, dtype=bool))
    assert calls == [256, 256, 88]
