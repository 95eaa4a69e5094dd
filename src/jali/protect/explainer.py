"""A protected explainer of one model: answers to people, its guarantee and its price."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Explanation, Prepared, Surrogate
from jali.core.guarantee import Guarantee
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Schema
from jali.data.tables.row_reader import RowReader
from jali.protect.answers import Answer, Answers
from jali.protect.methods import Method
from jali.protect.protection import Protection
from jali.protect.wording import attribution_answers, kept_immutable, recourse_answers, surrogate_answers
from jali.text.catalogue import Catalogue, catalogue

if TYPE_CHECKING:
    from jali.protect.budget import Budget
    from jali.protect.price import Price


@dataclass(frozen=True, eq=False)
class ProtectedExplainer:
    """Explains one model to people, under a guarantee. No question changes its state, and threads may share it.

    model: the one that decides; a private one where the method trains it. original: the user's model, where that is
    another. claim: of methods that pay for each answer, the price of one. train: the training rows, and trainer: that
    of the user's model, kept for `price` and `audit` only; None after `load`.
    """

    schema: Schema
    model: Model
    method: Method
    ready: Prepared
    guarantee: Protection
    claim: Guarantee | None = None
    budget: Budget | None = None
    train: Dataset | None = field(default=None, repr=False)
    original: Model | None = field(default=None, repr=False)
    trainer: Any = field(default=None, repr=False)

    def explain(self, rows: Any, language: str = "en") -> Answers:
        """One answer for each person: a mapping, a frame, an array, or one row of it.

        language: of sentences about recourse, "en" or "de"; attributions and rules are in English.

        A row with a gap, or with a category that is not known, gets no answer and costs nothing.
        """
        say = catalogue(language)
        read = RowReader(self.schema)(rows)
        at = np.flatnonzero(read.usable)
        claim = str(self.guarantee)
        out = [Answer(text, claim, withheld=text) for text in read.problem]
        for i, answer in zip(at, self._answered(read.X[at], claim, say) if len(at) else [], strict=True):
            out[i] = answer
        index = tuple(rows.index) if hasattr(rows, "columns") else ()
        return Answers(tuple(out), index)

    def predict(self, rows: Any) -> list[str]:
        """The class that the model decides for each person, by name; rows that cannot be read are refused."""
        read = RowReader(self.schema)(rows)
        if wrong := next((text for text in read.problem if text), ""):
            raise JaliError(wrong)
        return [self.schema.classes[label] for label in self.decided(read.X)]

    def price(self, population: tuple[Any, Any] | None = None) -> Price:
        """What protection costs the people who ask, beside the unprotected explanation, for each sensitive group."""
        from jali.protect.price import priced

        return priced(self, self.people(population))

    def decided(self, X: Floats) -> Ints:
        """The classes (n,) of raw rows."""
        return np.asarray(self.model.logits(X).argmax(axis=1))

    def explanation(self, X: Floats) -> Explanation:
        """The explanations of raw rows (n, D), paid for where each costs."""
        if self.claim is None:
            return self.ready.explain(X, np.random.default_rng(0))
        if self.budget is None:
            raise JaliError(
                f"{self.method.text} pays for each answer: give it budget=jali.Budget(epsilon, path) when it is made."
            )
        return self.budget.explanations(self.ready, X, self.claim)

    def _answered(self, X: Floats, claim: str, say: Catalogue) -> list[Answer]:
        predicted = self.decided(X)
        found = self.explanation(X) if self.claim is None else self._paid(X, predicted)
        if isinstance(found, Attribution):
            return attribution_answers(found, self.schema, claim, predicted)
        if isinstance(found, Surrogate):
            return surrogate_answers(found, X, self.schema, claim, predicted)
        kept = kept_immutable(X, found.public(), self.schema)
        return recourse_answers(self.model, X, kept, self.schema, claim, predicted, say)

    def _paid(self, X: Floats, predicted: Ints) -> Counterfactual:
        """Answers that are paid for one by one; nobody pays who has the favourable outcome already."""
        asks = np.flatnonzero(predicted != (-1 if self.schema.favourable is None else self.schema.favourable))
        rows = X.copy()
        found = np.zeros(len(X), dtype=bool)
        if len(asks):
            some = self.explanation(X[asks])
            assert isinstance(some, Counterfactual)
            rows[asks] = some.rows
            found[asks] = some.found
        return Counterfactual(rows, found)

    def people(self, population: tuple[Any, Any] | None) -> Dataset:
        """The people of a population, read with the schema; those that cannot be read are left out."""
        if population is None:
            raise JaliError("Give people who were not trained on, as population=(X, y).")
        from jali.data.tables.schema_files import label

        read = RowReader(self.schema)(population[0])
        place = {name: at for at, name in enumerate(self.schema.classes)}
        y = np.array([place.get(label(v), -1) for v in np.asarray(population[1])])
        if len(y) != len(read.X):
            raise JaliError(f"population has {len(read.X)} rows and {len(y)} labels: give one label per row.")
        kept = read.usable & (y >= 0)
        if not kept.any():
            raise JaliError(
                "No row of the population can be read: it needs the columns and classes of the training rows."
            )
        return Dataset(read.X[kept], y[kept], self.schema)

    def __repr__(self) -> str:
        return f"{self.method.text}: {self.guarantee}"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.method.text)}</b><pre>{escape(self.guarantee.explained())}</pre>"
