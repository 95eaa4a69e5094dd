"""The subjects of a test: defences and a user's own release, their claims, and how to draw answers from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer
from jali.core.guarantee import Adjacency, Guarantee, Private, Verifiable
from jali.core.protocols import DrawsModels, ExplainsModels, LibraryNoise, ReleasedWeights, Trainer, UsesPublicData
from jali.core.values import Bools, Dataset, Floats, Rng
from jali.models.logistic import Logistic
from jali.verify.answers import Answers, joined, nothing, vectors
from jali.verify.neighbours import Pair, TrainingSet
from jali.verify.own_release import answers_of, imported, stated

Draw = Callable[[TrainingSet, Floats, int, Rng], "Floats | Answers"]


@dataclass(frozen=True)
class MechanismUnderTest:
    """A mechanism under test: its claim, and how to draw many answers (count, k) to one query on one training set.

    trainer: trains models without noise like those that the mechanism explains; they show which queries are decided
    alike. answer: what is computed from a draw and shown, if that is not the draw itself; only the data-dependence
    check uses it. own: whether this is a user's own release, which is also tested on tables with categories, and whose
    zeros are answers. library: that which draws the noise, where it is not ours: it cannot be recorded and replayed.
    """

    name: str
    guarantee: Guarantee
    draw: Draw
    trainer: Trainer
    answer: Draw | None = None
    own: bool = False
    library: str = ""


# --- drawing -------------------------------------------------------------------------------------------------------


def draw_both(subject: MechanismUnderTest, pair: Pair, draws: int, rng: Rng) -> tuple[Answers, Bools]:
    """Answers (2 draws,) of both data sets, and which of them come from the first data set."""
    before = draw_answers(subject, pair.first, pair.query, draws, rng)
    after = draw_answers(subject, pair.second, pair.query, draws, rng)
    return joined(before, after), np.arange(2 * draws) < draws


def draw_answers(subject: MechanismUnderTest, train: TrainingSet, query: Floats, draws: int, rng: Rng) -> Answers:
    """Answers to one query on one training set; if nothing can be drawn, the reason is the answer."""
    try:
        made = subject.draw(train, query, draws, rng)
    except JaliError as error:
        return nothing(draws, str(error))
    if isinstance(made, Answers):
        return made
    if np.ndim(made) != 2:
        raise JaliError(f"{subject.name} must draw numbers (draws, k), not of shape {np.shape(made)}.")
    return vectors(made)


# --- what can be tested --------------------------------------------------------------------------------------------


def subject(
    name: str, epsilon: float | None = None, adjacency: Adjacency | None = None, delta: float | None = None
) -> MechanismUnderTest:
    """A defence by name or specification, or a callable `release(data, query, rng)` as package.module:name."""
    head = name.partition("(")[0]
    if ":" in head:
        release = imported(name)
        given = stated(name, epsilon, adjacency, delta)
        return MechanismUnderTest(name, given, partial(_own_answers, release), Logistic(), own=True)
    kind = _kind(head)
    cls = _verifiable(kind, head)
    part = registry.build(kind, name) if "(" in name else cls.example(1.0 if epsilon is None else epsilon)
    given = part.guarantee()
    stated_twice = {
        "epsilon": (epsilon, given.epsilon),
        "adjacency": (adjacency, given.adjacency),
        "delta": (delta, given.delta),
    }
    for option, (value, claimed) in stated_twice.items():
        if value is not None and value != claimed:
            raise JaliError(f"{name} claims {option} = {claimed}, and --{option} says {value}: leave it out.")
    return _defence(part, kind, given)


def defences() -> tuple[str, ...]:
    """Built-in parts that make a privacy claim and can be tested by their name alone."""
    kinds: tuple[registry.PartKind, ...] = ("model", "explain")
    return tuple(sorted(n for kind in kinds for n in registry.names(kind) if _is_verifiable(registry.find(kind, n))))


def _kind(head: str) -> registry.PartKind:
    """Whether a part of this name is a model or an explainer."""
    if head in registry.names("model"):
        return "model"
    if head in registry.names("explain"):
        return "explain"
    raise JaliError(f"There is no defence {head!r}; there are {', '.join(defences())}, or a callable module:name.")


def _verifiable(kind: registry.PartKind, head: str) -> type[Verifiable]:
    """The class of a part that can be tested; any other part is refused with what it lacks."""
    cls = registry.find(kind, head)
    if _is_verifiable(cls):
        return cls  # type: ignore[no-any-return]
    lacks = "it makes no privacy claim, guarantee()" if not issubclass(cls, Private) else "it has no example(epsilon)"
    raise JaliError(f"{head} cannot be tested, because {lacks}. These can: {', '.join(defences())}.")


def _is_verifiable(cls: type) -> bool:
    return issubclass(cls, Verifiable)


# --- defences ------------------------------------------------------------------------------------------------------


def _defence(part: Any, kind: registry.PartKind, given: Guarantee) -> MechanismUnderTest:
    """A built-in defence; if it releases models, their weights are drawn, otherwise its answers."""
    name = registry.spec(part)
    moves: Draw = partial(_moves, part)
    if isinstance(part, DrawsModels):
        return MechanismUnderTest(
            name, given, partial(_weights, part), part.plain(), moves if kind == "explain" else None
        )
    if isinstance(part, LibraryNoise):
        return MechanismUnderTest(name, given, partial(_numbers, part), part.plain(), library=part.library)
    if isinstance(part, ExplainsModels):
        return MechanismUnderTest(name, given, moves, part.deployed())
    raise JaliError(
        f"{name} cannot be tested, because answers cannot be drawn from it: it needs draws(data, count, rng) and "
        "plain(), or deployed()."
    )


def _weights(part: DrawsModels, train: TrainingSet, query: Floats, count: int, rng: Rng) -> Floats:  # noqa: ARG001
    """Weights and intercepts (count, k) of new releases; if two classes have opposite weights, only those of one."""
    models: ReleasedWeights = part.draws(train.data, count, rng)
    every = np.concatenate([models.coef, models.intercept[:, None]], axis=1)
    opposite = every.shape[2] == 2 and (every[:, :, 0] == -every[:, :, 1]).all()
    kept = every[:, :, 1:] if opposite else every
    return np.asarray(kept.reshape(len(every), -1))


def _numbers(part: LibraryNoise, train: TrainingSet, query: Floats, count: int, rng: Rng) -> Floats:
    """What models of a library show (count, k)."""
    return part.released(train.data, query, count, rng)


def _moves(part: Explainer, train: TrainingSet, query: Floats, count: int, rng: Rng) -> Floats:
    """The moves (count, P) in encoded features that `count` answers to each query recommend."""
    encode = Encoding(train.data.schema).encode
    X = np.repeat(query, count, axis=0)
    return np.asarray(encode(_explained(part, train, X, rng).rows) - encode(X))


def _explained(part: Explainer, train: TrainingSet, X: Floats, rng: Rng) -> Counterfactual:
    """The answers of the explainer about the model without noise of a training set."""
    data = train.data
    # Prepared anew in every call: what is prepared belongs to one recording, or one replaying, of mechanisms.
    ready = _with_public_data(part, data).prepare(train.fitted(), data.schema, data, rng)
    out = ready.explain(X, rng)
    assert isinstance(out, Counterfactual)
    return out


def _with_public_data(part: Explainer, data: Dataset) -> Explainer:
    """The part with public data of these columns, if it needs any; no guarantee depends on what they are."""
    return part.for_columns(len(data.schema.columns)) if isinstance(part, UsesPublicData) else part


# --- a release of the user's own -----------------------------------------------------------------------------------


def _own_answers(release: Any, train: TrainingSet, query: Floats, count: int, rng: Rng) -> Answers:
    """Answers of a user's own release; the trained model is not used."""
    return answers_of(release, train.data, query, count, rng)
