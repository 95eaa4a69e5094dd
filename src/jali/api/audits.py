"""Audits: of a model of your own, of a named experiment, or of what a configuration describes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jali.api.evidence_files import as_released, attack_file
from jali.api.explainers import is_own, with_explainers
from jali.api.own_model import NO_MODEL, Own, own_experiment
from jali.api.parts import check_parts, part_of, several, text_of
from jali.api.result import Audit
from jali.api.running import armed, as_played, run_setup
from jali.audit import queries
from jali.audit.forecast import Forecast, forecast
from jali.audit.reference import needed
from jali.audit.setup import Experiment, Resources, Setup
from jali.config import Config, checked
from jali.core import registry
from jali.core.errors import JaliError


def audit(
    model: Any = "logistic",
    train: tuple[Any, Any] | None = None,
    population: tuple[Any, Any] | None = None,
    *,
    data: Any = "lending",
    explain: Sequence[Any] = (),
    attack: Sequence[Any] = (),
    signal: Sequence[Any] = (),
    game: Any = None,
    seed: int = 0,
    favourable: Any = None,
    quasi: Sequence[str] = (),
    groups: str = "",
    sensitive: str = "",
    schema: str | Mapping[str, Any] = "",
    immutable: Sequence[str] = (),
    fit: Callable[..., Any] | None = None,
    shadow: Any = "",
    classes: Sequence[Any] = (),
    threshold: float | None = None,
    knowledge: Any = "",
    resources: Resources | None = None,
    show_values: bool = False,
) -> Audit:
    """Audit what a model's explanations reveal about its training data.

    With `train` and `population`, `model` is your own fitted model: an estimator or pipeline of scikit-learn, XGBoost,
    LightGBM, CatBoost, interpret or skorch, a torch module, a function predict_proba(X), an ONNX session, or what
    `jali.http_model` returns. The training rows are the members, the population are the non-members, and shadows are
    clones of the model, each trained on a random part of all of them; or what `fit(X, y, seed)` returns; or what a
    trainer of ours makes (`shadow="mlp"`). `game="given_model_offline(members=…)"` is the weaker adversary who does not
    know the candidates. A model that cannot be trained again, or `shadow="none"`, is attacked without shadows
    (`quantile`): half of the population is then not judged. `classes` names the order of a model's answers where it is
    not ascending. `threshold` goes with a regression model: from there on its value counts as the favourable outcome.
    `immutable` names columns that recourse must not change, `quasi` the quasi-identifiers, `groups` a column that
    identifies the person of each row (the model does not read it), `sensitive` a column whose groups are compared;
    `schema` is a schema file or a mapping of that form, which a privacy claim needs. `explain` lists explainers by
    name, and those of your own: `make(model, background)` that returns an explainer, `f(model, X)` that gives answers,
    or an explainer object (see `jali.explainer`). Without `train` and `population`, `data`, `model`, `explain` and
    `game` name parts: a specification or the part itself. `knowledge` is what the adversary of query attacks knows
    beforehand.
    """
    resources = resources or Resources()
    if (train is None) != (population is None):
        raise JaliError("Give both train=(X, y) and population=(X, y), or neither of them.")
    several("explain", explain)
    check_parts("attack", attack, "lira")
    check_parts("signal", signal, "attribution_ranks")
    own: dict[str, Any] = {}
    if train is not None and population is not None:
        columns = several("quasi", quasi), groups, sensitive, schema, several("immutable", immutable)
        tables = Own(train, population, favourable, *columns, fit, shadow, several("classes", classes), threshold)
        experiment, own = own_experiment(model, tables, game, seed)
    else:
        if hasattr(model, "predict"):
            raise JaliError("A fitted model of your own needs train=(X, y) and population=(X, y).")
        marked = {"favourable": favourable, "quasi": quasi, "groups": groups, "sensitive": sensitive, "schema": schema}
        marked |= {"immutable": immutable, "fit": fit, "shadow": shadow, "classes": classes, "threshold": threshold}
        if given := [name for name, value in marked.items() if value not in (None, "", (), [])]:
            raise JaliError(f"{given[0]} goes with tables of your own; a named data set has its own.")
        experiment = Experiment(part_of("data", data), part_of("model", model), part_of("game", game or "rotate"))
    experiment = with_explainers(replace(experiment, seed=seed), explain)
    if any(map(is_own, experiment.explain)):
        own = NO_MODEL | {"model": text_of(model)} | own | {"game": text_of(experiment.game)}
    settings = {"explain": [text_of(part) for part in experiment.explain], "signal": [text_of(s) for s in signal]}
    if own:
        resources = resources.unstored()  # an object without a specification has no content key
        plain, _ = queries.by_kind(attack)  # only attacks on the evidence can be repeated later
        kept = [text_of(a) for a in plain if not needed([a])]
        config = checked(own | settings | {"attack": kept, "seed": seed})
    else:
        chosen = {"data": text_of(data), "model": text_of(model), "game": text_of(game) if game else "rotate"}
        chosen |= {"knowledge": text_of(knowledge) if knowledge else ""}
        config = checked(chosen | settings | {"attack": [text_of(a) for a in attack], "seed": seed})
    signals = tuple(part_of("signal", part) for part in signal)
    setup = armed(replace(experiment, signal=signals), attack, knowledge)
    return run_setup(setup, resources, as_played(config, experiment, setup), show_values, named=bool(attack))


def from_config(
    config: Config,
    resources: Resources,
    show_values: bool = False,
    trust: bool | Collection[str] = False,
    setup: Setup | None = None,
) -> Audit:
    """Run the audit a configuration describes; one that names evidence is attacked without a model.

    A configuration may be somebody else's file. It may name modules, whose code would run, only in the settings that
    are trusted (True: in all). setup: what `loaded` returned for it, where it was loaded before.
    """
    config.vet(trust)
    if config.evidence:
        path = Path(config.base) / config.evidence
        if config.as_released:
            return as_released(path, config.as_released)
        return attack_file(path, config.attack, config.seed, resources)
    experiment = experiment_of(config)
    setup = setup or armed(experiment, config.attack, config.knowledge)
    return run_setup(setup, resources, as_played(config, experiment, setup), show_values, named=bool(config.attack))


def loaded(config: Config, trust: bool | Collection[str] = False) -> Setup:
    """The data and the game of an audit that a configuration describes: a large table is read once, here."""
    config.vet(trust)
    return armed(experiment_of(config), config.attack, config.knowledge)


def foresee(config: Config, workers: int = 1, trust: bool | Collection[str] = False) -> Forecast:
    """What an audit will take and what it could see, from a probe of one model."""
    if config.evidence:
        raise JaliError("There is nothing to forecast for evidence that was gathered already: attack it.")
    return forecast(loaded(config, trust), workers)


def experiment_of(config: Config) -> Experiment:
    """The parts that a configuration names."""
    return Experiment(
        registry.build("data", config.source()),
        registry.build("model", config.model),
        registry.build("game", config.game),
        explain=tuple(part_of("explain", text) for text in config.explain),
        signal=tuple(part_of("signal", text) for text in config.signal),
        seed=config.seed,
    )
