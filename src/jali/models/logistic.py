"""Logistic regression by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.models.fitted.linear import UNSEEN, LinearEnsemble
from jali.models.fitted.membership_check import checked

LARGEST = 300  # unknowns above which solving the Newton system takes longer than approaching its solution
ENOUGH = 1e-11  # norm of the gradient, relative to that at the start, at which the fit may have converged
CLOSE = 1e-9  # and the norm itself: the penalty curves by one, so the weights are no further from the optimum than this
SPARSE = 0.1  # share of numbers other than zero below which sparse matrices are quicker
Rows = Any  # an array, or a sparse matrix of scipy


@dataclass(frozen=True)
class Logistic:
    """L2-penalised logistic regression on the encoded features, with an unpenalised intercept.

    Minimises C * sum_i -log softmax(Z_i W + b)[y_i] + ||W||^2 / 2. With two classes there is one weight vector w, split
    into -w/2 and w/2; with more, every class has its own and the intercepts add up to zero. Models are fitted one by
    one on arrays of their own, so a model has the same bits whatever other models are trained in the same call.

    >>> from jali.core.values import Column, Schema
    >>> data = Dataset(np.array([[-1.0], [-1.0], [1.0], [1.0]]), [0, 0, 1, 1], Schema((Column("x"),)))
    >>> fitted = Logistic().fit(data, np.ones((4, 1), dtype=bool), [np.random.default_rng(0)])
    >>> fitted.coef.round(4)  # the root of w = 4 / (1 + exp(w))
    array([[[-0.5213,  0.5213]]])
    """

    C: float = 1.0
    iterations: int = 100

    def __post_init__(self) -> None:
        if not self.C > 0 or self.iterations < 1:
            raise JaliError(f"logistic: C and iterations must be positive, not {self.C} and {self.iterations}.")

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> LinearEnsemble:
        """Train one model per column of member (N, M); nothing is drawn at random."""
        member = checked(data, member, rngs)
        encoding = Encoding(data.schema)
        Z = encoding.encode(data.X)
        classes = len(data.schema.classes)
        fits = [self._column(Z[mine], data.y[mine], classes) for mine in member.T]
        return LinearEnsemble(encoding, np.stack([w for w, _ in fits]), np.stack([b for _, b in fits]))

    def _column(self, Z: Floats, y: Ints, classes: int) -> tuple[Floats, Floats]:
        """Coef (P, C) and intercept (C,) of one model."""
        seen, code = np.unique(y, return_inverse=True)
        two = len(seen) == 2
        weights, b = self._solution(Z, np.eye(len(seen))[1 if two else 0 :, code])
        # Two classes share one weight vector evenly, so that explanations of either class's score agree up to sign.
        weights, b = (np.vstack([-weights, weights]) / 2, np.r_[-b, b] / 2) if two else (weights, b)
        coef = np.zeros((Z.shape[1], classes))
        intercept = np.zeros(classes)
        coef[:, seen] = weights.T
        intercept[seen] = b
        if len(seen) < classes:
            unseen = np.setdiff1d(np.arange(classes), seen)
            intercept[unseen] = (Z @ coef[:, seen] + intercept[seen]).min() + UNSEEN
        return coef, intercept

    def _solution(self, Z: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """Weights (F, P) and intercepts (F,) of the free classes, for their indicators Y (F, n).

        The optimal weights lie in the row space of Z and the penalty does not change under rotation, so with few rows
        and more columns the problem is solved in coordinates of that space.
        """
        if LARGEST > len(Z) < Z.shape[1]:
            basis, triangle = np.linalg.qr(Z.T)
            weights, b = self._solution(np.ascontiguousarray(triangle.T), Y)
            return weights @ basis.T, b
        problem = _Problem(_rows(np.column_stack([Z, np.ones(len(Z))])), Y, self.C)
        B = _newton(problem, self.iterations)
        return B[:, :-1], B[:, -1]


def _rows(A: Floats) -> Rows:
    """The rows (n, k), as a sparse matrix where they hold so few numbers that it is quicker: one-hot categories do."""
    filled = np.count_nonzero(A)
    if filled > SPARSE * A.size:
        return A
    from scipy.sparse import csr_array

    return csr_array(A)


@dataclass(frozen=True)
class _Problem:
    """The objective: rows A (n, k) ending in a one, indicators Y (F, n) of the free classes; unknowns B (F, k).

    F = 1 means two classes, of which the first has score zero. Otherwise adding a number to all intercepts
    would change nothing; half the square of their sum, zero at the optimum, is added to make the solution unique.
    """

    A: Rows
    Y: Floats
    C: float

    def start(self) -> Floats:
        """The start of the optimisation."""
        return np.zeros((len(self.Y), self.A.shape[1]))

    def at(self, B: Floats) -> tuple[float, Floats, Floats]:
        """Objective, its gradient (F, k), and the probabilities (F, n) of the free classes."""
        scores = (self.A @ B.T).T
        every = np.vstack([np.zeros_like(scores), scores]) if len(B) == 1 else scores
        top = every.max(axis=0)
        mass = np.exp(every - top)
        total = mass.sum(axis=0)
        loss = (np.log(total) + top - (self.Y * scores).sum(axis=0)).sum()
        probability = mass[-len(B) :] / total
        gradient = self.C * (self.A.T @ (probability - self.Y).T).T
        gradient[:, :-1] += B[:, :-1]
        surplus = B[:, -1].sum() if len(B) > 1 else 0.0
        gradient[:, -1] += surplus
        return float(self.C * loss + (B[:, :-1] ** 2).sum() / 2 + surplus**2 / 2), gradient, probability

    def step(self, gradient: Floats, probability: Floats, share: float) -> Floats:
        """The Newton step (F, k): Hessian^-1 gradient; in large problems up to this share of the gradient's norm."""
        if gradient.size <= LARGEST:
            return self._solved(gradient, probability)
        return self._approached(gradient, probability, share)

    def _solved(self, gradient: Floats, probability: Floats) -> Floats:
        """The Newton step from the whole Hessian, with slight damping where that is singular."""
        free, k = gradient.shape
        H = np.empty((free, k, free, k))
        for a in range(free):
            for b in range(a, free):
                product = self._gram(probability[a] * (1 - probability[a] if a == b else probability[b]))
                H[a, :, b] = H[b, :, a] = product if a == b else -product
            H[a, range(k - 1), a, range(k - 1)] += 1.0
        if free > 1:
            H[:, -1, :, -1] += 1.0
        system: Floats = H.reshape(free * k, free * k)
        system.flat[:: free * k + 1] += 1e-12 * np.trace(system) / len(system)
        return np.asarray(np.linalg.solve(system, gradient.ravel()), dtype=np.float64).reshape(free, k)

    def _gram(self, weight: Floats) -> Floats:
        """C A^T diag(weight) A (k, k), of weights (n,) that are not negative."""
        root = self.A * np.sqrt(self.C * weight)[:, None]
        product = root.T @ root  # an array with itself: half the work
        return product if isinstance(product, np.ndarray) else np.asarray(product.toarray())

    def _approached(self, gradient: Floats, probability: Floats, share: float) -> Floats:
        """The Newton step by conjugate gradients, which never form the Hessian; preconditioned by its diagonal."""
        scale = self._diagonal(probability)
        step = np.zeros_like(gradient)
        left = gradient
        towards = left / scale
        along = float((left * towards).sum())
        enough = share * np.linalg.norm(gradient)
        for _ in range(gradient.size):
            if np.linalg.norm(left) <= enough:
                break
            bent = self._curvature(towards, probability)
            part = along / float((towards * bent).sum())
            step = step + part * towards
            left = left - part * bent
            before = along
            along = float((left * (left / scale)).sum())
            towards = left / scale + along / before * towards
        return step

    def _diagonal(self, probability: Floats) -> Floats:
        """The diagonal (F, k) of the Hessian."""
        out = self.C * ((self.A * self.A).T @ (probability * (1 - probability)).T).T
        out[:, :-1] += 1.0
        out[:, -1] += 1.0 if len(out) > 1 else 0.0
        return np.asarray(out)

    def _curvature(self, direction: Floats, probability: Floats) -> Floats:
        """The Hessian times a direction (F, k)."""
        slope = probability * (self.A @ direction.T).T
        slope = slope - probability * slope.sum(axis=0)
        out = self.C * (self.A.T @ slope.T).T
        out[:, :-1] += direction[:, :-1]
        if len(out) > 1:
            out[:, -1] += direction[:, -1].sum()
        return np.asarray(out)


def _newton(problem: _Problem, iterations: int) -> Floats:
    """Newton's method with step halving; ends when neither objective nor gradient falls any more, up to rounding."""
    B = problem.start()
    value, gradient, probability = problem.at(B)
    first = max(1.0, float(np.linalg.norm(gradient)))
    before = np.inf
    for _ in range(iterations):
        size = float(np.linalg.norm(gradient))
        if size <= ENOUGH * first and (size <= CLOSE or size > before / 2):
            break
        before = size
        step = problem.step(gradient, probability, min(0.1, np.sqrt(size / first)))
        slope = float((gradient * step).sum())
        for part in 0.5 ** np.arange(30):
            trial = problem.at(B - part * step)
            if trial[0] <= value - 1e-4 * part * slope + 1e-13 * abs(value):
                break
        else:
            break
        B = B - part * step
        value, gradient, probability = trial
    return B
