from __future__ import annotations

import numpy as np
import pytest

from jali.core import JaliError
from jali.guarantee import Guarantee
from jali.mechanisms import released
from jali.models.logistic import Logistic
from jali.report import verification
from jali.verify import Subject, adverse, defences, subject, verify


def counting(epsilon, claimed):
    """The number of positive labels, which one changed label moves by one, with Laplace noise for an epsilon."""

    def draw(data, query, count, rng):
        exact = float(data.y.sum())
        return released("noise", lambda: exact + rng.laplace(0, 1 / epsilon, (count, 1)), scale=1 / epsilon)

    given = Guarantee("Laplace", claimed, "replace-one", ("explanations",), per="release", noise="laplace")
    return Subject("counting", given, draw, Logistic())


def test_half_the_noise_is_refuted():
    found = verify(counting(2.0, claimed=1.0))
    assert found.verdict == "REFUTED"
    assert 1.0 < found.lower <= 2.0


@pytest.mark.parametrize("seed", range(3))
def test_the_right_noise_is_not_refuted(seed):
    found = verify(counting(1.0, claimed=1.0), seed=seed)
    assert found.verdict == "NOT REFUTED"
    assert found.carriers == []
    assert found.recomputed == pytest.approx(1.0, abs=1e-3)


def test_a_claim_beyond_the_ceiling_is_not_testable():
    found = verify(counting(8.0, claimed=8.0), draws=500)
    assert found.verdict == "NOT TESTABLE"
    assert found.ceiling < 8
    assert verification.verdict(found).startswith("NOT TESTABLE")


def test_published_laplace_recourse_is_refuted_by_every_view_and_names_the_weights():
    found = verify(subject("laplace_recourse", 1.0))
    assert found.verdict == "REFUTED"
    assert found.lower > 5
    assert found.bounds["its length"] > 4.5
    assert found.carriers == ["weights"]
    assert verification.text(found).splitlines()[-1].startswith("REFUTED")


@pytest.mark.parametrize("name", [n for n in defences() if n != "laplace_recourse"])
def test_every_other_defence_stands_and_is_clean(name):
    found = verify(subject(name, 1.0), draws=500)
    assert found.verdict == "NOT REFUTED"
    assert found.carriers == []


def test_the_neighbour_differs_in_one_label_and_the_query_is_decided_alike():
    pair = adverse(Logistic())
    assert (pair.data.X == pair.neighbour.X).all()
    assert (pair.data.y != pair.neighbour.y).sum() == 1
    models = [
        Logistic().fit(d, np.ones((500, 1), bool), [np.random.default_rng(0)])[0] for d in (pair.data, pair.neighbour)
    ]
    assert models[0].logits(pair.query).argmax() == models[1].logits(pair.query).argmax()


@pytest.mark.parametrize(
    ("name", "epsilon", "words"),
    [
        ("nothing", 1.0, "no defence"),
        ("laplace_recourse", -1.0, "epsilon must be positive"),
        ("laplace_recourse(epsilon=2.0)", 1.0, "--epsilon says 1"),
        ("os:getcwd", None, "--epsilon"),
        ("no.such.module:release", 1.0, "Cannot import"),
        ("os:sep", 1.0, "must be callable"),
    ],
)
def test_a_slip_is_one_sentence(name, epsilon, words):
    with pytest.raises(JaliError, match=words):
        subject(name, epsilon)


def test_a_release_that_is_none_is_one_sentence():
    with pytest.raises(JaliError, match="must take"):
        verify(subject("os:getcwd", 1.0), draws=100)
    with pytest.raises(JaliError, match="at least 100"):
        verify(counting(1.0, 1.0), draws=10)
    with pytest.raises(JaliError, match="adjacency"):
        subject("os:getcwd", 1.0, "")
