"""Exact minimisers of a perturbed logistic loss, for many perturbations of one training set at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats
from jali.defend._dp.sigmoid import sigmoid

ENOUGH = 1e-12  # length of the gradient, relative to the longest possible one, at which a minimiser counts as exact
EXACT = (
    f"the weights minimise the objective up to a gradient of {ENOUGH:g} of the longest possible one, in double "
    "precision, and the search reaches that for every data set: it refuses where it does not"
)
STEPS = 200
HALVINGS = 50
ROUNDING = 1e-12  # relative rounding error of an objective
CELLS = 1_000_000  # most numbers in the weighted rows of perturbations that are solved together, to bound the memory


def minimisers(A: Floats, y: Floats, penalty: float, tilt: Floats, longest: float | None = None) -> Floats:
    """The minimisers (T, k) of F(w) + tilt_t . w, F(w) = sum_i log(1 + e^(w.a_i)) - y_i w.a_i + penalty/2 ||w||^2.

    Rows A (n, k), y (n,) of zeros and ones, tilt (T, k). Outside the row space of A only the penalty and the tilt
    act, so that w = -tilt / penalty there; with more columns than rows, the problem is solved inside the row space.
    `longest` is a bound on the rows' lengths, taken from them where it is not given. The gradient at the result is
    shorter than 1e-12 (n longest + ||tilt||), twice that with rounding errors; the guarantee allows for no more, so a
    search that does not reach it is an error.

    >>> A, y = np.array([[1.0], [1.0]]), np.array([0.0, 1.0])
    >>> minimisers(A, y, 1.0, np.array([[0.0], [2.0]])).round(4)  # roots of 2/(1 + e^-w) - 1 + w + tilt
    array([[ 0.    ],
           [-1.3967]])
    """
    if longest is None:
        longest = float(np.linalg.norm(A, axis=1).max(initial=0.0))
    if A.shape[1] > len(A):
        basis, triangle = np.linalg.qr(A.T)
        inside = tilt @ basis
        solved = minimisers(np.ascontiguousarray(triangle.T), y, penalty, inside, longest)
        return np.asarray(solved @ basis.T - (tilt - inside @ basis.T) / penalty)
    size = max(1, CELLS // max(1, A.size))
    some = [_newton(_Problem(A, y, penalty, tilt[at : at + size]), longest) for at in range(0, len(tilt), size)]
    return np.concatenate(some) if some else np.zeros_like(tilt)


@dataclass(frozen=True)
class _Problem:
    """T objectives that share rows A (n, k), labels y (n,) and penalty, and differ in tilt (T, k)."""

    A: Floats
    y: Floats
    penalty: float
    tilt: Floats

    def some(self, which: np.ndarray) -> _Problem:
        """The chosen objectives."""
        return _Problem(self.A, self.y, self.penalty, self.tilt[which])

    def value(self, W: Floats) -> tuple[Floats, Floats]:
        """Objectives (T,) at W (T, k), and bounds (T,) on their rounding errors."""
        scores = W @ self.A.T
        convex = (np.logaddexp(0.0, scores) - self.y * scores).sum(axis=1) + 0.5 * self.penalty * (W * W).sum(axis=1)
        tilted = (W * self.tilt).sum(axis=1)
        return convex + tilted, ROUNDING * (convex + np.abs(tilted))

    def gradient(self, W: Floats) -> Floats:
        """Gradients (T, k) at W (T, k)."""
        return np.asarray((sigmoid(W @ self.A.T) - self.y) @ self.A + self.penalty * W + self.tilt)

    def step(self, W: Floats, gradient: Floats) -> Floats:
        """Newton steps (T, k) at W (T, k)."""
        p = sigmoid(W @ self.A.T)
        hessian = (self.A.T * (p * (1 - p))[:, None, :]) @ self.A
        hessian += self.penalty * np.eye(self.A.shape[1])
        return np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])


def _newton(problem: _Problem, longest: float) -> Floats:
    """Damped Newton steps on all objectives at once; those that have converged are left as they are."""
    W = np.zeros_like(problem.tilt)
    gradient = problem.gradient(W)
    enough = ENOUGH * (len(problem.A) * longest + np.linalg.norm(problem.tilt, axis=1))
    for _ in range(STEPS):
        left = np.flatnonzero(~(np.linalg.norm(gradient, axis=1) <= enough))
        if not len(left):
            return W
        open_ = problem.some(left)
        W[left] = _descended(open_, W[left], open_.step(W[left], gradient[left]), gradient[left])
        gradient[left] = open_.gradient(W[left])
    raise JaliError(
        f"The private fit did not reach its optimum in {STEPS} Newton steps, and its guarantee needs the optimum: "
        "choose a smaller C or a smaller bound."
    )


def _descended(problem: _Problem, W: Floats, step: Floats, gradient: Floats) -> Floats:
    """W (T, k) after a step each, halved until the objective falls, up to rounding."""
    now, rounding = problem.value(W)
    slope = (gradient * step).sum(axis=1)
    part = np.ones(len(W))
    for _ in range(HALVINGS):
        fallen = problem.value(W - part[:, None] * step)[0] <= now - 1e-4 * part * slope + rounding
        if fallen.all():
            break
        part = np.where(fallen, part, part / 2)
    return np.asarray(W - part[:, None] * step)
