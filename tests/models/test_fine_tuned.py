"""Public weights first: where they come from, what is trained after, and files that do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.defend.models.dp_sgd import DPSGD
from jali.models import fine_tuned
from jali.models.convnet import ConvNet
from jali.models.fine_tuned import FineTuned
from jali.models.fitted.descent import Rows, joined, reduced
from jali.models.fitted.restore import restore
from jali.models.mlp import MLP
from tests.pictures import Bars, bars, members, streams

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
NET = ConvNet(width=4, epochs=4)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def tuned(**fields):
    return FineTuned(NET, **({"public": Bars(), "epochs": 1} | fields))


def weights(net):
    return [t.numpy() for t in net.state_dict().values()]


def test_the_body_is_the_public_one_and_the_head_is_new():
    schema = bars().schema
    first, second = (tuned().starts(schema)(seed) for seed in (1, 2))
    for a, b in zip(weights(first[0]), weights(second[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (weights(first[1])[0] != weights(second[1])[0]).all()
    alone = NET.fit(Bars().load(), np.ones((60, 1), bool), streams(1)).modules[0]
    assert not np.array_equal(weights(first[0])[0], weights(alone[0])[0])


def test_public_training_is_done_once_and_kept(monkeypatch, tmp_path):
    schema = bars().schema
    before = weights(tuned().starts(schema)(0))
    assert len(list(tmp_path.rglob("*.npz"))) == 1
    monkeypatch.setattr(fine_tuned, "descend", lambda *_: pytest.fail("trained again"))
    for a, b in zip(before, weights(tuned().starts(schema)(0)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_body_is_made_once_per_fit_and_nothing_is_kept_in_the_module(monkeypatch):
    """Three networks of one fit share one public body; another fit reads it from the cache on disk, to the same bit."""
    loads = []
    monkeypatch.setattr(Bars, "load", lambda self, load=Bars.load: loads.append(self) or load(self))
    data, member = bars(), members(90, 3)
    first = tuned().fit(data, member, streams(3))
    assert len(loads) == 1
    again = tuned().fit(data, member, streams(3))
    assert len(loads) == 2
    np.testing.assert_array_equal(first.logits(data.X), again.logits(data.X))
    assert not [name for name, value in vars(fine_tuned).items() if hasattr(value, "cache_info")]


def test_it_learns_from_few_rows_what_a_fresh_network_does_not():
    data = bars(230, seed=3)
    member = np.arange(230)[:, None] < 30
    part = FineTuned(ConvNet(width=8, epochs=10), public=Bars(300), epochs=10, lr=2e-3)
    for layers, least in (("all", 0.9), ("head", 0.8)):
        nets = FineTuned(part.model, part.public, layers=layers, epochs=20, lr=3e-3).fit(data, member, streams(1))
        assert (nets.logits(data.X)[:, 0].argmax(axis=1) == data.y)[30:].mean() > least


def test_head_only_leaves_the_body_alone_and_all_layers_do_not():
    data, member = bars(), members(90, 1)
    public = weights(tuned().starts(data.schema)(0)[0])
    head, every = (tuned(layers=layers).fit(data, member, streams(1)).modules[0] for layers in ("head", "all"))
    assert all((a == b).all() for a, b in zip(public, weights(head[0]), strict=True))
    assert not (public[0] == weights(every[0])[0]).all()


def test_fields_and_models_come_back():
    part = FineTuned(NET, public=registry.build("data", "digits"), layers="head")
    assert registry.build("model", registry.spec(part, every=True)) == part
    data = bars()
    nets = tuned().fit(data, members(90, 1), streams(1))
    back = restore(nets.arrays(), Encoding(data.schema), registry.modules(tuned()))
    np.testing.assert_array_equal(back.logits(data.X), nets.logits(data.X))


def test_public_pictures_are_mirrored_and_shifted_within_their_values():
    z = torch.arange(2 * 64, dtype=torch.float32).view(2, 64).repeat(50, 1)
    moved = fine_tuned._varied(z, torch.Generator().manual_seed(0), (1, 8, 8)).view(100, 8, 8)
    plain = z.view(100, 8, 8)
    inner = slice(1, 7)
    known = [
        mirrored[i : i + 6, j : j + 6]
        for mirrored in (plain[0], plain[0].flip(1))
        for i in (0, 1, 2)
        for j in (0, 1, 2)
    ]
    seen = {
        next(k for k, want in enumerate(known) if torch.equal(want, picture[inner, inner])) for picture in moved[::2]
    }
    assert len(seen) > 12
    assert torch.equal(fine_tuned._varied(z, torch.Generator(), None), z)


# --- weight files --------------------------------------------------------------------------------------------------


def saved(net, path):
    from safetensors.torch import save_file

    save_file(net.state_dict(), path)
    return str(path)


@pytest.mark.parametrize("classes", [3, 7])
def test_a_file_gives_the_body_and_the_head_is_new_whatever_its_size(tmp_path, classes):
    schema = bars().schema
    old = NET.starts(schema)(5)
    old[1] = torch.nn.Linear(old[1].in_features, classes)
    net = FineTuned(NET, weights=saved(old, tmp_path / "w.safetensors")).starts(schema)(0)
    for a, b in zip(weights(net[0]), weights(old[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(weights(net[1])[0], weights(NET.starts(schema)(0)[1])[0])


def test_what_a_file_holds_is_part_of_the_key_and_another_content_is_refused(tmp_path):
    schema, path = bars().schema, tmp_path / "w.safetensors"
    first = FineTuned(NET, weights=saved(NET.starts(schema)(1), path))
    same = FineTuned(NET, weights=str(path))
    saved(NET.starts(schema)(2), path)
    second = FineTuned(NET, weights=str(path))
    assert registry.key(first) == registry.key(same) != registry.key(second)
    assert registry.key(DPSGD(first, 1.0)) != registry.key(DPSGD(second, 1.0))
    second.starts(schema)(0)
    with pytest.raises(JaliError, match=r"w.safetensors is not the expected weight file: its sha256 starts"):
        first.starts(schema)(0)


def test_stored_models_come_back_without_their_weight_file(tmp_path):
    data, path = bars(), tmp_path / "w.safetensors"
    part = FineTuned(NET, weights=saved(NET.starts(data.schema)(1), path), epochs=1)
    nets = part.fit(data, members(90, 1), streams(1))
    path.unlink()
    state = torch.get_rng_state()
    back = restore(nets.arrays(), Encoding(data.schema))
    np.testing.assert_array_equal(back.logits(data.X), nets.logits(data.X))
    assert torch.equal(torch.get_rng_state(), state)


def test_what_the_columns_mean_is_part_of_the_key_of_public_training():
    data = bars()
    other = replace(data, schema=replace(data.schema, image=(1, 4, 16)))
    assert fine_tuned._key(NET, data) != fine_tuned._key(NET, other)


def test_a_fixed_body_is_used_as_it_will_be_asked():
    """Layers that behave differently while they are trained would give features that the model never sees again."""
    body = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(4)).requires_grad_(False)
    rows = Rows(torch.ones(8, 4), torch.zeros(8, dtype=torch.long))
    _, seen = reduced(joined([body], torch.nn.Linear(4, 2)), rows)
    torch.testing.assert_close(seen.Z, torch.ones(8, 4), atol=1e-4, rtol=0)


def test_the_first_layer_that_does_not_fit_is_named(tmp_path):
    schema = bars().schema
    path = saved(ConvNet(width=8).starts(schema)(0), tmp_path / "w.safetensors")
    with pytest.raises(
        JaliError, match=r"layer 'body.1.weight' has shape \(8, 1, 3, 3\) in the file and \(4, 1, 3, 3\)"
    ):
        FineTuned(NET, weights=path).starts(schema)(0)
    path = saved(torch.nn.Sequential(torch.nn.Linear(2, 2)), tmp_path / "v.safetensors")
    with pytest.raises(JaliError, match=r"it has no layer 'body.1.weight'; its first layer is '0.bias'"):
        FineTuned(NET, weights=path).starts(schema)(0)
    more = NET.starts(schema)(0)
    more.add_module("extra", torch.nn.Linear(1, 1))
    with pytest.raises(JaliError, match=r"contains layer 'extra\.\w+', which this network does not have"):
        FineTuned(NET, weights=saved(more, tmp_path / "u.safetensors")).starts(schema)(0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FineTuned(NET), "give either public or weights"),
        (lambda: FineTuned(NET, public=Bars(), weights="x"), "either public or weights"),
        (lambda: FineTuned(MLP(), public=Bars()), "such as vit or convnet, not mlp"),
        (lambda: tuned(epochs=0), "at least 1"),
        (lambda: tuned(sha256="ab"), "sha256 is the hash of a weight file, but weights is not given"),
        (
            lambda: tuned(public=Bars(size=16)).starts(bars().schema)(0),
            r"\(1, 16, 16\) and the private ones \(1, 8, 8\)",
        ),
        (lambda: FineTuned(NET, weights="nowhere").starts(bars().schema)(0), "no weight file nowhere"),
        (lambda: FineTuned(NET, weights=__file__).starts(bars().schema)(0), "not a readable safetensors file"),
    ],
)
def test_a_slip_is_one_sentence(make, words):
    with pytest.raises(JaliError, match=words):
        make()
