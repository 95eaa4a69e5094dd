"""Faithfulness of attributions, by hand, and for models with and without noise."""

from __future__ import annotations

import numpy as np
import pytest

from jali.audit.all_models import gather
from jali.audit.faithfulness import (
    Faithful,
    by_column,
    columns_of,
    faithfulness,
    infidelity,
    neutral,
    rank_correlation,
)
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.explanation import Attribution
from jali.core.values import Column, Dataset, Schema
from jali.data.tables.images import pixels
from jali.models.fitted.linear import LinearModel

SCHEMA = Schema((Column("a", centre=1.0, spread=2.0), Column("b"), Column("c")))
WEIGHT = np.array([[-1.0, 3.0], [1.0, -1.0], [0.0, 0.5]])
MODEL = LinearModel(Encoding(SCHEMA), WEIGHT, np.array([0.0, 0.3]))
PEOPLE = Dataset(1.5 * np.random.default_rng(0).normal(size=(9, 3)), np.zeros(9, dtype=int), SCHEMA)


def exact() -> Attribution:
    """Weight times input of the predicted class: what each column adds to the score of a linear model."""
    Z = Encoding(SCHEMA).encode(PEOPLE.X)
    return Attribution(Z * WEIGHT[:, MODEL.logits(PEOPLE.X).argmax(axis=1)].T)


def test_what_a_linear_model_adds_up_foresees_every_removal():
    rng = np.random.default_rng(1)
    missed = infidelity(MODEL, PEOPLE, exact(), neutral(PEOPLE), rng)
    np.testing.assert_allclose(missed, 0.0, atol=1e-12)
    scaled = infidelity(MODEL, PEOPLE, Attribution(5 * exact().value), neutral(PEOPLE), rng)
    np.testing.assert_allclose(scaled, 0.0, atol=1e-12)  # the scale of attributions does not count
    wrong = infidelity(MODEL, PEOPLE, Attribution(-exact().value), neutral(PEOPLE), rng)
    np.testing.assert_allclose(wrong, 1.0)  # the wrong way round foresees nothing
    assert set(MODEL.logits(PEOPLE.X).argmax(axis=1)) == {0, 1}


def test_infidelity_of_half_of_what_matters_is_the_share_that_it_misses():
    """Removals of column a change the score by 4 z_a, those of b by -2 z_b; attributions that name a alone miss b."""
    both = Dataset(np.array([[1.0 + 2.0, 3.0, 0.0]]), [0], SCHEMA)  # encoded (1, 3, 0)
    weight = np.array([[0.0, 4.0], [0.0, -2.0], [0.0, 0.5]])
    model = LinearModel(Encoding(SCHEMA), weight, np.array([0.0, 9.0]))  # class 1: 4 - 6 + 9 > 0
    missed = infidelity(model, both, Attribution(np.array([[4.0, 0.0, 0.0]])), neutral(both), np.random.default_rng(0))
    draws = np.random.default_rng(0)
    gone = np.array([draws.random((1, 3)) < 0.2 for _ in range(20)])[:, 0]
    seen, foreseen = gone @ [4.0, -6.0, 0.0], gone @ [4.0, 0.0, 0.0]
    scale = max(0.0, (seen @ foreseen) / (foreseen @ foreseen))
    assert missed[0] == pytest.approx(((seen - scale * foreseen) ** 2).sum() / (seen @ seen))
    assert 0.3 < missed[0] < 1


def test_channels_of_a_pixel_are_replaced_together():
    schema = Schema(pixels(3, 2), ("a", "b"), image=(3, 2, 2))
    np.testing.assert_array_equal(columns_of(schema), [0, 1, 2, 3] * 3)
    value = np.arange(12.0)[None]
    np.testing.assert_array_equal(by_column(value, schema), [[0 + 4 + 8, 1 + 5 + 9, 2 + 6 + 10, 3 + 7 + 11]])
    np.testing.assert_array_equal(neutral(Dataset(np.zeros((2, 12)), [0, 1], schema)), np.full(12, 127.5))


def test_many_columns_are_replaced_a_few_at_a_time():
    """A model that reads the first of 100 columns: once that is deleted, in the first step, a coin is left."""
    schema = Schema(tuple(Column(f"x{j}") for j in range(100)))
    weight = np.zeros((100, 2))
    weight[0, 1] = 4.0
    model = LinearModel(Encoding(schema), weight, np.zeros(2))
    people = Dataset(np.ones((1, 100)), [1], schema)
    given = Attribution(np.eye(1, 100))
    found = faithfulness(model, people, given, np.zeros(100))
    assert found["deletion"][0] == pytest.approx(0.5)
    assert found["insertion"][0] == pytest.approx(1 / (1 + np.exp(-4.0)))


def test_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    a, b = np.random.default_rng(0).normal(size=(2, 3, 9))
    np.testing.assert_allclose(rank_correlation(a, b), [spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)])
    np.testing.assert_array_equal(rank_correlation(np.ones((1, 4)), np.arange(4.0)[None]), [0.0])


PLAIN = "mlp(hidden=[], epochs=20, lr=0.02)"
PRIVATE = f"dp_sgd({PLAIN}, epsilon=0.5)"


def measured(data: str, model: str) -> dict:
    """Values and where they are defined by metric, of input times gradient under linear models."""
    specifications = {"data": data, "model": model, "game": "rotate(models=4)"}
    parts = {kind: registry.build(kind, text) for kind, text in specifications.items()}
    explain = (registry.build("explain", "input_x_gradient"),)
    setup = load(Experiment(**parts, explain=explain, faithful=Faithful(records=30, models=3)))
    quality = gather(setup, Resources()).quality
    return {m.metric: (v, d) for m, v, d in zip(quality.names, quality.value, quality.defined, strict=True)}


def test_the_first_records_of_the_first_models_are_measured_and_noise_takes_agreement():
    found = {model: measured("lending(n=300)", model) for model in (PLAIN, PRIVATE)}
    for metric in ("deletion", "insertion", "infidelity", "rank_agreement"):
        value, defined = found[PLAIN][metric]
        assert defined.sum() == 3 * 30
        assert np.isfinite(value[defined]).all()
    assert found[PLAIN]["seconds"][1].all()
    plain, private = (value[defined].mean() for value, defined in (f["rank_agreement"] for f in found.values()))
    assert plain > 0.8
    assert private < plain - 0.1


def test_a_linear_model_stays_faithful_under_noise():
    """Its attributions foresee its own removals of numbers, however noisy its weights are."""
    value, defined = measured("linear_gaussian(n=300, d=8)", PRIVATE)["infidelity"]
    assert defined.any()
    assert value[defined].max() < 1e-6
