"""Linkage by somebody who can run what made the answer."""

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
    """Linkage that rules out whoever the answer cannot have been made for.

    Everybody within the stated quasi-identifiers is given the private values that stand in the answer. by = "model":
    those remain who would have the outcome promised, by the model's labels. by = "defence": of these, those to whom the
    model really gives it, and for whom the same answer would have been made. That needs the defence, the model's labels
    of the training rows and everybody's quasi-identifiers: an insider, with whom k-anonymity by least change does not
    reckon. Each answer is judged alone. Answers whose private values are ranges rule out nobody.

    Wong et al., Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007, turned on the explanations of
    Goethals, Sörensen and Martens, 2022.

    >>> from jali.core.values import Column, Schema
    >>> from jali.core.explanation import Counterfactual
    >>> schema = Schema((Column("age", role="quasi"), Column("income")), favourable=1)
    >>> low, high = np.array([[30.0, 9.0]]), np.array([[50.0, 9.0]])
    >>> told = Counterfactual(low, np.ones(1, bool), Regions(low, high, np.zeros((1, 2, 0), bool), schema))
    >>> oracle = Oracle(schema, lambda X: np.stack([X[:, 0], 0 * X[:, 0] + 45], axis=1), lambda X: told)
    >>> people = Dataset(np.array([[30.0, 0.0], [40.0, 0.0], [50.0, 0.0]]), [0, 0, 0], schema)
    >>> asked = Dataset(np.array([[60.0, 3.0]]), [0], schema)
    >>> Minimality(by="model").run(oracle, people, asked, np.random.default_rng(0)).candidates
    array([2])
    """

    by: Literal["model", "defence"] = "defence"
    learns: ClassVar[Harm] = "identity"
    sees: ClassVar[Sees] = "counterfactuals"
    holds: ClassVar[Holds] = "register"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle: Oracle, known: Dataset, records: Dataset, rng: Rng) -> Identity:
        """Name one person per answer."""
        there, quasi = answers("minimality", oracle, records), identifying(known)
        shown = there.shown(known.schema)
        exact = _exact(shown, ~quasi)

        def sift(answer: Ints, fits: Bools) -> Bools:
            at, person = (fits & exact[answer, None]).nonzero()
            rows = np.where(quasi, known.X[person], there.rows[answer[at]])
            left = _promised(oracle, rows, records.X[answer], at)
            if self.by == "defence":
                left[left] = oracle.remake(rows[left], person[left]).same(shown.pick(answer[at[left]]))
            fits[at[~left], person[~left]] = False
            return fits

        return named(there, _asked(oracle, records.X, shown), known, rng, sift)


def _asked(oracle: Oracle, X: Floats, shown: Regions) -> Ints:
    """A number (n,) for each answer, the same where the same is shown, and promised."""
    if oracle.schema.favourable is not None:
        return shown.kinds()
    return np.unique(np.column_stack([shown.kinds(), oracle.labels(X)]), axis=0, return_inverse=True)[1].reshape(-1)


def _exact(shown: Regions, private: Bools) -> Bools:
    """Which answers (n,) state one value of each private column (D,)."""
    one = shown.low == shown.high
    named = categories(shown.schema)
    one[:, named] = shown.allowed[:, named].sum(axis=2) == 1
    return np.asarray(one[:, private].all(axis=1))


def _promised(oracle: Oracle, rows: Floats, asked: Floats, at: Ints) -> Bools:
    """Which rows (m, D) have the outcome promised to those of the records asked (a, D) that they answer, at (m,)."""
    hoped = oracle.schema.favourable
    if hoped is None:
        return np.asarray(oracle.labels(rows) != oracle.labels(asked)[at])
    return np.asarray(oracle.labels(rows) == hoped)
