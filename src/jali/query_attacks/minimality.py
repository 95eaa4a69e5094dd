"""Linkage by an adversary who can run the defence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from jali.core.claims import Harm, Identity
from jali.core.explanation import Regions, categories
from jali.core.query import Holds, Oracle, Sees
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.query_attacks._linking import answers, identifying, named


@dataclass(frozen=True)
class Minimality:
    """Linkage that rules out candidates for whom the defence would not have made the answer.

    Each candidate's quasi-identifiers are combined with the private values of the answer. by = "model": a candidate
    remains if the model gives this row the outcome that the answer states. by = "defence": the model must also give
    that outcome to the candidate's real row, the explainer must be able to show that row, and the defence must give the
    same answer for it. This needs the defence, the model's labels of the training rows, which of them may be shown and
    everybody's quasi-identifiers: an insider, whom k-anonymity with minimal generalisation does not consider. Each
    answer is linked alone. Answers whose private values are ranges rule out nobody.

    Wong et al., Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007, applied to the explanations of
    Goethals, Sörensen and Martens, 2022.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.explanation import Counterfactual
    >>> schema = Schema((Column("age", role="quasi"), Column("income")), favourable=1)
    >>> low, high = np.array([[30.0, 9.0]]), np.array([[50.0, 9.0]])
    >>> answer = Counterfactual(low, np.ones(1, bool), Regions(low, high, np.zeros((1, 2, 0), bool), schema))
    >>> oracle = Oracle(schema, lambda X: np.stack([X[:, 0], 0 * X[:, 0] + 45], axis=1), lambda X: answer)
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0], [50.0, 0.0]]), [0, 0, 0], schema)
    >>> records = Dataset(np.array([[60.0, 3.0]]), [0], schema)
    >>> Minimality(by="model").run(oracle, people, records, np.random.default_rng(0)).candidates
    array([2])
    """

    by: Literal["model", "defence"] = "defence"
    learns: ClassVar[Harm] = "identity"
    sees: ClassVar[Sees] = "counterfactuals"
    holds: ClassVar[Holds] = "register"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Identity:
        """Name one person per answer."""
        counterfactuals = answers("minimality", oracle, records)
        quasi = identifying(known)
        shown = counterfactuals.shown(known.schema)
        exact = _exact(shown, ~quasi)

        def sift(answer: Ints, fits: Bools) -> Bools:
            at, person = (fits & exact[answer, None]).nonzero()
            if not len(at):
                return fits
            rows = np.where(quasi, known.X[person], counterfactuals.rows[answer[at]])
            left = _stated(oracle, rows, records.X[answer], at)
            if self.by == "defence" and left.any():
                again = oracle.regions_for(rows[left], person[left])
                left[left] = again.given & again.regions.same(shown.pick(answer[at[left]]))
            fits[at[~left], person[~left]] = False
            return fits

        return named(counterfactuals, _numbered(oracle, records.X, shown), known, rng, sift)


def _numbered(oracle: Oracle, X: Floats, shown: Regions) -> Ints:
    """A number (n,) for each answer; answers with the same region and the same stated outcome have the same."""
    if oracle.schema.favourable is not None:
        return shown.kinds()
    return np.unique(np.column_stack([shown.kinds(), oracle.labels(X)]), axis=0, return_inverse=True)[1].reshape(-1)


def _exact(shown: Regions, private: Bools) -> Bools:
    """Which answers (n,) state one value of each private column (D,)."""
    one = shown.low == shown.high
    named = categories(shown.schema)
    one[:, named] = shown.allowed[:, named].sum(axis=2) == 1
    return np.asarray(one[:, private].all(axis=1))


def _stated(oracle: Oracle, rows: Floats, records: Floats, at: Ints) -> Bools:
    """Which rows (m, D) have the outcome that was stated to their record: one of records (a, D), given by at (m,)."""
    hoped = oracle.schema.favourable
    if hoped is None:
        return np.asarray(oracle.labels(rows) != oracle.labels(records)[at])
    return np.asarray(oracle.labels(rows) == hoped)
