"""Explainers as users give them: names, parts, factories, functions and finished objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jali.adapters.explainers.own import OwnExplainer
from jali.adapters.explainers.recognise import Wanted, recognised, renamed
from jali.api.parts import part_of
from jali.audit.one_model import TRAIN, stream
from jali.audit.setup import Experiment
from jali.core.errors import JaliError
from jali.core.explanation import Gives
from jali.core.protocols import Cautioned, Existing, Model, Source
from jali.core.values import Dataset
from jali.explain.reason_codes import ReasonCodes, Show
from jali.games.given_model import GivenModel
from jali.games.given_model_offline import GivenModelOffline

TRIED = 1000  # rows on which a model is trained to try an explainer, where no model exists yet


def explainer(make: Any, kind: Gives | None = None, of: Any = "predicted", name: str = "") -> Wanted:
    """An explainer of your own for `jali.audit(explain=[…])`, where its answers leave something open.

    make: a function make(model, background) that returns an explainer, a function f(model, X) that returns answers, or
    an explainer object. kind: "attribution", "counterfactual" or "surrogate". of: which class attributions of shape
    (rows, columns) are about, "predicted", or "second" where they always are about the second of two classes. name: how
    the report calls it.

    >>> explainer(lambda model, X: X * 0, kind="attribution", name="nothing").name
    'nothing'
    """
    if kind not in (None, "attribution", "counterfactual", "surrogate"):
        raise JaliError(f'kind must be "attribution", "counterfactual" or "surrogate", not {kind!r}.')
    if of not in ("predicted", "second"):
        raise JaliError(f'of must be "predicted", or "second" for the second of two classes, not {of!r}.')
    return Wanted(make, kind, of, name)


@runtime_checkable
class Ours(Protocol):
    """What tells an explainer by our protocol from anything else that a user may give."""

    gives: Any
    wants: Any
    prepare: Any


@dataclass(frozen=True)
class Reasons:
    """Reason codes of an explainer that is not known yet."""

    given: Any
    top: int
    show: Show


def reason_codes(explainer: Any, top: int = 4, show: Show = "names") -> Reasons:
    """The `top` columns that count most, in order, of any explainer that `jali.audit(explain=[…])` takes.

    show: "names" alone, "signs" too, or the "values".

    >>> reason_codes("tree_shap", top=3).show
    'names'
    """
    return Reasons(explainer, top, show)


@dataclass(frozen=True)
class Loaded:
    """Data that were loaded to try an explainer, so that they are not loaded again."""

    data: Dataset
    source: Source

    @property
    def caution(self) -> str:
        """The warning of the source, if it has one."""
        return self.source.caution if isinstance(self.source, Cautioned) else ""

    def load(self) -> Dataset:
        """The data."""
        return self.data


def with_explainers(experiment: Experiment, given: Sequence[Any]) -> Experiment:
    """The experiment with explainers; those of a user are tried first, on the model or on one that is trained for it.

    Where one is bound to the audited model, the game has no shadow models.
    """
    parts = [_named(one) for one in given]
    if not any(isinstance(part, Wanted | Reasons) for part in parts):
        return replace(experiment, explain=tuple(parts))
    data = experiment.data.load()
    model, train = _tried_on(experiment, data)
    built = [_built(part, model, train) for part in parts]
    inner = [part.inner if isinstance(part, ReasonCodes) else part for part in built]
    renamed(inner)
    out = replace(experiment, data=Loaded(data, experiment.data), explain=tuple(built))
    return _without_shadows(out, inner) if any(is_bound(part) for part in inner) else out


def _named(one: Any) -> Any:
    """The explainer that a text names, a part as it was given, or anything else as something to be tried."""
    if isinstance(one, str | Reasons | Wanted):
        return part_of("explain", one)
    if isinstance(one, Ours) and isinstance(one, type):
        raise JaliError(f"explain=[…] takes an explainer, not the class {one.__name__}: write {one.__name__}().")
    return one if isinstance(one, Ours) else Wanted(one)


def _built(part: Any, model: Model, train: Dataset) -> Any:
    if isinstance(part, Reasons):
        return ReasonCodes(_built(_named(part.given), model, train), part.top, part.show)
    return recognised(part, model, train) if isinstance(part, Wanted) else part


def is_own(part: Any) -> bool:
    """Whether an explainer, or the one whose columns it names, is a user's own object without a specification."""
    return isinstance(part.inner if isinstance(part, ReasonCodes) else part, OwnExplainer)


def is_bound(part: Any) -> bool:
    """Whether an explainer explains one model only."""
    return isinstance(part, OwnExplainer) and part.bound


def _tried_on(experiment: Experiment, data: Dataset) -> tuple[Model, Dataset]:
    """The model on which explainers are tried, and its training rows."""
    game = experiment.game
    trainer = experiment.model
    if isinstance(trainer, Existing) and isinstance(game, GivenModel | GivenModelOffline):
        return trainer.existing(data), data.rows(np.arange(len(data)) < game.members)
    rng = stream(experiment.seed, TRAIN, len(data))
    some = np.isin(np.arange(len(data)), rng.permutation(len(data))[:TRIED])
    return trainer.fit(data, some[:, None], [rng])[0], data.rows(some)


def _without_shadows(experiment: Experiment, explainers: Sequence[Any]) -> Experiment:
    """The experiment in a game without shadow models, which explainers bound to one model need."""
    game = experiment.game
    if isinstance(game, GivenModel):
        return replace(experiment, game=replace(game.with_reference(), shadows=0))
    name = next(part.name for part in explainers if is_bound(part))
    raise JaliError(
        f"{name} explains one model only, and this audit trains several: give a function that makes it, such as "
        "explain=[lambda model, background: shap.TreeExplainer(model)]."
    )
