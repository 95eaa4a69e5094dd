"""Private networks: what they promise, that nothing passes the noise, and what an audit of them finds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import VoidClaim
from jali.core.values import Column, Dataset, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.defend._dp.dp_sgd_accounting import losses
from jali.defend.models.dp_sgd import DPSGD, trained
from jali.defend.models.shuffled_sgd import ShuffledSGD, _Shuffled
from jali.models.convnet import ConvNet
from jali.models.logistic import Logistic
from jali.models.mlp import MLP
from jali.models.vit import ViT
from jali.verify.dependence import leaking_variables
from jali.verify.mechanisms_under_test import MechanismUnderTest, subject
from jali.verify.neighbours import influential
from jali.verify.run import verify
from tests.pictures import bars, members, streams

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")

DATA = LinearGaussian(n=300, d=20, scale="population").load()
CHEAP = {"epsilon": 4.0, "rate": 0.5}  # with one epoch: the noise for it is searched for once, which takes longest
OTHER = dataclasses.replace(DATA, y=np.r_[1 - DATA.y[:1], DATA.y[1:]])


def test_the_claim_rests_on_the_noise_that_is_added_and_not_on_the_number_of_rows():
    private = DPSGD(MLP(epochs=5), epsilon=2.0, rate=0.2)
    given, counted = private.guarantee(), private.accounted()
    assert (given.epsilon, given.delta, given.adjacency) == (2.0, 1e-5, "add-remove")
    assert given.covers == ("decisions", "explanations")
    assert private.steps == 25
    assert private.mechanism().multiplier == given.multiplier
    assert counted.pld <= 2.0 * 1.001 < counted.rdp < 2.5
    assert counted.holds
    event = given.event()
    assert (event.count, event.event.sampling_probability) == (25, 0.2)
    assert event.event.event.noise_multiplier == given.multiplier


def test_a_tenth_of_the_noise_is_another_claim():
    private = DPSGD(MLP(epochs=5), epsilon=2.0, rate=0.2)
    assert losses(private.multiplier / 2, 0.2, 25, 1e-5) > 5


@pytest.mark.parametrize("model", [MLP(hidden=(8,), epochs=1), ConvNet(width=4, epochs=1)], ids=["mlp", "convnet"])
def test_the_trained_weights_are_all_that_is_released(model):
    if isinstance(model, ConvNet):
        pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")
        here = bars(40)
        there = dataclasses.replace(here, y=np.r_[(here.y[:1] + 1) % 3, here.y[1:]])
    else:
        here, there = DATA, OTHER
    private = DPSGD(model, **CHEAP)

    def release(data):
        return private.fit(data, np.ones((len(data), 1), bool), streams(1)).logits(here.X)

    assert leaking_variables(release, here, there) == ()
    assert not np.array_equal(release(here), release(there))


@pytest.mark.parametrize("model", [MLP(epochs=1), ConvNet(width=4, epochs=1), ViT(width=32, depth=1, epochs=1)])
def test_columns_are_their_own_and_models_come_back(model):
    if not isinstance(model, MLP):
        pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")
    from jali.core.encoding import Encoding
    from jali.models.fitted.restore import restore

    data, member, private = bars(40), members(40, 2), DPSGD(model, **CHEAP)
    whole = private.fit(data, member, streams(2))
    alone = private.fit(data, member[:, [1]], streams(2)[1:])
    for name, array in alone.arrays().items():
        np.testing.assert_array_equal(array[0], whole.arrays()[name][1])
    back = restore(whole.arrays(), Encoding(data.schema))
    np.testing.assert_array_equal(back.logits(data.X), whole.logits(data.X))


def test_it_learns_where_there_are_many_rows_and_much_budget():
    data = LinearGaussian(n=2000, d=5, scale="population").load()
    member = np.arange(2000)[:, None] < 1500
    private = DPSGD(MLP(hidden=(), epochs=10, lr=0.05), epsilon=8.0)
    right = private.fit(data, member, streams(1)).logits(data.X)[:, 0].argmax(axis=1) == data.y
    plain = (
        MLP(hidden=(), epochs=30, lr=0.05).fit(data, member, streams(1)).logits(data.X)[:, 0].argmax(axis=1) == data.y
    )
    assert right[1500:].mean() > plain[1500:].mean() - 0.05 > 0.6


def with_noise(part, private):
    """An audit of the same claim with only this part of the noise."""
    how = dataclasses.replace(private.mechanism(), multiplier=part * private.multiplier)

    def draw(train, query, count, rng):
        nets = trained(private.model, train.data, np.ones((len(train.data), count), bool), rng.spawn(count), how)
        return np.hstack([nets.weights[0].reshape(count, -1), nets.biases[0]]).astype(np.float64)

    return MechanismUnderTest("part of the noise", private.guarantee(), draw, private.plain())


def small_pair(tried):
    """The pair of few rows in which one record moves furthest; the search chooses it for these mechanisms."""
    return next(pair for pair in influential(tried.trainer, 0) if str(pair).startswith("moved"))


def quick(rate: float) -> DPSGD:
    """Few steps, since each draw of an audit trains a network."""
    return DPSGD(MLP(hidden=(), epochs=4, lr=0.1, batch=100), 1.0, rate=rate)


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_an_audit_refutes_a_part_of_the_noise(rate):
    """One pair is given: each draw trains a network, and that the search finds a pair is tested with quicker parts."""
    tried = with_noise(0.03, quick(rate))
    found = verify(tried, small_pair(tried), draws=300)
    assert found.verdict == "REFUTED"
    assert found.leaking_variables == []
    assert found.recomputed > 10
    assert "THE DECLARED NOISE IS TOO SMALL" in found.known_flaws


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_what_the_same_audit_measures_of_the_whole_noise_stays_below_what_is_accounted_for(rate):
    private = quick(rate)
    tried = subject(registry.spec(private))
    found = verify(tried, small_pair(tried), draws=200)
    counted = private.accounted()
    assert found.verdict == "NOT REFUTED"
    assert max(found.bounds.values()) <= 2 * counted.pld < found.ceiling  # a replaced record pays twice
    assert found.recomputed == pytest.approx(counted.pld, rel=1e-2)
    assert (found.leaking_variables, found.known_flaws) == ([], "")


def test_a_record_that_overflows_cannot_undo_the_noise():
    """Its gradient is not finite, nor would any sum with it be: everybody could see that it is there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 64))
    X[3] = 1e38
    pixels = Schema(tuple(Column(f"p{j}") for j in range(64)), image=(1, 8, 8))
    data = Dataset(X, (X[:, 1] > 0).astype(int), pixels)
    for model in (MLP(hidden=(), epochs=1), MLP(hidden=(8, 8), epochs=1), ConvNet(width=4, epochs=1)):
        private = DPSGD(model, epsilon=2.0, rate=1.0)
        nets = private.fit(data, np.ones((60, 1), bool), streams(1))
        assert np.isfinite(nets.logits(np.delete(X, 3, axis=0))).all()


def test_training_warns_where_public_rows_are_the_private_ones():
    pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")
    data = registry.build("data", "digits").load()
    spec = "dp_sgd(fine_tuned(convnet(width=4, epochs=1), public=digits, epochs=1), epsilon=4.0, rate=0.5)"
    with pytest.warns(VoidClaim, match="rows of its public data are also in the data"):
        registry.build("model", spec).fit(data, np.arange(len(data))[:, None] < 60, streams(1))


def test_shuffled_batches_claim_no_amplification_and_say_so():
    private = DPSGD(MLP(epochs=30), epsilon=1.0)
    given = ShuffledSGD(private).guarantee()
    assert given.adjacency == "replace-one"
    assert given.epsilon == pytest.approx(losses(private.multiplier / 2, 1.0, 30, 1e-5))
    # A Gaussian of mu = 2 sqrt(30) / multiplier: replacing a record moves one sum of each epoch by up to two gradients.
    mu = 2 * np.sqrt(30) / private.multiplier
    delta = norm.cdf(-given.epsilon / mu + mu / 2) - np.exp(given.epsilon) * norm.cdf(-given.epsilon / mu - mu / 2)
    assert delta == pytest.approx(1e-5, rel=0.05)
    assert "shuffled" in str(given)
    assert "with Poisson sampling" in str(given)


def test_a_removed_record_moves_others_between_shuffled_batches_and_a_replaced_one_does_not():
    """So sums change that the record was never in, and add-remove adjacency has no epsilon here."""
    how = _Shuffled(1.0, 0.25, 4, "automatic", 1.0)
    with_it, without = (
        [set(batch.tolist()) for batch in how.batches(n, torch.Generator().manual_seed(3))] for n in (12, 11)
    )
    changed = sum((one - {11}) != other for one, other in zip(with_it, without, strict=True))
    assert changed > 1
    assert sum(11 in batch for batch in with_it) == 1


@pytest.mark.parametrize("model", [MLP(hidden=(4,), epochs=1), ConvNet(width=4, epochs=1)])
@pytest.mark.parametrize("kept", ["one class", "nobody"])
def test_nothing_is_refused_because_of_who_is_a_member(model, kept):
    """One person decides whether a class has members, so a refusal would have no epsilon."""
    if not isinstance(model, MLP):
        pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")
    data = bars(40)
    member = (data.y == 0)[:, None] if kept == "one class" else np.zeros((40, 1), dtype=bool)
    for private in (DPSGD(model, **CHEAP), ShuffledSGD(DPSGD(model, **CHEAP))):
        nets = private.fit(data, member, streams(1))
        assert np.isfinite(nets.logits(data.X)).all()
    with pytest.raises(JaliError, match="lack members of two classes"):
        model.fit(data, member, streams(1))


def test_shuffled_batches_take_every_row_once_an_epoch():
    how = _Shuffled(1.0, 0.25, 10, "automatic", 1.0)
    batches = list(how.batches(10, torch.Generator().manual_seed(0)))
    assert len(batches) == 10
    for epoch in (batches[:4], batches[4:8]):
        assert sorted(torch.cat(epoch).tolist()) == list(range(10))
    assert batches[0].tolist() != batches[4].tolist()
    data = bars(40)
    nets = ShuffledSGD(DPSGD(MLP(hidden=(4,), epochs=1), **CHEAP)).fit(data, members(40, 1), streams(1))
    assert np.isfinite(nets.logits(data.X)).all()


def fit(model):
    return DPSGD(model, 1.0, rate=1.0).fit(DATA, np.ones((300, 1), bool), streams(1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DPSGD(MLP(), epsilon=0.0), "epsilon must be positive"),
        (lambda: DPSGD(MLP(), 1.0, rate=1.5), "rate at most 1"),
        (lambda: DPSGD(MLP(), 1.0, delta=1.0), "delta must be below 1"),
        (lambda: DPSGD(MLP(), 1.0, norm=-1.0), "norm must be positive"),
        (lambda: DPSGD(Logistic(), 1.0), "and logistic is none of them"),
        (lambda: ShuffledSGD(MLP()), "private must be a dp_sgd"),
        (lambda: fit(MLP(batch=0)), "batch be positive"),
        (lambda: fit(MLP(lr=1e300, epochs=2)), "diverged with lr"),
        (lambda: DPSGD(MLP(epochs=1), 1.0, rate=1.0).draws(DATA, 1, np.random.default_rng(0)), r"mlp\(hidden=\[\]\)"),
    ],
)
def test_a_slip_is_one_sentence(make, words):
    with pytest.raises(JaliError, match=words):
        make()


def test_fields_come_back():
    model = "fine_tuned(model=vit(width=64), public=digits, epochs=1)"
    text = f'dp_sgd(model={model}, epsilon=4.0, rate=0.5, clipping="flat", norm=0.5)'
    assert registry.spec(registry.build("model", text)) == text
    assert registry.build("model", f"shuffled_sgd({text})").guarantee().delta == 1e-5
