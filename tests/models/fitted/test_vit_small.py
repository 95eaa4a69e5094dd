"""The frozen transformer beside another implementation of the same architecture."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.models.fitted import vit_small

torch = pytest.importorskip("torch")
WIDTH, DEPTH, ACROSS = 128, 2, 3


def weights(seed: int = 0) -> dict:
    """Random tensors with the names of timm."""
    stream = torch.Generator().manual_seed(seed)
    square = {"attn.qkv": (3 * WIDTH, WIDTH), "attn.proj": (WIDTH, WIDTH)}
    square |= {"mlp.fc1": (4 * WIDTH, WIDTH), "mlp.fc2": (WIDTH, 4 * WIDTH)}
    shapes = {"cls_token": (1, 1, WIDTH), "pos_embed": (1, 1 + ACROSS**2, WIDTH)}
    shapes |= {"patch_embed.proj.weight": (WIDTH, 3, 14, 14), "patch_embed.proj.bias": (WIDTH,)}
    shapes |= {"norm.weight": (WIDTH,), "norm.bias": (WIDTH,)}
    for k in range(DEPTH):
        for name, shape in square.items():
            shapes |= {f"blocks.{k}.{name}.weight": shape, f"blocks.{k}.{name}.bias": shape[:1]}
        vectors = ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias", "ls1.gamma", "ls2.gamma")
        shapes |= {f"blocks.{k}.{name}": (WIDTH,) for name in vectors}
    return {name: torch.randn(shape, generator=stream) * 0.3 for name, shape in shapes.items()}


def norm(x, weight, bias):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6) * weight + bias


def by_hand(image, w) -> np.ndarray:
    """The class token (width,) of one image (3, side, side) of as many patches as there are positions, in numpy."""
    from scipy.special import ndtr, softmax

    w = {name: tensor.double().numpy() for name, tensor in w.items()}
    mean, spread = (np.array(v)[:, None, None] for v in (vit_small.MEAN, vit_small.SPREAD))
    x = (image - mean) / spread
    cut = x.reshape(3, ACROSS, 14, ACROSS, 14).transpose(1, 3, 0, 2, 4).reshape(ACROSS**2, -1)
    patches = cut @ w["patch_embed.proj.weight"].reshape(WIDTH, -1).T + w["patch_embed.proj.bias"]
    tokens = np.concatenate([w["cls_token"][0], patches]) + w["pos_embed"][0]
    for k in range(DEPTH):
        at = {name.removeprefix(f"blocks.{k}."): v for name, v in w.items() if name.startswith(f"blocks.{k}.")}
        seen = norm(tokens, at["norm1.weight"], at["norm1.bias"]) @ at["attn.qkv.weight"].T + at["attn.qkv.bias"]
        heads = []
        for h in range(WIDTH // 64):
            q, key, v = (seen[:, part * WIDTH + 64 * h : part * WIDTH + 64 * (h + 1)] for part in range(3))
            heads.append(softmax(q @ key.T / 8.0, axis=1) @ v)
        mixed = np.concatenate(heads, axis=1) @ at["attn.proj.weight"].T + at["attn.proj.bias"]
        tokens = tokens + at["ls1.gamma"] * mixed
        inner = norm(tokens, at["norm2.weight"], at["norm2.bias"]) @ at["mlp.fc1.weight"].T + at["mlp.fc1.bias"]
        outer = (inner * ndtr(inner)) @ at["mlp.fc2.weight"].T + at["mlp.fc2.bias"]
        tokens = tokens + at["ls2.gamma"] * outer
    return norm(tokens, w["norm.weight"], w["norm.bias"])[0]


def test_the_class_token_is_that_of_the_formulas():
    image = np.random.default_rng(0).random((2, 3, 14 * ACROSS, 14 * ACROSS))
    made = vit_small.body(weights())(torch.from_numpy(image).float()).numpy()
    np.testing.assert_allclose(made, [by_hand(one, weights()) for one in image], atol=2e-5)


def test_positions_are_interpolated_and_those_of_a_plane_stay_in_it():
    w = weights()
    w["pos_embed"][0, 1:] = 0.7
    net = vit_small.body(w)
    for across in (2, 5):
        made = net.positions(across)
        assert made.shape == (1, 1 + across**2, WIDTH)
        np.testing.assert_allclose(made[0, 1:].numpy(), 0.7, rtol=1e-6)
        np.testing.assert_array_equal(made[0, 0].numpy(), w["pos_embed"][0, 0].numpy())


def test_other_weights_are_refused():
    with pytest.raises(JaliError, match="names of timm"):
        vit_small.body({"body.weight": torch.zeros(1)})
    w = weights()
    w["norm.weight"] = torch.zeros(3)
    with pytest.raises(JaliError, match="do not fit"):
        vit_small.body(w)
