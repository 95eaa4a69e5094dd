"""Torch modules of users: logits, probabilities, gradients, and training again by their own function."""

from __future__ import annotations

import numpy as np
import pytest

import jali
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Differentiable
from jali.core.values import Column, Dataset, Schema
from jali.models.given import Given

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
from torch import nn  # noqa: E402

from jali.adapters.models.torch_module import Reseeded, TorchModule, reseeded, training_mode  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = (X[:, 0] + RNG.normal(size=400) > 0).astype(int)


def trained(X, y, seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    steps = torch.optim.Adam(net.parameters(), 0.05)
    for _ in range(20):
        steps.zero_grad()
        nn.functional.cross_entropy(net(torch.tensor(X, dtype=torch.float32)), torch.tensor(y)).backward()
        steps.step()
    return net


class Squashed(nn.Module):
    """A module whose forward ends in a function that no layer shows."""

    def __init__(self, net, last):
        super().__init__()
        self.net = net
        self.last = last

    def forward(self, x):
        return self.last(self.net(x))


def test_outputs_are_read_by_what_they_are():
    net = trained(X, Y, 0)
    logits = TorchModule(net, [0, 1]).decision_function(X)
    whole = TorchModule(Squashed(net, lambda z: z.softmax(dim=1)), [0, 1]).decision_function(X)
    np.testing.assert_allclose(whole[:, 1] - whole[:, 0], logits[:, 1] - logits[:, 0], atol=1e-4)
    one = Squashed(net, lambda z: torch.sigmoid(z[:, 1] - z[:, 0]))
    np.testing.assert_allclose(TorchModule(one, [0, 1]).decision_function(X)[:, 1] * 2, logits @ [-1, 1], atol=1e-4)
    score = Squashed(net, lambda z: (z[:, 1] - z[:, 0])[:, None])
    np.testing.assert_allclose(TorchModule(score, [0, 1]).decision_function(X)[:, 1] * 2, logits @ [-1, 1], atol=1e-6)


def test_logits_between_0_and_1_of_a_weak_model_are_no_probabilities():
    net = nn.Linear(3, 1)
    net.load_state_dict({"weight": torch.full((1, 3), 0.01), "bias": torch.tensor([0.5])})
    for module in (net, Squashed(net, lambda z: z.squeeze(1)), Squashed(net, lambda z: z[:, 0].double())):
        found = TorchModule(module, [0, 1]).decision_function(X)
        np.testing.assert_allclose(found[:, 1] - found[:, 0], 0.5 + 0.01 * X.sum(axis=1), rtol=1e-5)
    squashed = TorchModule(Squashed(net, torch.sigmoid), [0, 1]).decision_function(X)
    np.testing.assert_allclose(squashed, found, atol=1e-5)


def test_weights_in_double_precision():
    net = nn.Linear(3, 2).double()
    weight, bias = (part.detach().numpy() for part in net.parameters())
    model = TorchModule(net, [0, 1])
    np.testing.assert_allclose(model.decision_function(X), X @ weight.T + bias, rtol=1e-12)
    value, slope = model.slopes(X, np.tile([0.0, 1.0], (len(X), 1)))
    np.testing.assert_allclose(value, X @ weight[1] + bias[1], rtol=1e-12)
    np.testing.assert_allclose(slope, np.tile(weight[1], (len(X), 1)), rtol=1e-12)


def test_a_module_that_gives_no_tensor_is_one_sentence():
    with pytest.raises(JaliError, match="must give one tensor of logits or probabilities, and it gives a tuple"):
        TorchModule(Squashed(nn.Linear(3, 2), lambda z: (z, z)), [0, 1]).decision_function(X)


def test_gradients_by_the_encoded_features_are_those_of_differences():
    columns = tuple(Column(name, centre=1.0, spread=2.0) for name in "abc")
    data = Dataset(X, Y, Schema(columns))
    model = Given(TorchModule(trained(X, Y, 0).double(), [0, 1]), inputs="array")
    model.model._tensors = lambda rows: [torch.from_numpy(np.array(rows))]  # float64, so that differences are exact
    existing = model.existing(data)
    assert isinstance(existing, Differentiable)
    encoding = Encoding(data.schema)
    Z = encoding.encode(X[:5])
    of = np.array([0, 1, 1, 0, 1])
    step = 1e-5
    by_hand = np.empty((5, 3))
    for j in range(3):
        up, down = Z.copy(), Z.copy()
        up[:, j] += step
        down[:, j] -= step
        ends = [existing.logits(rows * 2.0 + 1.0)[np.arange(5), of] for rows in (up, down)]
        by_hand[:, j] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(existing.gradient(Z, of), by_hand, atol=1e-5)
    value, slope = existing.margin(Z, of)
    logits = existing.logits(X[:5])
    np.testing.assert_allclose(value, logits[np.arange(5), of] - logits[np.arange(5), 1 - of], atol=1e-6)
    np.testing.assert_allclose(slope, by_hand - existing.gradient(Z, 1 - of), atol=1e-5)


def test_a_module_is_audited_with_the_users_training():
    settings = {"train": (X[:150], Y[:150]), "population": (X[150:], Y[150:]), "attack": ["threshold"]}
    game = {"game": "given_model(members=150, shadows=1)"}
    found = jali.audit(trained(X[:150], Y[:150], 0), fit=trained, explain=["input_x_gradient"], **settings, **game)
    assert found.results.find(explainer="input_x_gradient", metric="auc")
    with pytest.raises(JaliError, match="a Sequential cannot be trained again"):
        jali.audit(trained(X[:150], Y[:150], 0), **settings, **game)
    with pytest.raises(JaliError, match="Linear cannot read rows of 3 columns"):
        jali.audit(nn.Linear(4, 2), fit=trained, **settings, **game)
    with pytest.raises(JaliError, match="gives 3 outputs for each row, and the data have 2 classes"):
        jali.audit(nn.Linear(3, 3), fit=trained, **settings, **game)


def test_networks_that_draw_from_torch_draw_from_their_own_stream():
    class Net:
        module_ = nn.Linear(1, 1)

    class Draws:
        def fit(self, rows, labels, rng):
            return float(torch.rand(1))

    refit = reseeded(Net(), Draws())
    assert isinstance(refit, Reseeded)
    torch.manual_seed(3)
    first, again, other = (refit.fit(None, None, np.random.default_rng(s)) for s in (0, 0, 1))
    after = torch.rand(1)
    torch.manual_seed(3)
    assert after == torch.rand(1)
    assert first == again != other
    assert not isinstance(reseeded(object(), Draws()), Reseeded)


def test_no_rows_have_no_logits_and_decide_nothing_about_the_outputs():
    net = trained(X, Y, 0)
    model = TorchModule(net, [0, 1])
    assert model.decision_function(X[:0]).shape == (0, 2)
    value, slope = model.slopes(X[:0], np.empty((0, 2)))
    assert value.shape == (0,)
    assert slope.shape == (0, 3)
    assert model.squashed is None
    with torch.no_grad():
        by_hand = net(torch.tensor(X, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(model.decision_function(X), by_hand, rtol=1e-6)


def test_a_module_in_training_mode_is_mentioned_where_that_changes_its_answers():
    with_dropout = nn.Sequential(nn.Linear(2, 3), nn.Dropout(), nn.Linear(3, 2))
    [text] = training_mode(with_dropout)
    assert "was in training mode" in text
    assert training_mode(with_dropout.eval()) == training_mode(nn.Linear(2, 2)) == training_mode(print) == ()
