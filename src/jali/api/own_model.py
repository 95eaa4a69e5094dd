"""The experiment on a user's own fitted model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jali.api.parts import part_of, text_of
from jali.audit.setup import Experiment
from jali.core import registry
from jali.core.errors import JaliError

if TYPE_CHECKING:
    from jali.data.tables.in_memory import OwnTables
    from jali.models.given import Given

NO_MODEL = {"evidence": "evidence.npz", "data": "", "model": "", "game": ""}
NONE = "none"


@dataclass(frozen=True)
class Own:
    """What a user says about a model and its tables; see `jali.audit`."""

    train: Any
    population: Any
    favourable: Any = None
    quasi: Sequence[str] = ()
    groups: str = ""
    sensitive: str = ""
    schema: Any = ""
    immutable: Sequence[str] = ()
    fit: Callable[..., Any] | None = None
    shadow: Any = ""
    classes: Sequence[Any] = ()
    threshold: float | None = None

    def tables(self) -> OwnTables:
        """The tables, checked."""
        from jali.data.tables import schema_files
        from jali.data.tables.in_memory import OwnTables, alike, pair

        train, population = pair(self.train, "train"), pair(self.population, "population")
        population = alike(train[0], population[0]), population[1]
        schema_files.given(self.schema)
        marked = (tuple(self.quasi), self.groups, self.sensitive, self.schema)
        return OwnTables(train, population, self.favourable, *marked, immutable=tuple(self.immutable))

    def with_cut(self, model: Any, source: OwnTables) -> OwnTables:
        """The tables, cut at the threshold where the model is a regression model."""
        from jali.adapters.models.regression import is_regression
        from jali.data.tables.outcomes import cut_at

        if not is_regression(model, source.train[1], self.threshold):
            return source
        if self.shadow and self.shadow != NONE:
            raise JaliError(
                "shadow names a trainer of classifiers: for a regression model give fit=lambda X, y, seed: …"
            )
        return replace(source, cut=cut_at(source.train[1], self.threshold, self.favourable))


def own_experiment(model: Any, own: Own, game: Any, seed: int) -> tuple[Experiment, dict[str, Any]]:
    """The experiment on a user's fitted model; it has no specification, so the configuration names its evidence."""
    from jali.games.given_model import GivenModel
    from jali.games.given_model_offline import GivenModelOffline

    source = own.with_cut(model, own.tables())
    given = _given(model, own, source) if source.cut is None else _regression(model, own, source)
    members = len(source.train[1])
    default = replace(GivenModel(members).with_reference(), shadows=0) if given.without else GivenModel(members)
    chosen = part_of("game", game) if game else default
    if not isinstance(chosen, GivenModel | GivenModelOffline) or chosen.members != members:
        raise JaliError(
            f"A model that exists is audited with its real training rows: use game='given_model(members={members})', "
            f"or given_model_offline for an adversary who does not know the candidates, not {text_of(chosen)}."
        )
    if given.without and chosen.shadows:
        raise JaliError(f"{text_of(chosen)} needs shadow models. {given.without}")
    experiment = Experiment(source, given, chosen, seed=seed)
    return experiment, NO_MODEL | {"model": _name(model), "game": text_of(chosen)}


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))


def _regression(model: Any, own: Own, source: OwnTables) -> Given:
    """A regression model as a part: a classifier of the two sides of the threshold."""
    from jali.adapters.models.hidden_splits import hidden_splits
    from jali.adapters.models.regression import Regressor, as_refit
    from jali.models.given import Given

    cut = source.cut
    assert cut is not None
    notes = [*hidden_splits(model, len(source.train[1]))]
    if own.threshold is None:
        notes.append(
            f"No threshold was given, so the decision is whether the prediction is at least {cut.threshold:g}, "
            "the median of the training people."
        )
    refit, without = None, "There are no shadow models, because shadow='none' was chosen." if own.shadow else ""
    try:
        refit = as_refit(model, own.fit, cut)
    except JaliError as error:
        without = f"There are no shadow models. {error}"
    estimator = Regressor(model, cut)
    rows, _ = source.sample()
    estimator.decision_function(rows)
    whole = " ".join([*notes, without]).strip()
    return Given(estimator, source.inputs(), source.like(), refit, None, without, whole)


def _given(model: Any, own: Own, source: OwnTables) -> Given:
    """The model as a part, with the way its shadow models are trained and what must be said of it."""
    from jali.adapters.models.agreement import agreement
    from jali.adapters.models.recognise import brought
    from jali.models.given import Given

    found = brought(model, own.fit, source.class_labels(own.classes), len(source.train[1]))
    rows, labels = source.sample()
    notes = [*found.notes, *agreement(found.estimator, rows, labels, known=found.estimator is model)]
    stand_in, without = None, found.without
    if own.shadow and own.shadow != NONE:
        if own.fit is not None:
            raise JaliError("fit and shadow both say how shadow models are trained: give one of them.")
        stand_in, without = part_of("model", own.shadow), ""
        notes.append(
            f"Shadow models were trained by {registry.spec(stand_in)}, not as the model itself was: an adversary who "
            "knows more about the model finds more."
        )
    elif own.shadow == NONE:
        without = "There are no shadow models, because shadow='none' was chosen."
    if without:
        notes.append(without)
    return Given(found.estimator, source.inputs(), source.like(), found.refit, stand_in, without, " ".join(notes))
