"""ReLU networks on the encoded features, evaluated and differentiated by numpy, so that using them needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from jali.core.encoding import Encoding
from jali.core.values import Floats, Ints, frozen
from jali.models.fitted.linear import lead

Singles = npt.NDArray[np.float32]
Reals = TypeVar("Reals", Singles, Floats)
# Cells of a layer computed at once. Blocks of this size stay in the processor's cache; much larger ones are returned to
# the operating system after every call, which takes longer than the arithmetic.
SCORES = 2**18  # forward only
MARGINS = 2**15  # with gradients


@dataclass(frozen=True)
class Network:
    """One network: weights (in, out) and biases (out,) per layer; h <- relu(h W + b), the last layer without relu.

    >>> from jali.core.values import Column, Schema
    >>> W = (np.array([[1.0, -1.0]]), np.eye(2))
    >>> net = Network(Encoding(Schema((Column("x"),))), W, (np.zeros(2), np.zeros(2)))
    >>> net.logits(np.array([[3.0], [-2.0]]))
    array([[3., 0.],
           [0., 2.]])
    >>> net.gradient(np.array([[3.0], [-2.0]]), np.array([0, 1]))
    array([[ 1.],
           [-1.]])
    """

    encoding: Encoding
    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _singles(self.weights, 2, "weight"))
        object.__setattr__(self, "biases", _singles(self.biases, 1, "bias"))

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D)."""
        return self._scores(self.encoding.encode(X).astype(np.float32))

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,) at encoded rows Z (n, P)."""
        rows = Z.astype(np.float32)
        slope = np.empty(Z.shape)
        of = np.broadcast_to(of, len(Z))
        for some in self._blocks(len(Z), MARGINS):
            layers = _hidden(rows[some], self.weights, self.biases)
            slope[some] = _back(self._top[of[some]], self.weights, layers)
        return slope

    def average(self, start: Floats, way: Floats, of: Ints, at: Floats, share: Floats) -> Floats:
        """Gradients (n, P) of the logit of class of (n,), averaged over the points start (P,) + at_k way (n, P).

        share (K,): weights of the points. The first layer is linear along the line, so its product, most of the work
        where there are many features, is computed once for all points.
        """
        if len(self.weights) == 1:
            return float(share.sum()) * self.gradient(way, of)
        slope, W = np.empty(way.shape), self.weights[0]
        base = start.astype(np.float32) @ W + self.biases[0]
        for some in self._blocks(len(way), MARGINS):
            rise = way[some].astype(np.float32) @ W
            total = np.zeros_like(rise)
            for t, weight in zip(at.astype(np.float32), share.astype(np.float32), strict=True):
                h = t * rise
                h += base
                back = self._behind(_relu(h), of[some])
                back *= weight
                total += back
            slope[some] = total @ W.T
        return slope

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P).

        In float64: the last bits of a float32 product depend on the other rows of a call, and a search amplifies them.
        """
        value, slope = np.empty(len(Z)), np.empty(Z.shape)
        margin = self._of_two if len(self.biases[-1]) == 2 and len(self.biases) > 1 else self._of_many
        for some in self._blocks(len(Z), MARGINS):
            value[some], slope[some] = margin(Z[some], of[some])
        return value, slope

    def _behind(self, h: Singles, of: Ints) -> Singles:
        """Gradient (n, H) of the logit of class of (n,) by the first hidden layer's input; h (n, H): its output."""
        back = _back(self._top[of], self.weights[1:], _hidden(h, self.weights[1:], self.biases[1:]))
        back *= h > 0
        return back

    def _of_many(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """The margin above the best of all other classes."""
        weights, biases = self._doubles
        layers = _hidden(Z, weights, biases)
        value, rival = lead(layers[-1] @ weights[-1] + biases[-1], of)
        top = weights[-1].T
        return value, _back(top[of] - top[rival], weights, layers)

    def _of_two(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """The margin above the only other class, as a sum over the active units of the last hidden layer."""
        weights, biases = self._doubles
        layers = _hidden(Z, weights[:-1], biases[:-1])
        on = (layers[-1] @ weights[-2] > -biases[-2]).astype(np.float64)
        side = np.where(of == 1, 1.0, -1.0)
        parts = on @ self._adds
        back = parts[:, :-1]
        value = (back * layers[-1]).sum(axis=1) + parts[:, -1] + biases[-1][1] - biases[-1][0]
        return side * value, _back(side[:, None] * back, weights[:-1], layers)

    def _scores(self, Z: Singles) -> Floats:
        out = np.empty((len(Z), len(self.biases[-1])))
        for some in self._blocks(len(Z), SCORES):
            out[some] = _hidden(Z[some], self.weights, self.biases)[-1] @ self.weights[-1] + self.biases[-1]
        return out

    def _blocks(self, rows: int, cells: int) -> list[slice]:
        """Blocks of rows that are computed together."""
        size = max(1, cells // max(len(b) for b in self.biases))
        return [slice(at, at + size) for at in range(0, rows, size)]

    @cached_property
    def _top(self) -> Singles:
        """Weights (C, H) of the last layer, contiguous per class, because they are read class by class."""
        return np.ascontiguousarray(self.weights[-1].T)

    @cached_property
    def _doubles(self) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        """Weights and biases in float64."""
        weights, biases = (tuple(a.astype(np.float64) for a in arrays) for arrays in (self.weights, self.biases))
        return weights, biases

    @cached_property
    def _adds(self) -> Floats:
        """Contribution (H, in + 1) of an active unit of the last hidden layer to the score of class 1 minus that of 0.

        First to the gradient by the layer before, and in the last column to the score itself. The score is linear as
        long as the same units are active.
        """
        weights, biases = self._doubles
        apart = weights[-1][:, 1] - weights[-1][:, 0]
        return np.column_stack([weights[-2].T, biases[-2]]) * apart[:, None]


@dataclass(frozen=True)
class NetworkEnsemble:
    """M networks of one shape: weights (M, in, out) and biases (M, out) per layer."""

    encoding: Encoding
    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _singles(self.weights, 3, "weights"))
        object.__setattr__(self, "biases", _singles(self.biases, 2, "biases"))

    def __len__(self) -> int:
        return len(self.biases[0])

    def __getitem__(self, column: int) -> Network:
        return Network(self.encoding, tuple(W[column] for W in self.weights), tuple(b[column] for b in self.biases))

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows (n, D)."""
        Z = self.encoding.encode(X).astype(np.float32)
        return np.stack([self[j]._scores(Z) for j in range(len(self))], axis=1)

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything `restore` needs; the first axis is the model."""
        named: dict[str, npt.NDArray[np.generic]] = {}
        for layer, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            named |= {f"weight{layer}": W, f"bias{layer}": b}
        return named


def _hidden(Z: Reals, weights: tuple[Reals, ...], biases: tuple[Reals, ...]) -> list[Reals]:
    """The input and the output of every hidden layer."""
    layers = [Z]
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        h = layers[-1] @ W
        h += b
        layers.append(_relu(h))
    return layers


def _relu(h: Reals) -> Reals:
    """ReLU of h (n, H), in place."""
    np.maximum(
        h, np.zeros(h.shape[1:], dtype=h.dtype), out=h
    )  # a row of zeros, because numpy does not vectorise the scalar
    return h


def _back(back: Reals, weights: tuple[Reals, ...], layers: list[Reals]) -> Reals:
    """Backpropagate a gradient (n, H) by the last hidden layer, which is overwritten, to the input (n, P)."""
    for W, h in zip(weights[-2::-1], layers[:0:-1], strict=True):
        back *= h > 0
        back = back @ W.T
    return back


def _singles(arrays: tuple[Singles, ...], axes: int, name: str) -> tuple[Singles, ...]:
    return tuple(frozen(a, np.float32, (None,) * axes, name) for a in arrays)
