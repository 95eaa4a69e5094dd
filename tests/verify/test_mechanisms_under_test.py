from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.core.values import Column, Dataset, Schema
from jali.models.logistic import Logistic
from jali.report.verification import text
from jali.verify import neighbours
from jali.verify.mechanisms_under_test import MechanismUnderTest, _defence, defences, draw_answers, subject
from jali.verify.neighbours import Pair, adverse, fitted
from jali.verify.run import verify


@dataclasses.dataclass(frozen=True)
class Counted:
    """A trainer that keeps the data sets it was fitted on."""

    inner: object
    fits: list

    def fit(self, data, member, rngs):
        self.fits.append((data.X.tobytes(), data.y.tobytes()))
        return self.inner.fit(data, member, rngs)


@pytest.mark.parametrize("name", ["laplace_recourse", "dp_weights_recourse", "public_direction", "dp_logistic"])
def test_the_plain_model_of_each_data_set_is_fitted_once(name):
    """One run used to fit up to 191 models of 15 data sets."""
    given = subject(name)
    counted = Counted(given.trainer, [])
    verify(dataclasses.replace(given, trainer=counted), draws=100)
    assert len(counted.fits) == len(set(counted.fits)) == 15


def test_a_release_of_ones_own_needs_only_the_models_that_choose_queries():
    counted = Counted(Logistic(), [])
    neighbours.pairs(counted, 0, covers_decision=True)
    neighbours.tables(None, 0)
    assert len(counted.fits) == len(set(counted.fits)) == 7


def test_a_private_model_is_drawn_anew_for_every_draw():
    given = subject("dp_logistic")
    train = adverse(given.trainer).first
    rng = np.random.default_rng(0)
    some = draw_answers(given, train, train.data.X[:1], 5, rng).numbers
    more = draw_answers(given, train, train.data.X[:1], 5, rng).numbers
    assert len(np.unique(np.vstack([some, more]), axis=0)) == 10


def test_answers_come_from_the_model_of_their_training_set():
    given = subject("laplace_recourse")
    pair = adverse(given.trainer)
    here, there = (
        draw_answers(given, train, pair.query, 1, np.random.default_rng(0)).numbers
        for train in (pair.first, pair.second)
    )
    for moved, train in ((here, pair.first), (there, pair.second)):
        weight = np.diff(train.model.coef, axis=1)[:, 0]
        assert abs(moved[0] @ weight) == pytest.approx(np.linalg.norm(moved) * np.linalg.norm(weight))
    assert not np.allclose(here / np.linalg.norm(here), there / np.linalg.norm(there))


def test_numbers_of_another_shape_are_refused():
    claim = Guarantee("x", 1.0, "replace-one", ("explanations",))
    flat = MechanismUnderTest("flat", claim, lambda train, query, count, rng: np.zeros(count), Logistic())
    with pytest.raises(JaliError, match=r"must draw numbers \(draws, k\)"):
        draw_answers(flat, adverse(Logistic()).first, np.zeros((1, 20)), 3, np.random.default_rng(0))


def test_those_are_all_that_can_be_tested_by_name():
    assert set(defences()) == {
        "above_threshold",
        "dp_ebm",
        "dp_logistic",
        "dp_sgd",
        "dp_weights_recourse",
        "laplace_recourse",
        "public_direction",
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("k_anonymous", r"k_anonymous cannot be tested, because it makes no privacy claim, guarantee\(\)"),
        ("shuffled_sgd", r"shuffled_sgd cannot be tested, because it has no example\(epsilon\)"),
    ],
)
def test_a_part_that_cannot_be_tested_says_what_it_lacks(name, words):
    with pytest.raises(JaliError, match=words):
        subject(name)


# --- slips ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "epsilon", "words"),
    [
        ("nothing", 1.0, "no defence"),
        ("laplace_recourse", -1.0, "epsilon must be positive"),
        ("laplace_recourse(epsilon=2.0)", 1.0, "--epsilon says 1"),
        ("os:getcwd", None, "--epsilon"),
        ("no.such.module:release", 1.0, "Cannot import"),
        ("os:nothing", 1.0, "Cannot import"),
        ("os:sep", 1.0, "must be callable"),
        (":x", None, "package.module:name"),
        ("os:", 1.0, "package.module:name"),
    ],
)
def test_a_slip_is_one_sentence(name, epsilon, words):
    with pytest.raises(JaliError, match=words):
        subject(name, epsilon)


def test_a_claim_is_stated_once_and_fully():
    with pytest.raises(JaliError, match="claims adjacency = replace-one, and --adjacency says add-remove"):
        subject("laplace_recourse", 1.0, "add-remove")
    with pytest.raises(JaliError, match=r"claims delta = 0\.0, and --delta says 0\.1"):
        subject("laplace_recourse", 1.0, delta=0.1)
    with pytest.raises(JaliError, match="adjacency"):
        subject("os:getcwd", 1.0, "")


def test_recourse_without_a_key_has_no_claim_to_test():
    with pytest.raises(JaliError, match="makes no privacy claim: no key was given"):
        subject("dp_weights_recourse(dp_logistic(1.0, 1.0))")


@dataclasses.dataclass(frozen=True)
class OfALibrary:
    """Stands for a part whose noise a library draws: a noisy mean of ten numbers from 0 to 1."""

    library: ClassVar[str] = "some library"

    scale: float

    def released(self, data, query, count, rng):
        return data.X.mean(axis=0)[:1] + rng.laplace(scale=self.scale, size=(count, 1))

    def plain(self):
        return Logistic()


@pytest.mark.parametrize(("scale", "verdict"), [(0.2, "NOT REFUTED"), (0.02, "REFUTED")])
def test_noise_of_a_library_is_tested_by_draws_and_not_replayed(scale, verdict):
    claim = Guarantee("mean", 1.0, "replace-one", ("explanations",))
    tested = _defence(OfALibrary(scale), "model", claim)
    schema = Schema((Column("a", low=0, high=1),))
    data = Dataset(np.zeros((10, 1)), np.arange(10) % 2, schema)
    other = Dataset(np.r_[np.ones((1, 1)), np.zeros((9, 1))], np.arange(10) % 2, schema)
    found = verify(tested, Pair("one moves", fitted(Logistic(), data), fitted(Logistic(), other), data.X[:1]), 1000)
    assert found.verdict == verdict
    assert found.leaking_variables == []
    assert found.no_dependence_check == "not applicable: the library draws its own noise (some library)"
    assert "Data dependence: not applicable: the library draws its own noise" in text(found)
