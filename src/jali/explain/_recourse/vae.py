"""A small conditional variational autoencoder of one table, trained in plain numpy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema

# Settings of the class released by the authors; their weight decay of 1e-6 changes nothing and is left out.
EPOCHS = 50
BATCH = 32
RATE = 0.002
KL = 0.25  # weight of the KL term
STEPS = 6000  # fewest steps, about 50 epochs of 4,000 rows: after fewer, a latent dimension may still be unused
REACH = 5.0  # inputs are clipped at this many standard deviations: larger ones would dominate the loss
WIDE = 1000.0  # features above which the first layer learns more slowly: Adam moves every weight by the rate each step
# Adam: decay rates of both moments, and the constant in the denominator
FIRST = 0.9
SECOND = 0.999
TINY = 1e-8

Layers = tuple[tuple[Floats, Floats], ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """Which encoded features the decoder makes (Q,), which are given to it, and where categories are among those made.

    choices (K,): one-hot features among the Q made; starts (B,): where each category begins among the K;
    block (K,): the category each belongs to.
    """

    made: Ints
    given: Ints
    choices: Ints
    starts: Ints
    block: Ints


@dataclass(frozen=True, eq=False)
class VAE:
    """q(z | x) = N(mean(x), diag), p(x_made | z, x_given) = N(f(z, x_given), I) for numbers, softmax for categories.

    layers: P -> hidden -> 2 latent (mean, log variance); latent + given -> hidden -> Q; softplus inside.
    centre, spread (P,): mean and deviation of each number in the training set; 0 and 1 for one-hot columns.
    """

    layout: Layout
    centre: Floats
    spread: Floats
    layers: Layers

    def encode(self, Z: Floats) -> Floats:
        """Latent means (n, latent) of encoded rows (n, P)."""
        (W, b), (V, c) = self.layers[:2]
        return np.split(_softplus(self.scaled(Z) @ W + b) @ V + c, 2, axis=1)[0]

    def decode(self, latent: Floats, Z: Floats) -> Floats:
        """Encoded rows (n, k, P) decoded from latent points (n, k, latent), with the given features of Z (n, P).

        Numbers are means; categories hold scores, of which the largest marks the likeliest category.
        """
        (W, b), (V, c) = self.layers[2:]
        n, k, size = latent.shape
        made = self.layout.made
        shared = self.scaled(Z)[:, self.layout.given] @ W[size:] + b
        hidden = _softplus((latent.reshape(-1, size) @ W[:size]).reshape(n, k, -1) + shared[:, None])
        spread = self.spread[made]
        centre = self.centre[made]
        out = np.repeat(Z, k, axis=0)
        out[:, made] = hidden.reshape(n * k, -1) @ (V * spread) + (c * spread + centre)
        return out.reshape(n, k, -1)

    def scaled(self, Z: Floats) -> Floats:
        """Encoded rows (n, P), standardised and clipped as the networks take them."""
        return np.clip((Z - self.centre) / self.spread, -REACH, REACH)


def trained(train: Dataset, schema: Schema, latent: int, hidden: int) -> VAE:
    """The autoencoder of a training set.

    Its random stream is seeded by the content, so that every tile, worker and explainer gets the same one.
    """
    content = f"{train.X.shape}{schema.columns}{latent}|{hidden}".encode() + np.ascontiguousarray(train.X).tobytes()
    key = hashlib.sha256(content).hexdigest()
    return fit(train.X, schema, latent, hidden, np.random.default_rng(int(key, 16)))


def fit(X: Floats, schema: Schema, latent: int, hidden: int, rng: Rng) -> VAE:
    """Train on raw rows (n, D): minimise the negative evidence lower bound, KL term weighted, by Adam."""
    from threadpoolctl import threadpool_limits

    encoding = Encoding(schema)
    Z = encoding.encode(X)
    plan = layout(schema)
    centre = np.zeros(Z.shape[1])
    spread = np.ones(Z.shape[1])
    at = encoding.numeric
    centre[at] = Z[:, at].mean(axis=0)
    deviation = Z[:, at].std(axis=0)
    spread[at] = np.where(deviation > 1e-9 * (1 + np.abs(centre[at])), deviation, 1.0)
    vae = VAE(plan, centre, spread, _start(Z.shape[1], plan, latent, hidden, rng))
    with threadpool_limits(limits=1):  # sums split over threads would change the last bits, and threads are slower here
        return VAE(plan, centre, spread, _adam(vae.layers, vae.scaled(Z), plan, rng))


def layout(schema: Schema) -> Layout:
    """The layout of a schema: mutable columns are made, the others are given."""
    source = Encoding(schema).source
    mutable = _which(source, [c.mutable for c in schema.columns])
    made = np.flatnonzero(mutable)
    choices = np.flatnonzero(_which(source[made], [c.kind == "category" for c in schema.columns]))
    _, starts, block = np.unique(source[made][choices], return_index=True, return_inverse=True)
    return Layout(made, np.flatnonzero(~mutable), choices, starts, block)


def _which(source: Ints, flags: list[bool]) -> Bools:
    return np.array(flags, dtype=bool)[source]


# --- training ----------------------------------------------------------------------------------------------------


class Pass(NamedTuple):
    """The layers of one forward pass: hidden layers, posterior, decoder input, means of the features made."""

    first: Floats
    mean: Floats
    log_variance: Floats
    code: Floats
    second: Floats
    made: Floats


def forward(layers: Layers, plan: Layout, S: Floats, noise: Floats) -> Pass:
    """Pass scaled rows (n, P) through, with z = mean + exp(log variance / 2) noise."""
    (W1, b1), (W2, b2) = layers[:2]
    (W3, b3), (W4, b4) = layers[2:]
    first = _softplus(S @ W1 + b1)
    mean, log_variance = np.split(first @ W2 + b2, 2, axis=1)
    code = np.concatenate([mean + np.exp(0.5 * log_variance) * noise, S[:, plan.given]], axis=1)
    second = _softplus(code @ W3 + b3)
    return Pass(first, mean, log_variance, code, second, _link(second @ W4 + b4, plan))


def loss(seen: Pass, plan: Layout, S: Floats) -> float:
    """Mean over rows of 1/2 sum (x - f)^2 - sum log p + KL / 2 sum (variance + mean^2 - 1 - log variance)."""
    target = S[:, plan.made]
    gap = np.delete(seen.made - target, plan.choices, axis=1)
    chosen = (target * np.log(np.maximum(seen.made, 1e-300)))[:, plan.choices]
    divergence = np.exp(seen.log_variance) + seen.mean**2 - 1 - seen.log_variance
    return float((0.5 * (gap**2).sum() - chosen.sum() + 0.5 * KL * divergence.sum()) / len(S))


def gradient(layers: Layers, plan: Layout, S: Floats, noise: Floats) -> Layers:
    """Gradient of the loss by every weight and bias, shaped like the layers."""
    W2 = layers[1][0]
    W3 = layers[2][0]
    W4 = layers[3][0]
    seen = forward(layers, plan, S, noise)
    size = noise.shape[1]
    out = (seen.made - S[:, plan.made]) / len(S)  # both a Gaussian mean and a softmax leave prediction - target
    second = out @ W4.T * -np.expm1(-seen.second)  # the slope of softplus is 1 - exp(-softplus)
    code = second @ W3[:size].T
    deviation = np.exp(0.5 * seen.log_variance)
    by_mean = code + KL / len(S) * seen.mean
    by_variance = 0.5 * (code * noise * deviation + KL / len(S) * (deviation**2 - 1))
    posterior = np.concatenate([by_mean, by_variance], axis=1)
    first = posterior @ W2.T * -np.expm1(-seen.first)
    steps = ((S, first), (seen.first, posterior), (seen.code, second), (seen.second, out))
    return tuple((into.T @ back, back.sum(axis=0)) for into, back in steps)


def _adam(layers: Layers, S: Floats, plan: Layout, rng: Rng) -> Layers:
    """Layers after training by Adam; all parameters are in one vector, of which the layers are views."""
    shapes = [part.shape for layer in layers for part in layer]
    theta = np.concatenate([part.ravel() for layer in layers for part in layer])
    views = _views(theta, shapes)
    m = np.zeros_like(theta)
    v = np.zeros_like(theta)
    pace = np.full_like(theta, RATE)
    pace[: layers[0][0].size] *= min(1.0, WIDE / S.shape[1])
    for t, (rows, noise) in enumerate(_batches(S, views[1][1].size // 2, rng), 1):
        slope = np.concatenate([part.ravel() for layer in gradient(views, plan, rows, noise) for part in layer])
        m += (1 - FIRST) * (slope - m)
        v += (1 - SECOND) * (slope**2 - v)
        theta -= np.sqrt(1 - SECOND**t) / (1 - FIRST**t) * pace * m / (np.sqrt(v) + TINY)
    return views


def _batches(S: Floats, latent: int, rng: Rng) -> Iterator[tuple[Floats, Floats]]:
    """Batches of rows, in a new order every epoch, with the noise of their latent points."""
    per_epoch = -(-len(S) // BATCH)
    for _ in range(max(EPOCHS, -(-STEPS // per_epoch))):
        rows = S[rng.permutation(len(S))]
        noise = rng.standard_normal((len(S), latent))
        for start in range(0, len(S), BATCH):
            yield rows[start : start + BATCH], noise[start : start + BATCH]


def _start(inputs: int, plan: Layout, latent: int, hidden: int, rng: Rng) -> Layers:
    """Weights uniform in +-sqrt(6 / (in + out)) (Glorot and Bengio 2010), biases zero."""
    widths = ((inputs, hidden), (hidden, 2 * latent), (latent + len(plan.given), hidden), (hidden, len(plan.made)))
    return tuple((rng.uniform(-1, 1, w) * np.sqrt(6 / sum(w)), np.zeros(w[1])) for w in widths)


def _views(theta: Floats, shapes: list[tuple[int, ...]]) -> Layers:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    flat = [part.reshape(shape) for part, shape in zip(np.split(theta, ends[:-1]), shapes, strict=True)]
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def _softplus(a: Floats) -> Floats:
    """log(1 + exp(a)) without overflow; computed in place, because it takes half the time of decoding."""
    out = np.abs(a)
    np.negative(out, out=out)
    np.exp(out, out=out)
    out += 1.0  # rounds to 1 for terms below exp(-36): an absolute error of 1e-16
    np.log(out, out=out)
    out += np.maximum(a, 0.0)
    return out


def _link(scores: Floats, plan: Layout) -> Floats:
    """Means (n, Q) from scores: softmax within each category, numbers unchanged."""
    if len(plan.choices):
        chosen = scores[:, plan.choices]
        mass = np.exp(chosen - np.maximum.reduceat(chosen, plan.starts, axis=1)[:, plan.block])
        scores[:, plan.choices] = mass / np.add.reduceat(mass, plan.starts, axis=1)[:, plan.block]
    return scores
