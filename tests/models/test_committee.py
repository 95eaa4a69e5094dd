"""Means of models on disjoint shares: against the trainer itself, by hand, and as a promise that composes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.linear_gaussian import LinearGaussian
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.committee import Committee
from jali.models.fitted.linear import LinearEnsemble
from jali.models.fitted.restore import restore
from jali.models.logistic import Logistic
from jali.models.mlp import MLP

DATA = LinearGaussian(n=300, d=5, scale="population").load()


def streams(m):
    return [np.random.default_rng(j) for j in range(m)]


def members(m=3):
    return np.random.default_rng(9).random((len(DATA), m)) < 0.5


@dataclasses.dataclass(frozen=True)
class Shown:
    """A trainer whose coefficients are the mean row and whose intercepts are how many rows there were."""

    def fit(self, data, member, rngs):
        Z = Encoding(data.schema).encode(data.X)
        coef = np.stack([np.stack([np.zeros(Z.shape[1]), Z[mine].mean(axis=0)], axis=1) for mine in member.T])
        count = member.sum(axis=0).astype(float)
        return LinearEnsemble(Encoding(data.schema), coef, np.stack([np.zeros_like(count), count], axis=1))


@pytest.mark.parametrize("trainer", [Logistic(C=10.0), ClippedLogistic(bound=1.0)], ids=["logistic", "clipped"])
def test_one_member_is_the_trainer_to_the_bit(trainer):
    one, itself = (t.fit(DATA, members(), streams(3)) for t in (Committee(trainer, members=1), trainer))
    for j in range(3):
        np.testing.assert_array_equal(one.coef[j], itself[j].coef)
        np.testing.assert_array_equal(one.intercept[j], itself[j].intercept)


def test_one_private_member_draws_from_a_stream_of_its_column():
    private = DPLogistic(1.0, bound=1.0)
    one = Committee(private, members=1).fit(DATA, members(), streams(3))
    itself = private.fit(DATA, members(), [rng.spawn(1)[0] for rng in streams(3)])
    np.testing.assert_array_equal(one.coef, itself.coef)


def test_the_mean_of_all_shares_by_hand():
    """Equal shares: the mean of means is the mean of all rows, and the mean count is theirs."""
    whole = np.ones((300, 1), dtype=bool)
    out = Committee(Shown(), members=6).fit(DATA, whole, streams(1))
    np.testing.assert_allclose(out.coef[0][:, 1], DATA.X.mean(axis=0), atol=1e-12)
    assert out.intercept[0].tolist() == [0.0, 50.0]


def test_the_mean_of_members_trained_apart():
    mine = members()[:, 0]
    committee, (rng,) = Committee(Logistic(), members=4, size=20), streams(1)
    shares = committee.shares(int(mine.sum()), rng)
    rows = DATA.rows(mine)
    apart = [Logistic().fit(rows.rows(share), np.ones((20, 1), dtype=bool), streams(1)) for share in shares.T]
    out = committee.fit(DATA, mine[:, None], streams(1))
    np.testing.assert_allclose(out.coef[0], np.mean([m.coef[0] for m in apart], axis=0), atol=1e-12)
    np.testing.assert_allclose(out.intercept[0], np.mean([m.intercept[0] for m in apart], axis=0), atol=1e-12)


@pytest.mark.parametrize(("n", "count", "size"), [(100, 20, 0), (103, 20, 0), (100, 20, 4), (100, 7, 5), (5, 5, 1)])
def test_shares_are_disjoint_and_as_large_as_they_should_be(n, count, size):
    shares = Committee(members=count, size=size).shares(n, np.random.default_rng(1))
    assert shares.shape == (n, count)
    assert shares.sum(axis=1).max() == 1
    sizes = shares.sum(axis=0)
    assert (sizes == size).all() if size else (shares.any(axis=1).all() and np.ptp(sizes) <= 1)


def test_shares_are_random_and_fair():
    """Over many draws every row is in every share equally often, whatever its place: 5 standard errors."""
    rng = np.random.default_rng(2)
    often = np.mean([Committee(members=4).shares(12, rng) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(often, 0.25, atol=5 * np.sqrt(0.25 * 0.75 / 4000))


def test_a_column_does_not_depend_on_its_company():
    private = Committee(DPLogistic(1.0, bound=1.0), members=5)
    together = private.fit(DATA, members(), streams(3))
    for j in range(3):
        alone = private.fit(DATA, members()[:, [j]], [np.random.default_rng(j)])
        np.testing.assert_array_equal(alone.coef[0], together.coef[j])


def test_a_replaced_record_changes_one_member_only():
    """What parallel composition rests on: shares do not look at rows, and other members keep their bits."""
    changed = dataclasses.replace(DATA, y=np.r_[1 - DATA.y[:1], DATA.y[1:]])
    shares = Committee(members=10).shares(300, np.random.default_rng(0))
    here, there = (Logistic().fit(d, shares, streams(10)).coef for d in (DATA, changed))
    assert (here != there).any(axis=(1, 2)).tolist() == shares[0].tolist()


def test_the_promise_is_that_of_the_members():
    private = DPLogistic(0.5, bound=1.0)
    promised, inner = Committee(private).guarantee(), private.guarantee()
    assert (promised.epsilon, promised.delta, promised.adjacency) == (0.5, 0.0, "replace-one")
    assert (promised.covers, promised.per) == (inner.covers, inner.per)
    assert promised.mechanism == "objective perturbation in 20 disjoint shares"
    assert set(inner.assumes) < set(promised.assumes)
    assert Committee(Committee(private, members=2), members=3).guarantee().epsilon == 0.5


@pytest.mark.parametrize("trainer", [Logistic(), ClippedLogistic(bound=1.0), Committee()])
def test_nothing_is_promised_where_members_promise_nothing(trainer):
    with pytest.raises(JaliError, match="logistic gives no privacy guarantee, so the mean has none: use dp_logistic"):
        Committee(trainer).guarantee()


def test_models_are_kept_and_restored():
    out = Committee(members=3).fit(DATA, members(), streams(3))
    back = restore(out.arrays(), out.encoding)
    np.testing.assert_array_equal(back.logits(DATA.X), out.logits(DATA.X))


def test_a_committee_steadies_its_members():
    """Means of 20 members on 15 rows each are right more often than one such member."""
    rest = LinearGaussian(n=2300, d=5).load()
    train = (np.arange(2300) < 300)[:, None]
    one, many = (Committee(Logistic(), k, 15).fit(rest, train, streams(1)) for k in (1, 20))
    right = [(m.logits(rest.X[300:])[:, 0].argmax(axis=1) == rest.y[300:]).mean() for m in (one, many)]
    assert right[1] > right[0]


@pytest.mark.parametrize(
    ("committee", "words"),
    [
        (Committee(members=301), "301 members need 301 training rows, and there are 300"),
        (Committee(members=4, size=100), "4 members need 400 training rows, and there are 300"),
        (Committee(MLP(hidden=(2,), epochs=1), members=2), "a model of mlp is not linear: use logistic"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(committee, words):
    with pytest.raises(JaliError, match=words):
        committee.fit(DATA, np.ones((300, 1), dtype=bool), streams(1))


def test_a_share_of_one_class_is_the_trainers_business():
    sorted_ = Dataset(DATA.X, np.arange(300) == 0, DATA.schema)
    whole = np.ones((300, 1), dtype=bool)
    with pytest.raises(JaliError, match="19 of 20 models lack members of two classes"):
        Committee(Logistic()).fit(sorted_, whole, streams(1))
    assert len(Committee(DPLogistic(1.0, bound=1.0)).fit(sorted_, whole, streams(1))) == 1


@pytest.mark.parametrize(("field", "value"), [("members", 0), ("size", -1)])
def test_bad_fields(field, value):
    with pytest.raises(JaliError, match="members must be at least 1 and size at least 0"):
        Committee(**{field: value})


def test_specification_comes_back():
    text = "committee(trainer=dp_logistic(epsilon=0.5, bound=1.0), members=4, size=9)"
    assert registry.spec(registry.build("model", text)) == text
    assert registry.spec(registry.build("model", "committee")) == "committee"
