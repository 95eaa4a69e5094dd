"""The interface: audit a model of your own, a named experiment, or evidence without any model."""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali import __version__
from jali.audit import evidence, queries
from jali.audit.all_models import controls
from jali.audit.examples.answers import examples
from jali.audit.examples.pictures import pictures
from jali.audit.experiment import Outcome, run, stamped
from jali.audit.forecast import Forecast, forecast
from jali.audit.one_model import digest
from jali.audit.plan import usual
from jali.audit.reference import needed, provided
from jali.audit.setup import Experiment, Resources, Setup, load
from jali.audit.signal_attacks import attack_evidence
from jali.audit.summary import sizes
from jali.audit.threat_models import not_tested, threats
from jali.config import Config, checked
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import unannounced
from jali.core.values import Dataset, Evidence, Game
from jali.reproduce import released
from jali.results import Exposed, Results
from jali.results.reproduction import Reproduction
from jali.store import Store, write_text
from jali.text.sentences import value

if TYPE_CHECKING:
    from jali.data.tables.in_memory import OwnTables
    from jali.models.given import Given

UNREPEATABLE = "Attacks that read the records cannot be repeated from evidence.npz: call jali.audit again."
NO_MODEL = {"evidence": "evidence.npz", "data": "", "model": "", "game": ""}


@dataclass(frozen=True)
class Audit:
    """The results of an audit; `repr` is a summary, and `save` writes report, results, evidence and configuration."""

    results: Results
    evidence: Evidence
    game: Game
    config: Config

    def save(self, out: str | Path) -> Path:
        """Write report.html, results.json, evidence.npz and audit.toml into a folder; return the report's path."""
        from jali.report.audit import html

        folder = Path(out)
        page = html.render(self.results)
        evidence.write(folder / "evidence.npz", self.evidence, self.game)
        write_text(folder / "audit.toml", self.config.toml(folder))
        write_text(folder / "results.json", self.results.model_dump_json(indent=1))
        write_text(folder / "report.html", page)
        return folder / "report.html"

    def __repr__(self) -> str:
        from jali.report.audit import text

        return f"{text.summary(self.results)}\n\n{text.plain(self.results)}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


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
    knowledge: Any = "",
    resources: Resources | None = None,
    show_values: bool = False,
) -> Audit:
    """Audit what a model's explanations reveal about its training data.

    With `train` and `population`, `model` is your own fitted scikit-learn estimator or pipeline: the training rows
    are the members, the population are the non-members, and shadows are clones of the model, each trained on a random
    part of all of them. `game="given_model_offline(members=…)"` is the weaker adversary who does not know them. A model
    that cannot be cloned is attacked without shadows (`quantile`): half of the population is then not judged.
    `quasi` names the quasi-identifiers, `groups` a column that identifies the person of each row (the model does not
    read it), `sensitive` a column whose groups are compared; `schema` is a schema file or a mapping of that form,
    which a privacy claim needs. Without `train` and `population`, `data`, `model`, `explain` and `game` name parts: a
    specification or the part itself. `knowledge` is what the adversary of query attacks knows beforehand.
    """
    resources = resources or Resources()
    if (train is None) != (population is None):
        raise JaliError("Give both train=(X, y) and population=(X, y), or neither of them.")
    lists = {"explain": explain, "attack": attack, "signal": signal}
    settings = {name: [_text(part) for part in _several(name, given)] for name, given in lists.items()}
    if train is not None and population is not None:
        source = _tables(train, population, favourable, _several("quasi", quasi), groups, sensitive, schema)
        experiment, own = _own(model, source, game, seed)
        resources = resources.unstored()  # an object without a specification has no content key
        plain, _ = queries.by_kind(settings["attack"])  # only attacks on the evidence can be repeated later
        kept = [_text(a) for a in plain if not needed([a])]
        config = checked(own | settings | {"attack": kept, "seed": seed})
    else:
        if hasattr(model, "predict"):
            raise JaliError("A fitted model of your own needs train=(X, y) and population=(X, y).")
        marked = {"favourable": favourable, "quasi": quasi, "groups": groups, "sensitive": sensitive, "schema": schema}
        if given := [name for name, value in marked.items() if value not in (None, "", (), [])]:
            raise JaliError(f"{given[0]} goes with tables of your own; a named data set has its own.")
        chosen = {"data": _text(data), "model": _text(model), "game": _text(game) if game else "rotate"}
        config = checked(chosen | settings | {"seed": seed, "knowledge": _text(knowledge) if knowledge else ""})
        experiment = Experiment(_part("data", data), _part("model", model), _part("game", game or "rotate"))
    extra: dict[str, Any] = {name: tuple(_part(name, part) for part in lists[name]) for name in ("explain", "signal")}
    setup = _armed(replace(experiment, seed=seed, **extra), attack, knowledge)
    return _run(setup, resources, _as_played(config, experiment, setup), show_values, named=bool(attack))


def from_config(
    config: Config, resources: Resources, show_values: bool = False, trust: bool | Collection[str] = False
) -> Audit:
    """Run the audit a configuration describes; one that names evidence is attacked without a model.

    A configuration may be somebody else's file. It may name modules, whose code would run, only in the settings that
    are trusted (True: in all).
    """
    config.vet(trust)
    if config.evidence:
        path = Path(config.base) / config.evidence
        if config.as_released:
            return as_released(path, config.as_released)
        return attack_file(path, config.attack, config.seed, resources)
    experiment = _experiment(config)
    setup = _armed(experiment, config.attack, config.knowledge)
    return _run(setup, resources, _as_played(config, experiment, setup), show_values, named=bool(config.attack))


def foresee(config: Config, workers: int = 1, trust: bool | Collection[str] = False) -> Forecast:
    """What an audit will take and what it could see, from a probe of one model."""
    if config.evidence:
        raise JaliError("There is nothing to forecast for evidence that was gathered already: attack it.")
    config.vet(trust)
    return forecast(_armed(_experiment(config), config.attack, config.knowledge), workers)


def _experiment(config: Config) -> Experiment:
    """The parts that a configuration names."""
    return Experiment(
        registry.build("data", config.source()),
        registry.build("model", config.model),
        registry.build("game", config.game),
        explain=tuple(_part("explain", text) for text in config.explain),
        signal=tuple(_part("signal", text) for text in config.signal),
        seed=config.seed,
    )


def attack_file(
    path: Path,
    attack: Sequence[str] = (),
    seed: int = 0,
    resources: Resources = Resources(),  # noqa: B008 (frozen)
    raw: bool = False,
    low: Sequence[str] = (),
) -> Audit:
    """Attack evidence without any model."""
    began = time.perf_counter()
    found, game, warnings = evidence.read(path, raw, low)
    checked({"seed": seed})
    # On raw scales a common variance is what published recipes use; elsewhere `pooled` is stronger.
    default = usual(game, ('lira(spread="common")',)) if raw else ()
    attacks = [registry.build("attack", a) for a in attack] or default
    attacked = attack_evidence(found, game, attacks, seed, resources.for_cells(found.value.size))
    key = registry.key("evidence", digest(found.value, found.observed, game.member), seed)
    results = Results(
        rows=stamped(attacked.rows, key),
        curves=attacked.curves,
        exposed=attacked.exposed,
        sanity=attacked.checks,
        warnings=warnings,
        facts=sizes(game),
        timings={"attacks and statistics": time.perf_counter() - began},
    )
    return finished(Outcome(results, found, game), checked(NO_MODEL | {"attack": list(attack), "seed": seed}))


def as_released(path: Path, paper: str) -> Audit:
    """Attack evidence with the conventions released by a paper's authors, target by target."""
    outcome = released.attack(path, paper)
    return finished(outcome, checked(NO_MODEL | {"as_released": paper}))


def save_reproduction(found: Reproduction, out: Path) -> Path:
    """Write the page, its Markdown with figures, and all numbers into a folder; return the page's path."""
    from jali.report.reproduction import page as reproduction
    from jali.reproduce import files as reproductions

    page = reproduction.page(found)
    files = reproduction.markdown(found)
    reproductions.save(found, out)
    for name, text in files.items():
        write_text(out / name, text)
    write_text(out / f"{found.paper}.html", page)
    return out / f"{found.paper}.html"


def _armed(experiment: Experiment, attack: Sequence[Any], knowledge: Any) -> Setup:
    """The setup with its attacks on signals and its query attacks; without a list, the default ones that apply.

    A mistake in the names is reported before the data are loaded. Where an attack compares records with known
    non-members, the game sets some people aside.
    """
    attacks, on_oracles = queries.by_kind(attack)
    runs = queries.usual(experiment.explain, knowledge)
    if attack:
        runs = queries.runs(on_oracles, experiment.explain, knowledge)
    setup = load(replace(experiment, game=provided(experiment.game, attacks), attack=attacks, runs=runs))
    if not attack and not knowledge and not queries.identifiable(setup.data):
        return setup.with_parts(runs=())
    queries.check(runs, setup.data)
    return setup


def _as_played(config: Config, named: Experiment, setup: Setup) -> Config:
    """The configuration with the game that is played, where people were set aside for an attack."""
    game = setup.parts.game
    return config if game == named.game else config.model_copy(update={"game": registry.spec(game)})


def _run(setup: Setup, resources: Resources, config: Config, show_values: bool, named: bool) -> Audit:
    """Run attacks on signals and query attacks; only the latter if no others were named or the game has no shadows."""
    resources.begin()
    parts = setup.parts
    attackable = setup.game.shadows.any() or setup.game.reference(0).any()
    if parts.runs and not parts.attack and (named or not attackable):
        return _queried_alone(setup, resources, config, show_values)
    plain = setup.with_parts(runs=())
    outcome = run(plain, resources)
    if show_values:
        _reveal(plain, resources, outcome)
    outcome.results.warnings += queries.untried(parts.explain, parts.runs, setup.data)
    if config.evidence and needed(parts.attack):
        outcome.results.warnings.append(UNREPEATABLE)
    if parts.runs:
        _add(outcome.results, _queried(setup.with_parts(explain=(), signal=()), resources))
    return finished(outcome, config, setup)


def _queried_alone(setup: Setup, resources: Resources, config: Config, show_values: bool) -> Audit:
    """An audit by query attacks alone; its configuration names the game that was played."""
    mine = queries.own_game(_shown(setup))
    outcome = _queried_in(mine, resources)
    rows = outcome.results.find(kind="query attack")
    if all(row.value is None for row in rows):
        raise JaliError(rows[0].reason)
    if show_values:
        _reveal(mine, resources, outcome)
    if config.evidence:
        outcome.results.warnings.append("Query attacks cannot be repeated from evidence.npz: call jali.audit again.")
        return finished(outcome, config, setup)
    game = mine.parts.game
    played = config.game if isinstance(game, queries.Targets) else registry.spec(game)
    return finished(outcome, config.model_copy(update={"game": played}), setup)


def _shown(setup: Setup) -> Setup:
    """The setup without surrogates, which only attack runs query."""
    return setup.with_parts(explain=tuple(e for e in setup.parts.explain if e.gives != "surrogate"))


def _queried(setup: Setup, resources: Resources) -> Outcome:
    """The query attacks of a setup, in a game that fits them."""
    return _queried_in(queries.own_game(_shown(setup)), resources)


def _queried_in(setup: Setup, resources: Resources) -> Outcome:
    outcome = run(setup, resources, signals=False)
    game = setup.parts.game
    outcome.results.facts["game"] = registry.spec(game.game if isinstance(game, queries.Targets) else game)
    return outcome


def _add(results: Results, more: Outcome) -> None:
    """Add the results of query attacks; their game has its own sizes and checks."""
    results.rows += more.results.find(kind="query attack")
    results.sanity += [c.model_copy(update={"name": f"{c.name}, query attacks"}) for c in more.results.sanity]
    results.timings["query attacks"] = sum(more.results.timings.values())
    kept = ("game", "members per target", "targets", "records scored per target")
    results.facts["query attacks"] = {name: more.results.facts[name] for name in kept if name in more.results.facts}


def finished(outcome: Outcome, config: Config, setup: Setup | None = None) -> Audit:
    """Add the facts about the run itself: threats, what was not tested, configuration and versions."""
    results, data = outcome.results, outcome.data
    results.jali = __version__
    results.title = config.title()
    results.config = config.model_dump(exclude_defaults=False)
    runs = () if setup is None else setup.parts.runs
    named = () if setup is None else setup.parts.signal
    results.threats = threats(results, outcome.game, runs, list(dict.fromkeys([*named, *controls(named)])))
    results.not_tested = not_tested(results)
    if not config.explain and data is not None:
        results.warnings.append("No explainer was named: this audit covers the predictions only.")
    names = ("numpy", "scipy", "scikit-learn")
    results.facts["versions"] = {"python": platform.python_version(), **{n: version(n) for n in names}}
    results.image = None if data is None else data.schema.image
    return Audit(results, outcome.evidence, outcome.game, config)


def _reveal(setup: Setup, resources: Resources, outcome: Outcome) -> None:
    """Put people's values into the results, for a reader who asked for them."""
    with unannounced():
        outcome.results.exposed = pictures(setup, resources, outcome) or values(outcome)
        outcome.results.examples = examples(setup, resources, outcome)


def values(outcome: Outcome) -> list[Exposed]:
    """The exposed records with their raw rows, for a reader who asked for them."""
    data = outcome.data
    if data is None:
        return outcome.results.exposed
    return [e.model_copy(update={"values": row_values(data, e.record)}) for e in outcome.results.exposed]


def row_values(data: Dataset, record: int) -> dict[str, str]:
    """One raw row as text, for a reader who asked for it."""
    return {c.name: value(c, float(x)) for c, x in zip(data.schema.columns, data.X[record], strict=True)}


def _tables(
    train: Any, population: Any, favourable: Any, quasi: Sequence[str], groups: str, sensitive: str, schema: Any
) -> OwnTables:
    from jali.data.tables.in_memory import OwnTables, pair

    both = pair(train, "train"), pair(population, "population")
    return OwnTables(*both, favourable, tuple(quasi), groups, sensitive, schema)


def _own(model: Any, source: OwnTables, game: Any, seed: int) -> tuple[Experiment, dict[str, Any]]:
    """The experiment on a user's fitted model; it has no specification, so the configuration names its evidence."""
    from jali.games.given_model import GivenModel
    from jali.games.given_model_offline import GivenModelOffline
    from jali.models.given import Given

    members = len(source.train[1])
    given = Given(model, source.inputs(), source.like())
    default = GivenModel(members) if _refittable(given) else replace(GivenModel(members).with_reference(), shadows=0)
    chosen = _part("game", game) if game else default
    if not isinstance(chosen, GivenModel | GivenModelOffline) or chosen.members != members:
        raise JaliError(
            f"A model that exists is audited with its real training rows: use game='given_model(members={members})', "
            f"or given_model_offline for an adversary who does not know the candidates, not {_text(chosen)}."
        )
    experiment = Experiment(source, given, chosen, seed=seed)
    return experiment, NO_MODEL | {"model": type(model).__name__, "game": _text(chosen)}


def _refittable(model: Given) -> bool:
    """Whether shadow models can be made of a user's model."""
    try:
        model.unfitted()
    except JaliError:
        return False
    return True


def _several(name: str, given: Any) -> Sequence[Any]:
    """A list of parts; a single text is a common mistake."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise JaliError(f"{name} must be a list, such as {name}=[{given!r}].")
    return given


def _part(kind: Any, given: Any) -> Any:
    return registry.build(kind, given) if isinstance(given, str) else given


def _text(given: Any) -> str:
    return given if isinstance(given, str) else registry.spec(given)


def store_in(out: Path) -> Store:
    """The store of a run, beside its results."""
    return Store(out / "store")
