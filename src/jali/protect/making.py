"""Make a protected explainer: the model, trained here or given, its explainer made ready, and its guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from jali.audit.setup import check_missing
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee, Private, unannounced
from jali.core.protocols import Existing, Model, Trainer
from jali.core.values import Dataset, Rng
from jali.privacy.byte_sources import SystemRandom
from jali.privacy.overlap import overlaps
from jali.protect.explainer import ProtectedExplainer
from jali.protect.guarantees import protection_of
from jali.protect.methods import Method
from jali.protect.protection import Condition, Protection

if TYPE_CHECKING:
    from jali.protect.budget import Budget

Kind = TypeVar("Kind", bound=ProtectedExplainer)


def made(
    kind: type[Kind],
    trainer: Any,
    train: Dataset,
    method: Method,
    budget: Budget | None = None,
    seed: int | None = None,
) -> Kind:
    """The explainer of one model, an object of this kind.

    trainer: of a model that exists (`models.given`), or of one that is trained here; None where the method trains it.
    seed: of everything random, for studies that must repeat. Without one, noise is drawn from the system's random
    bytes, and nobody can repeat it.
    """
    if not len(train):
        raise JaliError("There are no training rows: pass them as train=(X, y).")
    rng = SystemRandom() if seed is None else np.random.default_rng(seed)
    with unannounced():
        original = None if trainer is None else model_of(trainer, train, rng)
        model = original if method.trainer is None else model_of(method.trainer, train, rng)
        if model is None:
            raise JaliError(f"{method.text} explains a model: pass it as the first argument.")
        explainer = method.explainer_for(model)
        if explainer.reads_training_data:  # others meet the rows that people ask about, where gaps are answered for
            check_missing(explainer, train.schema)
        ready = explainer.prepare(model, train.schema, train if explainer.reads_training_data else None, rng)
        guarantee = _guaranteed(method, ready, train, seed is not None)
    claim = _paid_each(method.part, train)
    if claim is not None and budget is None:
        raise JaliError(
            f"{registry.name_of(method.part)} spends epsilon = {claim.epsilon:g} on every answer: say how much may be "
            "spent in all, and where that is kept, with budget=jali.Budget(epsilon, path)."
        )
    if claim is None and budget is not None:
        raise JaliError(f"{method.text} has no price for an answer, so a budget would never be spent: leave it out.")
    another = original if method.trainer is not None else None
    return kind(train.schema, model, method, ready, guarantee, claim, budget, train, another, trainer)


def model_of(trainer: Any, train: Dataset, rng: Rng) -> Model:
    """A model that exists, or one that is trained on all rows."""
    if isinstance(trainer, Existing):
        return trainer.existing(train)
    member = np.ones((len(train), 1), dtype=bool)
    made: Trainer = trainer
    return made.fit(train, member, [rng])[0]


def _guaranteed(method: Method, ready: Any, train: Dataset, seeded: bool) -> Protection:
    found = protection_of(method.part, ready, train, seeded)
    if shared := overlaps(method.part, train):
        conditions = (Condition(shared, False), *found.conditions)
        return Protection(found.statement, conditions, found.not_covered, found.epsilon, found.delta, found.per)
    return found


def _paid_each(part: Any, train: Dataset) -> Guarantee | None:
    """The price of one answer, where each answer has one."""
    if not isinstance(part, Private):
        return None
    claim: Guarantee = part.guarantee(train.schema)  # type: ignore[call-arg]
    return claim.for_people_in(train) if claim.per == "release" else None
