"""The configurations that a frontier compares, from specifications: a trainer and an explainer each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jali.core import registry
from jali.core.alternatives import written_out
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.guarantee import Guarantee, Private, unannounced
from jali.core.protocols import Model, Trainer
from jali.core.values import Dataset, Schema
from jali.defend.explain.private_background import PrivateBackground
from jali.protect.methods import Method, method_of

PROBED = 40  # rows that each configuration must be able to explain before anything long begins
UNPROTECTED = "unprotected"


@dataclass(frozen=True)
class Candidate:
    """One configuration: what is trained and how it is explained; family: the part that protects, by its name.

    trains: what the trainer is called; a user's own model has no specification.
    """

    name: str
    family: str
    trainer: Trainer
    explainer: Explainer
    trains: str = ""

    @property
    def explains(self) -> str:
        """The explainer's specification, which names it in evidence."""
        return registry.spec(self.explainer)

    def guarantee(self, schema: Schema) -> Guarantee | None:
        """The guarantee of the trainer or of the explainer for data of this schema; None where there is none.

        That of a private background is about the rows that explanations are made from, and not about the model.
        """
        if isinstance(self.explainer, PrivateBackground):
            return self.explainer.claim_about_rows(schema)
        part = next((p for p in (self.trainer, self.explainer) if isinstance(p, Private)), None)
        return None if part is None else part.guarantee(schema)  # type: ignore[call-arg]


def candidates(
    trainer: Trainer, explain: Sequence[Explainer], defences: Sequence[str], data: Dataset, called: str = ""
) -> tuple[Candidate, ...]:
    """All configurations, the unprotected ones first; each must train and explain a few rows of the data.

    called: the name of a trainer that has no specification.
    """
    own = called or registry.spec(trainer)
    out = [Candidate(registry.spec(e), UNPROTECTED, trainer, e, own) for e in explain]
    for text in [one for given in defences for one in written_out(given)]:
        method = method_of(text, None, {})
        out.append(_candidate(method, trainer, own, explain[0], data))
    names = [c.name for c in out]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise JaliError(f"{repeated[0]} is named twice: name each configuration once.")
    for candidate in out:
        _probe(candidate, data)
    return tuple(out)


def _candidate(method: Method, trainer: Trainer, own: str, plain: Explainer, data: Dataset) -> Candidate:
    """A method as a configuration; a private model is explained like the unprotected one, if that reads no rows."""
    family = registry.name_of(method.part)
    if method.trainer is None:
        assert method.explainer is not None
        return Candidate(method.text, family, trainer, method.explainer, own)
    private = registry.spec(method.trainer)
    if not plain.reads_training_data:
        return Candidate(method.text, family, method.trainer, plain, private)
    recourse = method.explainer_for(_model(method.trainer, data))
    return Candidate(method.text, family, method.trainer, recourse, private)


def _probe(candidate: Candidate, data: Dataset) -> None:
    """Refuse what cannot be trained or explained, before the others take their time."""
    try:
        model = _model(candidate.trainer, data)
        train = data if candidate.explainer.reads_training_data else None
        rng = np.random.default_rng(0)
        with unannounced():
            candidate.explainer.prepare(model, data.schema, train, rng).explain(data.X[:PROBED], rng)
    except JaliError as error:
        raise JaliError(f"{candidate.name} cannot be compared here: {error}") from None


def _model(trainer: Trainer, data: Dataset) -> Model:
    with unannounced():
        return trainer.fit(data, np.ones((len(data), 1), dtype=bool), [np.random.default_rng(0)])[0]
