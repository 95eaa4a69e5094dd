"""Clipped sums through Opacus against one row at a time; which rows are drawn; what cannot be trained privately."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.defend._dp import optimiser as private
from jali.defend._dp.optimiser import FEW, Mechanism
from jali.defend.models.dp_sgd import DPSGD
from jali.models.convnet import ConvNet
from jali.models.fitted.descent import Rows, joined, tensors
from jali.models.vit import ViT
from tests.pictures import bars, streams

torch = pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
pytest.importorskip("opacus", reason="the extra jali-audit[private] is not installed")


def mechanism(clipping="automatic", multiplier=0.0, rate=0.5, steps=1, norm=0.7):
    return Mechanism(multiplier, rate, steps, clipping, norm)


def one_at_a_time(net, rows, factor):
    """Sum of clipped gradients by the definition."""
    chosen = [p for p in net.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in chosen]
    for z, y in zip(rows.Z, rows.y, strict=True):
        slopes = torch.autograd.grad(torch.nn.functional.cross_entropy(net(z[None]), y[None]), chosen)
        scale = factor(torch.sqrt(sum((s * s).sum() for s in slopes)))
        for total, slope in zip(sums, slopes, strict=True):
            total += scale * slope
    return sums


def factor(clipping):
    return (lambda n: 1 / (n + 0.01)) if clipping == "automatic" else (lambda n: min(1.0, 0.7 / n))


@pytest.mark.parametrize("clipping", ["automatic", "flat"])
@pytest.mark.parametrize("part", [ConvNet(width=4), ViT(width=32, depth=2)], ids=["convnet", "vit"])
def test_clipped_sums_are_those_of_one_row_at_a_time(part, clipping):
    if isinstance(part, ViT):
        pytest.importorskip("transformers", reason="the extra jali-audit[vision] is not installed")
    data = bars(FEW + 8)
    net, rows, stream = part.starts(data.schema)(0), tensors(data), torch.Generator().manual_seed(0)
    with private._per_row(net) as wrapped:
        noisy = private._optimiser()(torch.optim.Adam(net.parameters()), mechanism(clipping), stream)
        private.clipped(wrapped, noisy, rows)
        found = [p.summed_grad.clone() for p in noisy.params]
        private.clipped(wrapped, noisy, rows.pick(np.arange(0)))
        assert all(not p.summed_grad.any() for p in noisy.params)
    for ours, want in zip(found, one_at_a_time(net, rows, factor(clipping)), strict=True):
        torch.testing.assert_close(ours, want, atol=1e-6, rtol=1e-5)


def test_no_row_adds_more_than_the_bound():
    norms = torch.tensor([0.0, 1e-6, 0.5, 1.0, 1e6])
    for clipping, bound in (("automatic", 1.0), ("flat", 0.7)):
        how = mechanism(clipping)
        assert how.bound == bound
        assert float((how.factors(norms) * norms).max()) <= bound * (1 + 1e-6)
    np.testing.assert_allclose(mechanism().factors(torch.tensor([0.09]))[0], 10.0, rtol=1e-5)


def test_rows_are_drawn_independently_at_the_rate():
    how, n = mechanism(rate=0.3, steps=2000), 50
    drawn = torch.zeros(how.steps, n)
    for step, rows in enumerate(how.batches(n, torch.Generator().manual_seed(0))):
        drawn[step, rows] = 1
    assert float(drawn.mean()) == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / drawn.numel()))
    sizes = drawn.sum(dim=1)
    assert float(sizes.var()) == pytest.approx(50 * 0.21, rel=0.15)  # binomial, as batches of one size would not be
    pairs = np.corrcoef(drawn.numpy().T)
    assert np.abs(pairs - np.eye(n)).max() < 6 / np.sqrt(how.steps)


def test_noise_has_the_deviation_that_is_accounted_for():
    """A step of plain descent from zero gradients is the noise itself, divided by the constant batch."""
    net, stream = torch.nn.Linear(200, 100), torch.Generator().manual_seed(0)
    with private._per_row(net) as wrapped:
        how = mechanism("flat", multiplier=3.0)
        noisy = private._optimiser()(torch.optim.SGD(net.parameters(), lr=1.0), how, stream)
        private.clipped(wrapped, noisy, Rows(torch.zeros(0, 200), torch.zeros(0, dtype=torch.long)))
        noisy.add_noise()
        noise = net.weight.grad
    assert float(noise.std()) == pytest.approx(3.0 * 0.7, rel=0.02)
    assert abs(float(noise.mean())) < 4 * 2.1 / np.sqrt(noise.numel())


def test_hooks_are_gone_after_training():
    data, part = bars(), ConvNet(width=4)
    net = part.starts(data.schema)(0)
    private.descend(net, tensors(data), part, torch.Generator().manual_seed(0), mechanism(multiplier=1.0, steps=2))
    assert not any(m._forward_hooks or m._backward_hooks for m in net.modules())
    assert not any(hasattr(p, "grad_sample") for p in net.parameters())


@dataclasses.dataclass(frozen=True)
class Normed(ConvNet):
    """A network of somebody's own, with batch norm."""

    def network(self, schema):
        unflat, convolve, flat = torch.nn.Unflatten(1, schema.image), torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten()
        return joined([unflat, convolve, torch.nn.BatchNorm2d(4), flat], torch.nn.Linear(4 * 6 * 6, 3))


def test_batch_norm_is_refused_with_what_to_put_in_its_place():
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4))
    with pytest.raises(JaliError, match=r"layer '1' is BatchNorm2d.*replace it by GroupNorm\(…, 4\)"):
        private.suitable(net)
    with pytest.raises(JaliError, match=r"dp_sgd: layer 'body.2' is BatchNorm2d"):
        DPSGD(Normed(), 1.0).fit(bars(), np.ones((90, 1), bool), streams(1))
    with pytest.raises(JaliError, match="running statistics"):
        private.suitable(torch.nn.Sequential(torch.nn.InstanceNorm2d(4, track_running_stats=True)))
