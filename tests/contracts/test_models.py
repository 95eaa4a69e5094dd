"""What every trainer must do, private ones included: one model per column of membership, each from its own stream."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.core.values import Dataset
from jali.models.given import Given

from .people import people, pictures, streams

TREE = '"sklearn.tree:DecisionTreeClassifier"'
NETWORK = "mlp(hidden=[4], epochs=1)"
SPECS = {
    "clipped_logistic": "clipped_logistic(bound=2.0)",
    "committee": "committee(logistic(), members=2)",
    "convnet": "convnet(epochs=1)",
    "dp_ebm": "dp_ebm(epsilon=1.0, rounds=5)",
    "dp_logistic": "dp_logistic(epsilon=1.0, bound=2.0)",
    "dp_sgd": f"dp_sgd({NETWORK}, epsilon=5.0, rate=0.5)",
    "fine_tuned": "fine_tuned(convnet(epochs=1), public=tests.contracts.test_models:Public(), epochs=1)",
    "logistic": "logistic",
    "mlp": NETWORK,
    "shuffled_sgd": f"shuffled_sgd(dp_sgd({NETWORK}, epsilon=5.0, rate=0.5))",
    "sklearn": f"sklearn({TREE})",
    "tuned": f'tuned({TREE}, "max_depth=[1, 3]", folds=2)',
    "vit": "vit(epochs=1, patch=2, depth=1)",
}
ON_PICTURES = ("convnet", "fine_tuned", "vit")
PRIVATE = ("dp_logistic", "dp_sgd", "shuffled_sgd")
NEEDS = {
    "convnet": "torch",
    "dp_ebm": "interpret",
    "dp_sgd": "opacus",
    "fine_tuned": "torch",
    "mlp": "torch",
    "shuffled_sgd": "opacus",
    "vit": "transformers",
}
every = pytest.mark.parametrize("name", [*SPECS, "given"])
written = pytest.mark.parametrize("name", SPECS)


@dataclasses.dataclass(frozen=True)
class Public:
    """Pictures of nobody."""

    def load(self) -> Dataset:
        return pictures(40, 9)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Public training is kept in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def table(name: str) -> Dataset:
    return pictures(60) if name in ON_PICTURES else people(120)


def trainer(name: str):
    pytest.importorskip(NEEDS.get(name, "numpy"), reason="the extra that trains it is not installed")
    if name == "given":
        data = people(80, 3)
        return Given(LogisticRegression(max_iter=1000).fit(data.X, data.y), "array")
    return registry.build("model", SPECS[name])


def membership(n: int) -> np.ndarray:
    return np.random.default_rng(1).random((n, 3)) < 0.6


def logits(name: str, member, rngs, data=None) -> np.ndarray:
    """Scores (n, M, C) of an ensemble; a void claim is another test's matter."""
    data = data or table(name)
    return trainer(name).fit(data, member, rngs).logits(data.X)


def test_every_trainer_is_in_this_table():
    assert {*SPECS, "given"} == set(registry.names("model"))


@every
def test_shapes_and_finite_scores_of_the_ensemble_and_of_each_model(name):
    data = table(name)
    ensemble = trainer(name).fit(data, membership(len(data)), streams(3))
    scores = ensemble.logits(data.X)
    assert len(ensemble) == 3
    assert scores.shape == (len(data), 3, 2)
    assert np.isfinite(scores).all()
    for column in range(3):
        np.testing.assert_allclose(ensemble[column].logits(data.X), scores[:, column], rtol=1e-9, atol=1e-9)


@every
def test_the_same_streams_give_the_same_bits(name):
    member = membership(len(table(name)))
    np.testing.assert_array_equal(logits(name, member, streams(3)), logits(name, member, streams(3)))


@every
def test_a_column_is_the_same_whatever_its_place_and_its_neighbours(name):
    """Which column stands where, and which others are in the call, changes no bit of a model."""
    member = membership(len(table(name)))
    together = logits(name, member, streams(3))
    back = logits(name, member[:, ::-1], streams(3)[::-1])
    np.testing.assert_array_equal(back[:, ::-1], together)
    alone = logits(name, member[:, 1:2], streams(3)[1:2])
    np.testing.assert_array_equal(alone[:, 0], together[:, 1])


@every
def test_rows_outside_the_training_set_have_no_influence(name):
    data = table(name)
    member = membership(len(data))[:, :1]
    outside = ~member[:, 0]
    other = dataclasses.replace(data, X=np.where(outside[:, None], data.X[::-1], data.X))
    flipped = dataclasses.replace(other, y=np.where(outside, 1 - data.y, data.y))
    first = trainer(name).fit(data, member, streams(1))[0].logits(data.X)
    np.testing.assert_array_equal(trainer(name).fit(flipped, member, streams(1))[0].logits(data.X), first)


@every
def test_inputs_are_not_written_to(name):
    data = table(name)
    member = membership(len(data))
    member.setflags(write=False)
    trainer(name).fit(data, member, streams(3))


REFUSED = [
    (name, wrong)
    for name in (*SPECS, "given")
    for wrong in ("one class", "streams", "rows")
    if wrong != "one class" or name not in ("clipped_logistic", *PRIVATE)  # to refuse would tell of the rows
]


@pytest.mark.parametrize(("name", "wrong"), REFUSED)
def test_bad_input_is_refused_in_one_sentence(name, wrong):
    data = table(name)
    member = membership(len(data))
    if wrong == "one class":
        member[data.y == 1] = False
    rows = member[1:] if wrong == "rows" else member
    rngs = streams(2 if wrong == "streams" else 3)
    words = {
        "one class": "two classes",
        "streams": "one random stream per model|member must have shape",
        "rows": "member must have shape",
    }
    with pytest.raises(JaliError, match=words[wrong]):
        trainer(name).fit(data, rows, rngs)


@written
def test_its_specification_rebuilds_it(name):
    part = trainer(name)
    assert registry.build("model", registry.spec(part)) == part
    assert registry.build("model", registry.spec(part, every=True)) == part


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_trainer_says_what_it_guarantees(name):
    pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")
    claim = trainer(name).guarantee(people(10).schema)
    assert isinstance(claim, Guarantee)
    assert claim.epsilon > 0
    assert not claim.void
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer(name).fit(people(120), np.ones((120, 1), bool), streams(1))  # a void claim would warn


@pytest.mark.parametrize("name", PRIVATE)
def test_noise_of_a_private_trainer_comes_from_the_stream(name):
    member = np.ones((120, 1), bool)
    assert (logits(name, member, streams(1, 5)) != logits(name, member, streams(1, 6))).any()
