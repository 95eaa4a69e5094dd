"""ReLU networks in model space, evaluated and differentiated in float32 by numpy, so no torch is needed to use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jali.core import Floats, Ints, frozen
from jali.encoding import Encoding

Singles = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Network:
    """One network: weights (in, out) and biases (out,) per layer; h <- relu(h W + b), the last layer without relu.

    >>> from jali.core import Column, Schema
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
        layers = self._hidden(Z.astype(np.float32))
        back = self.weights[-1].T[np.broadcast_to(of, len(Z))]
        for W, h in zip(self.weights[-2::-1], layers[:0:-1], strict=True):
            back = (back * (h > 0)) @ W.T
        return back.astype(np.float64)

    def _scores(self, Z: Singles) -> Floats:
        return (self._hidden(Z)[-1] @ self.weights[-1] + self.biases[-1]).astype(np.float64)

    def _hidden(self, Z: Singles) -> list[Singles]:
        """The input and the output of every hidden layer."""
        layers = [Z]
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layers.append(np.maximum(layers[-1] @ W + b, np.float32(0)))
        return layers


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


def _singles(arrays: tuple[Singles, ...], axes: int, name: str) -> tuple[Singles, ...]:
    return tuple(frozen(a, np.float32, (None,) * axes, name) for a in arrays)
