from __future__ import annotations

import dataclasses
import math
import sys

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, under_replacement
from jali.defend._dp import noise
from jali.models.logistic import Logistic
from jali.privacy import snapped_noise
from jali.privacy.mechanisms import mark, released
from jali.report import verification
from jali.verify.dependence import ROWS, UNDECLARED
from jali.verify.mechanisms_under_test import MechanismUnderTest, subject
from jali.verify.neighbours import adverse
from jali.verify.run import verify

OUTPUT = 'dp_logistic(epsilon=1.0, bound=1.0, C=0.1, method="output")'
STANDING = ["dp_weights_recourse", "public_direction", "above_threshold", "dp_logistic", OUTPUT]


def counting(epsilon, claimed, delta=0.0, adjacency="replace-one"):
    """The number of positive labels, which one changed label moves by one, with Laplace noise for an epsilon."""

    def draw(train, query, count, rng):
        exact, scale = float(train.data.y.sum()), 1 / epsilon
        return released("noise", lambda: exact + rng.laplace(0, scale, (count, 1)), scale=scale, sensitivity=1.0)

    given = Guarantee("Laplace", claimed, adjacency, ("explanations",), "release", delta, "laplace")
    return MechanismUnderTest("counting", given, draw, Logistic())


def release(data, query, rng):
    """A name to import; `own` puts a function of its own in its place."""
    pytest.fail("own must replace this before it is drawn from")


@pytest.fixture
def own(monkeypatch):
    """Test a claim of epsilon = 1 for some function as a release of one's own."""
    monkeypatch.setitem(sys.modules, "my_lab", sys.modules[__name__])

    def run(function, draws=100, **claim):
        monkeypatch.setattr(sys.modules[__name__], "release", function)
        return verify(subject("my_lab:release", 1.0, **claim), draws=draws)

    return run


# --- what is refuted, and what stands ------------------------------------------------------------------------------


def test_half_the_noise_is_refuted_and_found_out_from_what_it_declares():
    found = verify(counting(2.0, claimed=1.0))
    assert found.verdict == "REFUTED"
    assert 1.0 < found.lower <= 2.0
    assert found.recomputed == pytest.approx(2.0, abs=1e-2)
    assert "THE DECLARED NOISE IS TOO SMALL FOR THE CLAIM: it costs epsilon = 2, not 1." in verification.text(found)
    assert "Assumed, not tested: the random draws and their seed stay secret" in verification.text(found)


@pytest.mark.parametrize("seed", range(3))
def test_the_right_noise_is_not_refuted(seed):
    found = verify(counting(1.0, claimed=1.0), seed=seed)
    assert found.verdict == "NOT REFUTED"
    assert found.leaking_variables == []
    assert found.recomputed == pytest.approx(1.0, abs=1e-3)
    assert found.known_flaws == ""


def balance(scale, claimed):
    """People of class 1 minus the others, under add-remove: one removed record moves it by 1, one replaced by 2."""

    def draw(train, query, count, rng):
        return np.where(train.data.y == 1, 1, -1).sum() + rng.laplace(0, scale, (count, 1))

    return MechanismUnderTest(
        "balance", Guarantee("Laplace", claimed, "add-remove", ("explanations",)), draw, Logistic()
    )


def test_a_replaced_record_counts_twice_where_the_claim_is_about_adding_and_removing():
    honest = verify(balance(1.0, claimed=1.0), adverse(Logistic()))
    assert (honest.verdict, honest.epsilon) == ("NOT REFUTED", 2.0)
    assert honest.lower > 1.0
    assert "a replaced record counts as one removed and one added: 2 epsilon = 2" in verification.text(honest)
    assert verify(balance(0.5, claimed=1.0)).verdict == "REFUTED"
    given = Guarantee("x", 1.0, "add-remove", ("decisions",), delta=0.1)
    assert under_replacement(given) == (2.0, pytest.approx(0.1 * (1 + math.e)))


def test_a_removed_record_counts_once():
    """A count moves by one, whether a record is removed or its label changed: the removal shows twice as much."""
    found = verify(counting(1.9, claimed=1.0, adjacency="add-remove"))
    assert (found.verdict, found.epsilon) == ("REFUTED", 1.0)
    assert "removed" in found.distinguisher


def test_a_claim_with_delta_is_tested_at_that_delta():
    found = verify(counting(2.0, claimed=1.0, delta=0.1))
    assert found.lower < verify(counting(2.0, claimed=1.0)).lower
    assert found.ceiling < 6.29
    assert verify(counting(1.0, claimed=1.0, delta=0.99)).lower == 0
    assert verify(counting(8.0, claimed=1.0, delta=0.1)).verdict == "REFUTED"


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
    assert found.leaking_variables == ["weights"]
    assert found.recomputed is None
    assert verification.text(found).splitlines()[-1].startswith("REFUTED")


@pytest.mark.parametrize("name", STANDING)
def test_every_other_defence_stands_and_is_clean(name):
    found = verify(subject(name, 1.0))
    assert found.verdict == "NOT REFUTED"
    assert found.leaking_variables == []
    assert "% of the draws were answers" in found.distinguisher


# Above a threshold, a changed label shows a quarter of epsilon at most: it moves the gradient by half of what the bound
# allows, and where all rows of a path move one way, only the threshold's noise, half of the price, has to hide it. At a
# fifth of the noise that is 5/4 in the limit, of which 2,000 draws show 0.6; a ninth is the first to be refuted always.
@pytest.mark.parametrize(("name", "part"), [(n, 9 if n == "above_threshold" else 5) for n in STANDING])
def test_a_part_of_the_noise_under_the_same_claim_is_refuted(name, part, monkeypatch):
    whole = noise.laplace
    for module in ("_dp.noise", "explain.above_threshold"):
        less = f"jali.defend.{module}.laplace"
        monkeypatch.setattr(less, lambda X, scale, rng: whole(X, np.maximum(1, scale // part), rng))
    monkeypatch.setattr("jali.defend.models.dp_logistic.ball", lambda *law: snapped_noise.ball(*law) / part)
    found = verify(subject(name, 1.0))
    assert found.verdict == "REFUTED"
    assert found.leaking_variables == []


def test_a_larger_epsilon_behind_the_claim_is_refuted():
    """Noise and safety margin are a fifth of what epsilon = 1 asks for."""
    larger = subject("public_direction", 5.0)
    claimed = dataclasses.replace(larger.guarantee, epsilon=1.0)
    assert verify(dataclasses.replace(larger, guarantee=claimed)).verdict == "REFUTED"


def test_answers_are_checked_for_leaking_variables_and_not_only_the_weights_behind_them(monkeypatch):
    from jali.defend.explain import dp_weights_recourse

    honest = dp_weights_recourse.nearest

    def peeking(X, ask, known, w, error):
        return honest(X, ask, known, w + mark("scores", ask.score)[0], error)

    monkeypatch.setattr(dp_weights_recourse, "nearest", peeking)
    found = verify(subject('dp_weights_recourse(dp_logistic(1.0, 1.0), beta=1.0, key="fresh, in memory")'), draws=100)
    assert found.leaking_variables == ["scores"]


# --- a release of one's own ----------------------------------------------------------------------------------------


def noisy_mean(scale):
    """The mean of the first column with noise for a range of sixteen over the rows, times a factor."""
    return lambda data, query, rng: data.X[:, 0].mean() + rng.laplace(0, scale * 16 / len(data))


def test_the_pair_with_a_value_moved_refutes_a_mean_with_half_of_the_noise(own):
    assert own(noisy_mean(1.0), 1000).verdict == "NOT REFUTED"
    found = own(noisy_mean(0.5), 1000)
    assert found.verdict == "REFUTED"
    assert found.lower > 1.3


def test_noise_that_is_not_declared_is_no_leak_but_cannot_be_checked(own):
    found = own(noisy_mean(1.0))
    assert found.leaking_variables == [UNDECLARED]
    assert "not checked, because no mechanism was declared" in verification.text(found)
    assert own(lambda data, query, rng: data.X[:, 0].mean()).leaking_variables == [ROWS]


def test_a_claim_of_ones_own_may_have_a_delta(own):
    assert own(noisy_mean(1.0), delta=0.01).claim.startswith("epsilon = 1, delta = 0.01 a release")


def test_a_release_for_some_tables_only_is_tested_on_those(own):
    found = own(lambda data, query, rng: data.X[:, 19].mean() + rng.laplace())
    assert "20 columns" in found.distinguisher
    lines = [line for line in verification.text(found).splitlines() if "where it failed" in line]
    assert len(lines) == 1
    assert "it raised IndexError" in lines[0]
    assert "out of bounds" not in lines[0]
    assert "steep (511 rows of 1 column), flat (47 rows of 1 column)" in lines[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda data, query, rng: {}["x"], "it raised KeyError: 'x'."),
        (lambda data, query, rng: 1 / 0, "it raised ZeroDivisionError"),
        (lambda data, query, rng: [], "released no numbers"),
        (lambda data, query, rng: "a", "must take"),
        (lambda data: 1.0, "must take"),
        (lambda data, query, rng: np.nan, "finite numbers"),
        (lambda data, query, rng: {"a": None}, "it returned dict, which is not made of numbers"),
        (lambda data, query, rng: None, "it returned None"),
    ],
)
def test_a_release_that_is_none_is_one_sentence(own, function, words):
    with pytest.raises(JaliError, match=words):
        own(function)


# --- settings ------------------------------------------------------------------------------------------------------


def test_few_draws_are_refused():
    with pytest.raises(JaliError, match="at least 100"):
        verify(counting(1.0, 1.0), draws=10)


def test_a_pair_may_be_given():
    pair = adverse(Logistic())
    assert "the pair wide (500 rows of 20 columns)" in verify(counting(1.0, 1.0), pair, draws=100).distinguisher


def test_recourse_from_private_weights_is_tested_with_a_key_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = verify(subject("dp_weights_recourse"), draws=100)
    assert 'key="fresh, in memory"' in found.name
    said = verification.text(found)
    assert "the key of the noise is drawn at random and secret" in said
    assert "no key" not in said
    assert list(tmp_path.iterdir()) == []
